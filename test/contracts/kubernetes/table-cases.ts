/** The Table form, which the watcher rests on. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { AS_TABLE, assertDone, type Lab } from './lab.ts';
import type { Body, WatchEvent } from './wire.ts';

const READY = { conditions: [{ type: 'Ready', status: 'True' }], observedGeneration: 1 };
const names = (table: Body): string[] => table.columnDefinitions.map(({ name }: { name: string }) => name);

async function three(lab: Lab): Promise<{ readonly selector: string; readonly label: string }> {
  const label = lab.name('table');
  for (const letter of ['a', 'b', 'c']) {
    const widget = await lab.create('widgets', { spec: { size: 1 } }, { name: `${label}-${letter}`, labels: { table: label } });
    await lab.cached('widgets', widget);
  }
  return { selector: `labelSelector=table%3D${label}`, label };
}

export const tableCases: readonly ContractCase[] = [
  {
    name: 'columns are the name and those of the definition, with priority 1 included; an empty cell is null',
    async run(lab) {
      const { selector, label } = await three(lab);
      await lab.applyStatus('widgets', `${label}-a`, READY);
      const table = assertDone(await lab.send('GET', `${lab.path('widgets')}?${selector}&includeObject=Metadata`, { accept: AS_TABLE }));
      assert.deepEqual([table.kind, table.apiVersion, names(table)], ['Table', 'meta.k8s.io/v1', ['Name', 'Ready', 'Observed']]);
      const [name, ready, observed] = table.columnDefinitions;
      assert.deepEqual([name.type, name.format, name.priority], ['string', 'name', 0]);
      assert.deepEqual([ready.type, ready.format, ready.priority], ['string', '', 0]);
      assert.equal(
        ready.description,
        'Custom resource definition column (in JSONPath format): .status.conditions[?(@.type=="Ready")].status',
      );
      assert.deepEqual([observed.type, observed.priority], ['integer', 1]);
      assert.deepEqual(
        table.rows.map(({ cells }: Body) => cells),
        [
          [`${label}-a`, 'True', 1],
          [`${label}-b`, null, null],
          [`${label}-c`, null, null],
        ],
      );
    },
  },
  {
    name: 'a row carries the metadata of its object',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const path = `${lab.path('widgets')}?fieldSelector=metadata.name%3D${metadata.name}`;
      const { rows } = assertDone(await lab.send('GET', path, { accept: AS_TABLE }));
      assert.deepEqual(rows[0].object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
    },
  },
  {
    name: 'every page has the columns, and the token of the next',
    async run(lab) {
      const { selector } = await three(lab);
      const path = `${lab.path('widgets')}?${selector}&limit=2`;
      const first = assertDone(await lab.send('GET', path, { accept: AS_TABLE }));
      const second = assertDone(await lab.send('GET', `${path}&continue=${first.metadata.continue}`, { accept: AS_TABLE }));
      assert.deepEqual([first.rows.length, second.rows.length, second.metadata.continue], [2, 1, undefined]);
      assert.deepEqual(names(second), names(first));
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    },
  },
  {
    name: 'a watch sends one row an event, the columns with the first event only, and the last cells with DELETED',
    async run(lab) {
      const { metadata } = await lab.create('widgets', { spec: { size: 1 } });
      const { name } = metadata;
      await lab.applyStatus('widgets', name, READY);
      await lab.merge('widgets', name, { spec: { size: 2 } });
      await lab.send('DELETE', lab.path('widgets', name));
      const events = await lab.events('widgets', metadata.resourceVersion, 3, `&fieldSelector=metadata.name%3D${name}`, AS_TABLE);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.columnDefinitions === null, object.rows.length, ...object.rows[0].cells]),
        [
          ['MODIFIED', false, 1, name, 'True', 1],
          ['MODIFIED', true, 1, name, 'True', 1],
          ['DELETED', true, 1, name, 'True', 1],
        ],
      );
      for (const { object } of events) assert.equal(object.metadata.resourceVersion, object.rows[0].object.metadata.resourceVersion);
    },
  },
  {
    name: 'a bookmark is a row with empty cells, whose object has the version only',
    async run(lab) {
      const { selector } = await three(lab);
      const path = `${lab.path('widgets')}?watch=true&${selector}&allowWatchBookmarks=true`;
      const { events } = await lab.wire.watch(path, (seen) => seen.some(({ type }) => type === 'BOOKMARK'), {
        accept: AS_TABLE,
      });
      const bookmark = events.find(({ type }) => type === 'BOOKMARK')?.object;
      const { resourceVersion } = bookmark.metadata;
      assert.deepEqual(bookmark.rows, [
        {
          cells: ['', null, null],
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
          },
        },
      ]);
    },
  },
  {
    name: 'a bookmark has the columns where it comes first, and no event after it',
    async run(lab) {
      const label = lab.name('later');
      const query = `?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
      const isAdded = (seen: readonly WatchEvent[]) => seen.some(({ type }) => type === 'ADDED');
      let made: Promise<Body> | undefined;
      const { events } = await lab.wire.watch(`${lab.path('widgets')}${query}&labelSelector=later%3D${label}`, isAdded, {
        accept: AS_TABLE,
        onEvents: () => (made ??= lab.create('widgets', {}, { labels: { later: label } })),
      });
      const [first, ...rest] = events.map(({ type, object }) => [type, object.columnDefinitions === null]);
      assert.deepEqual(
        [first, rest.at(-1)],
        [
          ['BOOKMARK', false],
          ['ADDED', true],
        ],
      );
      assert.ok(rest.every(([, hasNone]) => hasNone));
    },
  },
  {
    name: 'an expired watch is told by a plain Status',
    async run(lab) {
      const { events } = await lab.whole('widgets', '&resourceVersion=1', AS_TABLE);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.kind, object.code]),
        [['ERROR', 'Status', 410]],
      );
    },
  },
  ...(
    [
      ['configmaps', ['Name', 'Data', 'Age']],
      ['secrets', ['Name', 'Type', 'Data', 'Age']],
      ['namespaces', ['Name', 'Status', 'Age']],
      ['leases', ['Name', 'Holder', 'Age']],
      ['rolebindings', ['Name', 'Role', 'Age', 'Users', 'Groups', 'ServiceAccounts']],
      ['resourcequotas', ['Name', 'Request', 'Limit', 'Age']],
      ['serviceaccounts', ['Name', 'Age']],
      ['events', ['Last Seen', 'Type', 'Reason', 'Object', 'Subobject', 'Source', 'Message', 'First Seen', 'Count', 'Name']],
      ['customresourcedefinitions', ['Name', 'Created At']],
    ] as const
  ).map(
    ([plural, columns]): ContractCase => ({
      name: `${plural} have columns of their own`,
      async run(lab) {
        const table = assertDone(await lab.send('GET', lab.path(plural), { accept: AS_TABLE }));
        assert.deepEqual(names(table), columns);
      },
    }),
  ),
  {
    name: 'cells of built-in kinds are computed',
    async run(lab) {
      const { metadata } = await lab.create('configmaps', { data: { a: '1', b: '2' } });
      const path = `${lab.path('configmaps')}?fieldSelector=metadata.name%3D${metadata.name}`;
      const { rows } = assertDone(await lab.send('GET', path, { accept: AS_TABLE }));
      assert.deepEqual(rows[0].cells.slice(0, 2), [metadata.name, 2]);
      assert.match(rows[0].cells[2], /^\d+s$/);
    },
  },
];
