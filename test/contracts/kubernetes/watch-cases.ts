/** Watches: what they begin with, what they say, and how they end. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { definitions } from './definitions.ts';
import { AS_TABLE, assertDone, eventually, type Lab } from './lab.ts';
import type { WatchEvent } from './wire.ts';

const MARKER = { 'k8s.io/initial-events-end': 'true' };
const types = (events: readonly WatchEvent[]): string[] => events.map(({ type }) => type);
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Objects that nothing else touches, and the selector for them; a watch begins with them, in the order of their names. */
async function chosen(lab: Lab, count: number): Promise<{ readonly selector: string; readonly names: readonly string[] }> {
  const label = lab.name('chosen');
  const names: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const widget = await lab.create('widgets', {}, { name: `${label}-${i}`, labels: { chosen: label } });
    await lab.cached('widgets', widget);
    names.push(widget.metadata.name);
  }
  return { selector: `&labelSelector=chosen%3D${label}`, names };
}

const beginnings: readonly ContractCase[] = [
  {
    name: 'from a position that is too old: one ERROR event with a Status of 410, then the end',
    async run(lab) {
      const { status, events, ended } = await lab.whole('widgets', '&resourceVersion=1');
      assert.deepEqual([status, types(events), ended], [200, ['ERROR'], 'server']);
      const { kind, code, reason, message } = events[0]?.object ?? {};
      assert.deepEqual([kind, code, reason], ['Status', 410, 'Expired']);
      assert.match(message, /^too old resource version: 1 \(\d+\)$/);
    },
  },
  {
    name: 'from a position in the future: headers, then nothing',
    async run(lab) {
      const version = BigInt(await lab.position('widgets')) + 100_000n;
      const watching = lab.whole('widgets', `&resourceVersion=${version}&timeoutSeconds=1`);
      await lab.create('widgets');
      assert.deepEqual(await watching, { status: 200, events: [], ended: 'server', refusal: undefined });
    },
  },
  {
    name: 'without a position: all that is there first; with bookmarks, a marker after it',
    async run(lab) {
      const { selector, names } = await chosen(lab, 2);
      for (const version of ['', '&resourceVersion=0']) {
        const plain = await lab.whole('widgets', `${version}${selector}&timeoutSeconds=1`);
        assert.deepEqual(types(plain.events), ['ADDED', 'ADDED']);
        const marked = await lab.whole('widgets', `${version}${selector}&timeoutSeconds=1&allowWatchBookmarks=true`);
        // Bookmarks of the usual kind may follow the marker.
        assert.deepEqual(types(marked.events).slice(0, 3), ['ADDED', 'ADDED', 'BOOKMARK']);
        assert.ok(marked.events.slice(3).every(({ type }) => type === 'BOOKMARK'));
        assert.deepEqual(
          marked.events.slice(0, 2).map(({ object }) => object.metadata.name),
          names,
        );
        assert.deepEqual(marked.events[2]?.object.metadata.annotations, MARKER);
      }
    },
  },
  {
    name: 'with initial events: all that is there, the marker at a version that covers it, then what happens',
    async run(lab) {
      const { selector, names } = await chosen(lab, 1);
      const query = `?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true${selector}`;
      const { events } = await lab.wire.watch(lab.path('widgets') + query, (seen) => seen.length >= 3, {
        onOpen: () => lab.merge('widgets', String(names[0]), { spec: { size: 3 } }),
      });
      const sorted = types(events).filter((type) => type !== 'BOOKMARK');
      assert.equal(sorted[0], 'ADDED');
      const marker = events.find(({ type }) => type === 'BOOKMARK')?.object;
      assert.deepEqual([marker.kind, marker.metadata.annotations], ['Widget', MARKER]);
      assert.ok(BigInt(marker.metadata.resourceVersion) >= BigInt(events[0]?.object.metadata.resourceVersion));
    },
  },
  {
    name: 'with initial events but without bookmarks there is no marker',
    async run(lab) {
      const { selector } = await chosen(lab, 1);
      const query = `&sendInitialEvents=true&resourceVersionMatch=NotOlderThan${selector}&timeoutSeconds=3`;
      assert.deepEqual(types((await lab.whole('widgets', query)).events), ['ADDED']);
    },
  },
  {
    name: 'is refused as a list would be, not in its stream: a wrong token with 401, none with 403',
    async run(lab) {
      for (const [token, code] of [
        ['wrong', 401],
        ['', 403],
      ] as const) {
        const other = lab.as(token);
        const { status, refusal, events } = await other.watch(`${lab.path('widgets')}?watch=true`);
        assert.deepEqual([status, refusal.code, events], [code, code, []]);
        other.close();
      }
    },
  },
  {
    name: 'initial events refused by name: from now on only',
    async run(lab) {
      const { selector, names } = await chosen(lab, 1);
      const query = `?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan${selector}`;
      const { events } = await lab.wire.watch(lab.path('widgets') + query, (seen) => seen.length > 0, {
        onOpen: () => lab.merge('widgets', String(names[0]), { spec: { size: 3 } }),
      });
      assert.deepEqual(types(events), ['MODIFIED']);
    },
  },
];

