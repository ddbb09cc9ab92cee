/** Metadata only, and which form fits which verb. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { AS_METADATA, AS_METADATA_LIST, AS_TABLE, assertDone, assertRefused } from './lab.ts';

const META = 'meta.k8s.io/v1';

export const formCases: readonly ContractCase[] = [
  {
    name: 'GET of metadata only: all of metadata, nothing else',
    async run(lab) {
      const object = await lab.create('widgets', { spec: { size: 1 } }, { labels: { a: 'b' }, finalizers: ['wire.example/hold'] });
      const { body, headers } = await lab.send('GET', lab.path('widgets', object.metadata.name), { accept: AS_METADATA });
      assert.deepEqual(body, { kind: 'PartialObjectMetadata', apiVersion: META, metadata: object.metadata });
      assert.equal(headers['content-type'], 'application/json');
      assert.ok(body.metadata.managedFields.length > 0);
    },
  },
  {
    name: 'GET in the form of a list is a server error',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      assert.equal((await lab.send('GET', lab.path('widgets', metadata.name), { accept: AS_METADATA_LIST })).status, 500);
    },
  },
  {
    name: 'LIST of metadata only: items have a kind of their own',
    async run(lab) {
      const label = lab.name('form');
      const { metadata } = await lab.create('widgets', {}, { labels: { form: label } });
      const path = `${lab.path('widgets')}?labelSelector=form%3D${label}`;
      const { body } = await lab.send('GET', path, { accept: AS_METADATA_LIST });
      assert.deepEqual([body.kind, body.apiVersion], ['PartialObjectMetadataList', META]);
      assert.deepEqual(body.items, [{ kind: 'PartialObjectMetadata', apiVersion: META, metadata }]);
    },
  },
  {
    name: 'LIST in the form of one object is not acceptable, fallback or not',
    async run(lab) {
      const answer = await lab.send('GET', lab.path('widgets'), { accept: AS_METADATA });
      assertRefused(answer, { status: 406, reason: 'NotAcceptable' });
    },
  },
  {
    name: 'WATCH of metadata only: thin events, thin bookmarks; a change of status is MODIFIED at the same generation',
    async run(lab) {
      const { metadata } = await lab.create('widgets', { spec: { size: 1 } });
      await lab.merge('widgets', metadata.name, { status: { phase: 'x' } }, 'status');
      const query = `&resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3D${metadata.name}`;
      const { events } = await lab.whole('widgets', `${query}&timeoutSeconds=4&allowWatchBookmarks=true`, AS_METADATA);
      assert.deepEqual(Object.keys(events[0]?.object).sort(), ['apiVersion', 'kind', 'metadata']);
      assert.deepEqual([events[0]?.type, events[0]?.object.metadata.generation], ['MODIFIED', 1]);
      for (const { type, object } of events.slice(1)) {
        const { resourceVersion } = object.metadata;
        assert.deepEqual([type, object], ['BOOKMARK', { kind: 'PartialObjectMetadata', apiVersion: META, metadata: { resourceVersion } }]);
      }
    },
  },
  {
    name: 'an expired WATCH of metadata only is told by a plain Status',
    async run(lab) {
      const { events, ended } = await lab.whole('widgets', '&resourceVersion=1', AS_METADATA);
      assert.deepEqual([events.length, events[0]?.type, events[0]?.object.kind, ended], [1, 'ERROR', 'Status', 'server']);
    },
  },
  {
    name: 'an apply may ask for metadata only as its answer',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const body = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' }, { accept: AS_METADATA }));
      assert.deepEqual(Object.keys(body).sort(), ['apiVersion', 'kind', 'metadata']);
      assert.equal(body.metadata.uid, metadata.uid);
    },
  },
  {
    name: 'a form that does not exist falls back to the object, and is not acceptable without a fallback',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const nonsense = 'application/json;as=Nonsense;g=meta.k8s.io;v=v1';
      const path = lab.path('widgets', metadata.name);
      assert.equal(assertDone(await lab.send('GET', path, { accept: `${nonsense},application/json` })).kind, 'Widget');
      const refused = await lab.send('GET', path, { accept: nonsense });
      assertRefused(refused, { status: 406, reason: 'NotAcceptable', message: /only the following media types are accepted/ });
    },
  },
  ...['application/vnd.kubernetes.protobuf', 'application/cbor', 'text/html'].map(
    (accept): ContractCase => ({
      name: `a custom object as ${accept} is not acceptable`,
      async run(lab) {
        const { metadata } = await lab.create('widgets');
        assert.equal((await lab.send('GET', lab.path('widgets', metadata.name), { accept })).status, 406);
      },
    }),
  ),
  {
    name: 'GET of one object as Table is a table of one row at the version of the object',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const body = assertDone(await lab.send('GET', lab.path('widgets', metadata.name), { accept: AS_TABLE }));
      assert.deepEqual([body.kind, body.metadata.resourceVersion, body.rows.length], ['Table', metadata.resourceVersion, 1]);
    },
  },
  {
    name: 'includeObject decides what a row carries',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const kinds = ['None', 'Metadata', 'Object'].map(async (include) => {
        const path = `${lab.path('widgets', metadata.name)}?includeObject=${include}`;
        const { rows } = assertDone(await lab.send('GET', path, { accept: AS_TABLE }));
        return rows[0].object?.kind;
      });
      assert.deepEqual(await Promise.all(kinds), [undefined, 'PartialObjectMetadata', 'Widget']);
    },
  },
  {
    name: 'items of a custom kind carry kind and apiVersion, those of a built-in kind do not',
    async run(lab) {
      await lab.create('widgets');
      await lab.create('configmaps');
      const [custom, builtIn] = [await lab.send('GET', lab.path('widgets')), await lab.send('GET', lab.path('configmaps'))];
      assert.deepEqual(
        [custom.body.kind, custom.body.items[0].kind, custom.body.items[0].apiVersion],
        ['WidgetList', 'Widget', 'wire.example/v1'],
      );
      assert.deepEqual(
        [builtIn.body.kind, builtIn.body.items[0].kind, builtIn.body.items[0].apiVersion],
        ['ConfigMapList', undefined, undefined],
      );
    },
  },
];
