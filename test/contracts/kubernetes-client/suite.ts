/** What every KubernetesClient does, whether an API server or a map stands behind it. Each case uses names of its own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ObjectAddress, ResourceType } from '../../../events/resource.ts';
import type { KubernetesClient, WatchFrame, WatchOptions } from '../../../functions/adapters/kubernetes/port.ts';
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';
import { type Bench, fresh, thing } from './bench.ts';
import { describeFinalizers } from './finalizer-cases.ts';
import { COLUMNS, plains, things } from './kinds.ts';

export type { Bench } from './bench.ts';

export function describeKubernetesClient(name: string, setUp: () => Promise<Bench>): void {
  describe(`${name} as a KubernetesClient`, () => {
    let bench: Bench;
    let client: KubernetesClient;
    before(async () => {
      bench = await setUp();
      client = bench.client;
    });
    after(() => bench.close());

    describeFinalizers(() => bench);

    async function read(at: ObjectAddress): Promise<KubernetesObject> {
      const object = await client.get(things, at);
      assert.ok(object !== undefined);
      return object;
    }

    /** Frames from `resourceVersion` on, until there are `count` besides bookmarks. */
    async function frames(resourceVersion: string, count: number, more: Partial<WatchOptions> = {}): Promise<WatchFrame[]> {
      const options = { form: 'table', resourceVersion, timeoutSeconds: 10, graceSeconds: 5, ...more } as const;
      const seen: WatchFrame[] = [];
      for await (const frame of await client.watch(things, options)) {
        if (frame.type !== 'BOOKMARK') seen.push(frame);
        if (seen.length === count) break;
      }
      return seen;
    }

    it('reads an object, and undefined where there is none', async () => {
      const at = fresh();
      assert.equal(await client.get(things, at), undefined);
      assert.equal(await client.getMetadata(things, at), undefined);
      await bench.create(things, at, { spec: { size: 1 } });
      const object = await read(at);
      assert.deepEqual([object.kind, object['spec'], object.metadata.generation], ['Thing', { size: 1 }, 1]);
      assert.equal((await client.getMetadata(things, at))?.uid, object.metadata.uid);
    });

    it('reads not older than a version that is reached, and refuses one that is no number', async () => {
      const at = fresh();
      await bench.create(things, at);
      const { resourceVersion } = (await read(at)).metadata;
      assert.ok(await client.get(things, at, { resourceVersion }));
      await assert.rejects(client.get(things, at, { resourceVersion: 'abc' }), { name: 'TerminalError', code: 'bad-request' });
    });

    it('creates by apply, changes nothing by the same apply, and takes out what is left out', async () => {
      const at = fresh();
      const first = await client.apply(things, thing(at, { spec: { size: 1, blob: 'b' } }, { labels: { a: '1' } }));
      const same = await client.apply(things, thing(at, { spec: { size: 1, blob: 'b' } }, { labels: { a: '1' } }));
      assert.equal(same.resourceVersion, first.resourceVersion);
      const less = await client.apply(things, thing(at, { spec: { size: 1 } }));
      assert.deepEqual([less.generation, less.labels, (await read(at))['spec']], [2, undefined, { size: 1 }]);
    });

    it('leaves the fields of others alone', async () => {
      const at = fresh();
      await client.apply(things, thing(at, { spec: { size: 1 } }));
      await bench.edit(things, at, { metadata: { labels: { theirs: 'x' } }, spec: { blob: 'theirs' } });
      await client.apply(things, thing(at, { spec: { size: 2 } }));
      const object = await read(at);
      assert.deepEqual([object['spec'], object.metadata.labels], [{ size: 2, blob: 'theirs' }, { theirs: 'x' }]);
    });

    it('names what it owns in managedFields, and no longer what somebody else took', async () => {
      const at = fresh();
      await client.apply(things, thing(at, { spec: { size: 1, blob: 'b' } }));
      const owned = async () =>
        (await read(at)).metadata.managedFields?.find(({ manager, operation }) => manager === 'dogwatch' && operation === 'Apply')
          ?.fieldsV1;
      assert.deepEqual(await owned(), { 'f:spec': { 'f:blob': {}, 'f:size': {} } });
      await bench.edit(things, at, { spec: { size: 9 } });
      assert.deepEqual(await owned(), { 'f:spec': { 'f:blob': {} } });
    });

    it('says in rows, where asked, what is ours: only a foreign write to a field of ours makes it less', async () => {
      const at = fresh();
      const labels = { contract: `own-${fresh().name}` };
      const labelSelector = `contract=${labels.contract}`;
      const own = async () => {
        const { rows } = await client.list(things, { form: 'metadata', labelSelector, ownFields: true });
        return rows[0]?.ownFields;
      };
      const apply = (size: number) => client.apply(things, thing(at, { spec: { size, blob: 'b' } }, { labels }));
      const { resourceVersion } = await apply(1);
      const whole = await own();
      assert.ok(whole !== undefined);
      await apply(2);
      await bench.edit(things, at, { status: { observedGeneration: 1 } }, 'status');
      await bench.edit(things, at, { metadata: { annotations: { theirs: 'x' } } });
      assert.deepEqual(await own(), whole);
      await bench.edit(things, at, { spec: { size: 9 } });
      const less = await own();
      assert.ok(less !== undefined && less.digest !== whole.digest && less.count < whole.count, JSON.stringify([whole, less]));
      await apply(2);
      assert.deepEqual(await own(), whole);
      const seen = await frames(resourceVersion, 5, { form: 'table', labelSelector, ownFields: true });
      assert.deepEqual(
        seen.map((frame) => frame.type === 'MODIFIED' && frame.row.ownFields),
        [whole, whole, whole, less, whole],
      );
      const { rows } = await client.list(things, { form: 'table', labelSelector });
      assert.deepEqual(
        rows.map((row) => 'ownFields' in row),
        [false],
      );
    });

    it('does not create by an apply with a uid, nor write to another object', async () => {
      const at = fresh();
      const uid = '00000000-0000-4000-8000-00000000dead';
      await assert.rejects(client.apply(things, thing(at, {}, { uid })), { name: 'ConflictError', code: 'uid-conflict' });
      assert.equal(await client.get(things, at), undefined);
      await bench.create(things, at);
      await assert.rejects(client.apply(things, thing(at, {}, { uid })), { name: 'ConflictError', code: 'uid-conflict' });
    });

    it('refuses an apply at an old version', async () => {
      const at = fresh();
      const { uid, resourceVersion } = await client.apply(things, thing(at, { spec: { size: 1 } }));
      await bench.edit(things, at, { spec: { size: 2 } });
      await assert.rejects(client.apply(things, thing(at, { spec: { size: 3 } }, { uid, resourceVersion })), {
        name: 'ConflictError',
        code: 'resource-version-conflict',
      });
    });

    it('applies a status at its version only, without a new generation, and nothing for the same status', async () => {
      const at = fresh();
      await bench.create(things, at, { spec: { size: 1 } });
      const { resourceVersion } = (await read(at)).metadata;
      const status = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
      const written = await client.applyStatus(things, thing(at, { status }, { resourceVersion }));
      assert.ok(written);
      assert.deepEqual([written.generation, (await read(at))['status']], [1, status]);
      const again = await client.applyStatus(things, thing(at, { status }, { resourceVersion: written.resourceVersion }));
      assert.equal(again?.resourceVersion, written.resourceVersion);
      await assert.rejects(client.applyStatus(things, thing(at, { status }, { resourceVersion })), {
        name: 'ConflictError',
        code: 'resource-version-conflict',
      });
    });

    it('keeps the conditions of others, and takes out its own that it leaves out', async () => {
      const at = fresh();
      await bench.create(things, at);
      const own = [
        { type: 'Ready', status: 'True' },
        { type: 'Stalled', status: 'True' },
      ];
      const { resourceVersion } = (await read(at)).metadata;
      await client.applyStatus(things, thing(at, { status: { conditions: own } }, { resourceVersion }));
      const theirs = { type: 'Theirs', status: 'True' };
      await bench.edit(things, at, { status: { conditions: [...own, theirs] } }, 'status');
      const ready = { type: 'Ready', status: 'False' };
      const now = { resourceVersion: (await read(at)).metadata.resourceVersion };
      await client.applyStatus(things, thing(at, { status: { conditions: [ready] } }, now));
      assert.deepEqual((await read(at))['status'], { conditions: [ready, theirs] });
    });

    it('has no status to apply where there is no object, or no subresource', async () => {
      const at = fresh();
      assert.equal(await client.applyStatus(things, thing(at, { status: {} }, { resourceVersion: '1' })), undefined);
      await bench.create(plains, at);
      const plain = { ...thing(at, { status: {} }), kind: 'Plain' };
      assert.equal(await client.applyStatus(plains, plain), undefined);
    });

    it('deletes the object with the uid, no other, and says where there is none', async () => {
      const at = fresh();
      await bench.create(things, at);
      const { uid } = (await read(at)).metadata;
      await assert.rejects(client.delete(things, at, '00000000-0000-4000-8000-00000000dead'), {
        name: 'ConflictError',
        code: 'uid-conflict',
      });
      assert.equal(await client.delete(things, at, uid), 'deleted');
      assert.equal(await client.delete(things, at, uid), 'absent');
    });

    it('lists by label in pages of rows', async () => {
      const labels = { contract: `pages-${fresh().name}` };
      const addresses = [fresh(), fresh(), fresh()];
      for (const at of addresses) await bench.create(things, at, { metadata: { labels } });
      await bench.create(things, fresh());
      const labelSelector = `contract=${labels.contract}`;
      const first = await client.list(things, { form: 'table', labelSelector, limit: 2 });
      assert.deepEqual(
        first.columns.map((column) => column.name),
        ['Name', ...COLUMNS.map((column) => column.name)],
      );
      assert.ok(first.continue);
      const second = await client.list(things, { form: 'table', labelSelector, limit: 2, continue: first.continue });
      assert.equal(second.continue, undefined);
      assert.equal(second.resourceVersion, first.resourceVersion);
      const rows = [...first.rows, ...second.rows];
      assert.deepEqual(
        rows.map(({ metadata, cells }) => [metadata.name, ...cells]),
        addresses.map((at) => [at.name, at.name, null, null]),
      );
      const bare = await client.list(things, { form: 'metadata', labelSelector, resourceVersion: first.resourceVersion });
      assert.deepEqual([bare.columns, bare.rows.map(({ cells }) => cells)], [[], [[], [], []]]);
      assert.ok(bare.rows.every(({ metadata }) => metadata.managedFields === undefined));
    });

    it('lists one object by its address: the newest version, or no row', async () => {
      const at = fresh();
      await bench.create(things, at, { metadata: { labels: { contract: 'one' } } });
      const { metadata } = await read(at);
      const one = async (labelSelector?: string) => await client.list(things, { form: 'metadata', at, labelSelector, limit: 1 });
      const page = await one('contract');
      assert.deepEqual([page.rows.map((row) => row.metadata.uid), page.continue], [[metadata.uid], undefined]);
      assert.ok(BigInt(page.resourceVersion) >= BigInt(metadata.resourceVersion));
      assert.deepEqual((await one('other')).rows, []);
      await client.delete(things, at, metadata.uid);
      assert.deepEqual((await one()).rows, []);
    });

    it('watches from a version on: cells, deletion, columns with the first frame only', async () => {
      const at = fresh();
      const { resourceVersion } = await client.list(things, { form: 'table', limit: 1 });
      await bench.create(things, at, { spec: { size: 1 } });
      const { metadata } = await read(at);
      const status = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
      await client.applyStatus(things, thing(at, { status }, { resourceVersion: metadata.resourceVersion }));
      await bench.edit(things, at, { spec: { size: 2 } });
      await client.delete(things, at, metadata.uid);
      const seen = await frames(resourceVersion, 4);
      assert.deepEqual(
        seen.map((frame) =>
          frame.type === 'ADDED' || frame.type === 'MODIFIED' || frame.type === 'DELETED'
            ? [frame.type, frame.row.metadata.generation, ...frame.row.cells]
            : frame,
        ),
        [
          ['ADDED', 1, at.name, null, null],
          ['MODIFIED', 1, at.name, 'True', 1],
          ['MODIFIED', 2, at.name, 'True', 1],
          ['DELETED', 2, at.name, 'True', 1],
        ],
      );
      assert.deepEqual(
        seen.map((frame) => frame.type !== 'ERROR' && frame.columns !== undefined),
        [true, false, false, false],
      );
    });

    it('selects by field', async () => {
      const [at, other] = [fresh(), fresh()];
      for (const one of [at, other]) await bench.create(things, one, { metadata: { labels: { contract: `field-${at.name}` } } });
      const fieldSelector = `metadata.name=${at.name}`;
      const { rows, resourceVersion } = await client.list(things, { form: 'metadata', fieldSelector });
      assert.deepEqual(
        rows.map(({ metadata }) => metadata.name),
        [at.name],
      );
      const others = `metadata.name!=${at.name}`;
      assert.ok(
        !(await client.list(things, { form: 'metadata', fieldSelector: others })).rows.some(({ metadata }) => metadata.name === at.name),
      );
      await bench.edit(things, other, { spec: { size: 5 } });
      await bench.edit(things, at, { spec: { size: 6 } });
      const [seen] = await frames(resourceVersion, 1, { form: 'metadata', fieldSelector });
      assert.ok(seen !== undefined && 'row' in seen && seen.row.metadata.name === at.name);
    });

    it('shows an object that leaves a selector as deleted, and one that comes back as added (B11)', async () => {
      const at = fresh();
      const label = { metadata: { labels: { contract: 'leaves' } } };
      await bench.create(things, at, label);
      const { resourceVersion } = (await read(at)).metadata;
      await bench.edit(things, at, { metadata: { labels: { contract: null } } });
      await bench.edit(things, at, label);
      const seen = await frames(resourceVersion, 2, { form: 'metadata', labelSelector: 'contract=leaves' });
      assert.deepEqual(
        seen.map((frame) => frame.type),
        ['DELETED', 'ADDED'],
      );
      const newest = seen.at(-1);
      assert.ok(newest?.type === 'ADDED');
      assert.equal(newest.row.metadata.resourceVersion, (await read(at)).metadata.resourceVersion);
    });

    it('ends a watch for the reader who leaves, and with the reason of its signal', async () => {
      const { resourceVersion } = await client.list(things, { form: 'table', limit: 1 });
      const controller = new AbortController();
      const options = { form: 'table', resourceVersion, timeoutSeconds: 10, graceSeconds: 5, signal: controller.signal } as const;
      const waiting = (await client.watch(things, options))[Symbol.asyncIterator]().next();
      const reason = new Error('stopping');
      controller.abort(reason);
      await assert.rejects(waiting, reason);
    });

    it('creates an Event', async () => {
      const event = {
        metadata: { ...fresh() },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'dogwatch.dev/contract',
        reportingInstance: 'contract',
        action: 'Reconcile',
        reason: 'Ready',
        type: 'Normal',
        note: 'made by the contract',
        regarding: { apiVersion: 'contract.example/v1', kind: 'Thing', namespace: 'default', name: 'contract' },
      };
      await client.createEvent(event, 'default');
      await client.createEvent(event, 'default');
    });

    it('says what the CRD of a kind says, and nothing of built-in kinds', async () => {
      const printerColumns = COLUMNS.map((column) => ({ name: column.name, jsonPath: column.jsonPath }));
      assert.deepEqual(await client.servedKind(things), { printerColumns, hasStatusSubresource: true });
      const configMaps: ResourceType = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' };
      assert.equal(await client.servedKind(configMaps), undefined);
    });
  });
}