const contents: readonly ContractCase[] = [
  {
    name: 'every change since a position is replayed in order',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const versions: string[] = [];
      for (let size = 1; size <= 5; size += 1) {
        versions.push((await lab.merge('widgets', metadata.name, { spec: { size } })).body.metadata.resourceVersion);
      }
      const events = await lab.events('widgets', metadata.resourceVersion, 5, `&fieldSelector=metadata.name%3D${metadata.name}`);
      assert.deepEqual(
        events.map(({ object }) => object.metadata.resourceVersion),
        versions,
      );
    },
  },
  ...(
    [
      ['a label', (pick: string | null) => ({ metadata: { labels: { pick } } }), 'labelSelector=pick'],
      ['a field', (tier: string | null) => ({ spec: { tier } }), 'fieldSelector=spec.tier'],
    ] as const
  ).map(
    ([what, fields, selector]): ContractCase => ({
      name: `an object that leaves a selector by ${what} is DELETED as it was, at the new version; ADDED when it comes back`,
      async run(lab) {
        const mine = lab.name('mine');
        const { name } = (await lab.create('widgets')).metadata;
        const object = assertDone(await lab.merge('widgets', name, fields(mine)));
        const left = assertDone(await lab.merge('widgets', name, fields('others'))).metadata;
        await lab.merge('widgets', name, fields(mine));
        await lab.send('DELETE', lab.path('widgets', name));
        const events = await lab.events('widgets', object.metadata.resourceVersion, 3, `&${selector}%3D${mine}`);
        assert.deepEqual(types(events), ['DELETED', 'ADDED', 'DELETED']);
        assert.deepEqual(events[0]?.object, { ...object, metadata: { ...object.metadata, resourceVersion: left.resourceVersion } });
      },
    }),
  ),
  {
    name: 'DELETED carries the version of the deletion',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      await lab.send('DELETE', lab.path('widgets', metadata.name));
      const [deleted] = await lab.events('widgets', metadata.resourceVersion, 1, `&fieldSelector=metadata.name%3D${metadata.name}`);
      assert.ok(BigInt(deleted?.object.metadata.resourceVersion) > BigInt(metadata.resourceVersion));
      assert.equal(deleted?.object.metadata.uid, metadata.uid);
    },
  },
  {
    name: 'events carry kind and apiVersion, of built-in kinds as well',
    async run(lab) {
      const position = await lab.position('configmaps');
      const { metadata } = await lab.create('configmaps');
      const [event] = await lab.events('configmaps', position, 1, `&fieldSelector=metadata.name%3D${metadata.name}`);
      assert.deepEqual([event?.object.kind, event?.object.apiVersion], ['ConfigMap', 'v1']);
    },
  },
  {
    name: 'a watch of one namespace, of all, and of one name',
    async run(lab) {
      const position = await lab.position('widgets');
      const { metadata } = await lab.create('widgets');
      const query = `?watch=true&resourceVersion=${position}`;
      const selected = `&fieldSelector=metadata.name%3D${metadata.name}`;
      for (const path of [lab.path('widgets'), lab.path('widgets', '', '', '')]) {
        const { events } = await lab.wire.watch(path + query + selected, (seen) => seen.length === 1);
        assert.equal(events[0]?.object.metadata.uid, metadata.uid);
      }
      const elsewhere = await lab.wire.watch(
        `${lab.path('widgets', '', '', 'default')}?watch=true&resourceVersion=${position}&timeoutSeconds=1`,
      );
      assert.deepEqual(elsewhere.events, []);
    },
  },
  {
    name: 'a quiet watch is told by bookmarks how far the server is, shortly before it ends',
    async run(lab) {
      const resourceVersion = await lab.position('atomics');
      await lab.create('widgets');
      const watching = lab.whole('atomics', `&resourceVersion=${resourceVersion}&timeoutSeconds=4&allowWatchBookmarks=true`);
      await lab.create('widgets');
      const newer = await lab.position('atomics');
      const { events, ended } = await watching;
      assert.equal(ended, 'server');
      assert.ok(events.length > 0);
      for (const { type, object } of events) {
        assert.deepEqual([type, object.kind, Object.keys(object.metadata)], ['BOOKMARK', 'Atomic', ['resourceVersion']]);
      }
      assert.ok(BigInt(events.at(-1)?.object.metadata.resourceVersion) >= BigInt(newer));
    },
  },
];

