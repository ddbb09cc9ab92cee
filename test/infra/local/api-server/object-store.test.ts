import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { KubeObject } from '../../../../infra/local/api-server/api-object.ts';
import { ObjectStore } from '../../../../infra/local/api-server/object-store.ts';

const object = (name: string, size = 0): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', uid: name, resourceVersion: '', creationTimestamp: '' },
  size,
});
const id = (name: string) => ({ resource: 'configmaps', key: `n/${name}` });

describe('the object store', () => {
  it('gives each write the next revision, of whatever kind', () => {
    const store = new ObjectStore();
    const before = store.revision;
    assert.equal(store.put(id('a'), object('a')).metadata.resourceVersion, String(before + 1));
    assert.equal(store.put({ resource: 'secrets', key: 'n/a' }, object('a')).metadata.resourceVersion, String(before + 2));
    store.remove(id('a'));
    store.remove(id('a'));
    assert.equal(store.revision, before + 3);
  });

  it('shows every state that it ever was in, in the order of keys', () => {
    const step = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), isRemoved: fc.boolean() });
    const keepsStates = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const store = new ObjectStore();
      const states = steps.map(({ name, isRemoved }, at) => {
        if (isRemoved) store.remove(id(name));
        else store.put(id(name), object(name, at));
        return { revision: store.revision, state: [...(store.stateAt('configmaps') ?? [])] };
      });
      for (const { revision, state } of states) {
        assert.deepEqual([...(store.stateAt('configmaps', revision) ?? [])], state);
        assert.deepEqual(
          state.map(([key]) => key),
          state.map(([key]) => key).toSorted(),
        );
      }
    });
    void fc.assert(keepsStates);
  });

  it('has the changes of a kind after any position, and no others', () => {
    const store = new ObjectStore();
    const start = store.revision;
    store.put(id('a'), object('a'));
    store.put({ resource: 'secrets', key: 'n/x' }, object('x'));
    store.put(id('a'), object('a', 1));
    store.remove(id('a'));
    const after = (revision: number) => store.changesAfter('configmaps', revision).map((change) => change.revision - start);
    assert.deepEqual([after(start), after(start + 1), after(start + 2), after(start + 4)], [[1, 3, 4], [3, 4], [3, 4], []]);
  });

  it('lets reads of the cache see no more than when it was held', () => {
    const store = new ObjectStore();
    store.put(id('a'), object('a'));
    const held = store.revision;
    const release = store.holdCache();
    store.put(id('b'), object('b'));
    assert.deepEqual([store.cacheRevision, store.changesAfter('configmaps', held)], [held, []]);
    release();
    assert.deepEqual([store.cacheRevision, store.changesAfter('configmaps', held).length], [store.revision, 1]);
  });

  it('refuses states from before a compaction', () => {
    const store = new ObjectStore();
    store.put(id('a'), object('a'));
    const before = store.revision;
    store.put(id('a'), object('a', 1));
    store.compact();
    assert.deepEqual([store.stateAt('configmaps', before), store.stateAt('configmaps')?.size], [undefined, 1]);
  });

  it('forgets the oldest history of a kind that is written a lot, and says from where on it has it', () => {
    const store = new ObjectStore();
    const start = store.revision;
    for (let i = 0; i < 12_000; i += 1) store.put(id('a'), object('a', i));
    const floor = store.watchFloor('configmaps');
    assert.ok(floor > start && floor < store.revision - 9000, String(floor));
    assert.equal(store.changesAfter('configmaps', floor)[0]?.revision, floor + 1);
    assert.equal(store.stateAt('configmaps', floor - 1), undefined);
  });

  it('starts another store from a snapshot, which later writes do not touch', () => {
    const store = new ObjectStore();
    store.put(id('a'), object('a'));
    const snapshot = store.snapshot();
    store.put(id('b'), object('b'));
    const restored = new ObjectStore(snapshot);
    assert.deepEqual([...(restored.stateAt('configmaps')?.keys() ?? [])], ['n/a']);
    assert.equal(restored.revision, snapshot.revision);
  });
});