const ends: readonly ContractCase[] = [
  {
    name: 'no bookmark comes that was not asked for',
    async run(lab) {
      const watching = lab.whole('atomics', `&resourceVersion=${await lab.position('atomics')}&timeoutSeconds=4`);
      await lab.create('widgets');
      await lab.position('atomics');
      assert.deepEqual((await watching).events, []);
    },
  },
  {
    name: 'timeoutSeconds ends it cleanly',
    async run(lab) {
      const begin = Date.now();
      const { events, ended } = await lab.whole('atomics', `&resourceVersion=${await lab.position('atomics')}&timeoutSeconds=1`);
      assert.deepEqual([events, ended], [[], 'server']);
      assert.ok(Date.now() - begin >= 900);
    },
  },
  {
    name: 'a changed definition ends the watches of its kind, and their positions are void; lists show the new columns',
    async run(lab) {
      await lab.create('quiets');
      const resourceVersion = await lab.position('quiets');
      const watching = lab.wire.watch(`${lab.path('quiets')}?watch=true&resourceVersion=${resourceVersion}`);
      const definition = structuredClone(definitions().find(({ spec }) => spec.names.plural === 'quiets')) as unknown as {
        spec: { versions: { additionalPrinterColumns: object[] }[] };
      };
      const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
      const versions = definition.spec.versions.map((version) => ({ ...version, additionalPrinterColumns: columns }));
      assertDone(
        await lab.send('PATCH', `${DEFINITIONS}/quiets.wire.example`, {
          body: { spec: { versions } },
          type: 'application/merge-patch+json',
        }),
      );
      assert.equal((await watching).ended, 'server');
      await eventually('the new columns', async () => {
        const { body } = await lab.send('GET', lab.path('quiets'), { accept: AS_TABLE });
        return body?.columnDefinitions?.[1]?.name === 'Size';
      });
      await lab.served('quiets');
      const again = await lab.whole('quiets', `&resourceVersion=${resourceVersion}`);
      assert.deepEqual([types(again.events), again.events[0]?.object.code], [['ERROR'], 410]);
    },
  },
  {
    name: 'a deleted definition: DELETED for every object, a clean end, then the kind is not served',
    async run(lab) {
      const resourceVersion = await lab.position('briefs');
      const names = [(await lab.create('briefs')).metadata.name, (await lab.create('briefs')).metadata.name];
      const watching = lab.wire.watch(`${lab.path('briefs')}?watch=true&resourceVersion=${resourceVersion}`);
      assertDone(await lab.send('DELETE', `${DEFINITIONS}/briefs.wire.example`));
      const { events, ended } = await watching;
      assert.equal(ended, 'server');
      const deleted = events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name);
      assert.deepEqual(deleted.sort(), names.sort());
      await eventually('the kind not served', async () => (await lab.send('GET', lab.path('briefs'))).status === 404);
      const { headers, text } = await lab.send('GET', lab.path('briefs'));
      assert.deepEqual([headers['content-type'], text], ['text/plain; charset=utf-8', '404 page not found\n']);
    },
  },
];

export const watchCases: readonly ContractCase[] = [...beginnings, ...contents, ...ends];
