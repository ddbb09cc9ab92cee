import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { KnownObjects } from '../../events/known-objects.ts';
import type { Phase, Verdict } from '../../events/predicate.ts';
import { object, status, UNTOUCHED } from './builders.ts';

const word = (verdict: Verdict): string => (verdict.kind === 'pass' ? verdict.reason : `skip ${verdict.reason}`);
const a1 = object({ generation: 4, resourceVersion: '100', status: status({ observedGeneration: 4 }) });
const b2 = object({ name: 'b', uid: 'uid2', resourceVersion: '101' });

function listed(known: KnownObjects, objects: readonly ReturnType<typeof object>[], phase: Phase = 'list'): string[] {
  known.beginList();
  return objects.map((one) => word(known.observe(one, phase, 0)));
}

describe('KnownObjects: lists', () => {
  it('sends nothing for settled objects of a first list, and tells them again from the watch', () => {
    const known = new KnownObjects({ revision: 1 });
    assert.deepEqual(listed(known, [a1, b2], 'first-list'), ['skip settled', 'skip settled']);
    assert.deepEqual(known.endList('200'), []);
    assert.equal(known.size, 2);
    assert.equal(word(known.observe(object({ ...a1, generation: 5, resourceVersion: '201' }), 'watch', 0)), 'generation-changed');
  });

  it('tells what a complete list no longer shows, once and with its uid (B07)', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1, b2], 'first-list');
    known.endList('200');
    listed(known, [a1]);
    assert.deepEqual(known.endList('300'), [{ uid: 'uid2', name: 'b', resourceVersion: '300', generation: 1 }]);
    listed(known, [a1]);
    assert.deepEqual(known.endList('400'), []);
  });

  it('gives what is gone the last version known of it where the list’s is not told', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [object({ ...b2, namespace: 'ns' })]);
    known.endList();
    known.beginList();
    assert.deepEqual(known.endList(), [{ uid: 'uid2', namespace: 'ns', name: 'b', resourceVersion: '101', generation: 1 }]);
  });

  it('infers nothing from a list that was given up, nor from an end without a beginning', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1, b2], 'first-list');
    known.endList();
    listed(known, [a1]);
    known.abandonList();
    assert.deepEqual(known.endList(), []);
    assert.equal(known.size, 2);
    listed(known, [a1, b2]);
    assert.deepEqual(known.endList(), []);
  });

  it('does not miss what a list that was given up had shown and the next does not', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1, b2], 'first-list');
    known.abandonList();
    listed(known, [a1], 'first-list');
    assert.deepEqual(
      known.endList().map((removed) => removed.uid),
      ['uid2'],
    );
  });

  it('keeps what a frame shows while a list is being read', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1, b2], 'first-list');
    known.endList();
    listed(known, [a1]);
    known.observe(object({ ...b2, resourceVersion: '50' }), 'watch', 0);
    known.observe(object({ name: 'c', uid: 'uid3', resourceVersion: '150' }), 'watch', 0);
    assert.deepEqual(known.endList(), []);
  });

  it('forgets everything when a complete list is empty', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1, b2]);
    known.endList();
    known.beginList();
    assert.equal(known.endList('300').length, 2);
    assert.equal(known.size, 0);
  });
});

describe('KnownObjects: a name is no identity', () => {
  it('tells a deletion and a new object when one is re-created in a gap (B08)', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [a1], 'first-list');
    known.endList('200');
    assert.deepEqual(listed(known, [object({ uid: 'uid2', resourceVersion: '300', status: UNTOUCHED })]), ['created']);
    assert.deepEqual(known.endList('300'), [{ uid: 'uid1', name: 'a', resourceVersion: '300', generation: 4 }]);
  });

  it('sends one message for a re-created object and none for its status (B09)', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(object({ generation: 7, resourceVersion: '10' }), 'watch', 0);
    assert.equal(known.remove('uid1', '11')?.generation, 7);
    const again = object({ uid: 'uid2', resourceVersion: '12', status: UNTOUCHED });
    assert.equal(word(known.observe(again, 'watch', 0)), 'created');
    const restored = { ...again, resourceVersion: '13', status: status({ observedGeneration: 7 }) };
    assert.equal(word(known.observe(restored, 'watch', 0)), 'skip same-generation');
  });
});

describe('KnownObjects: frames', () => {
  it('sends every change across digit boundaries and past 2^53, in order (B18)', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(object({ resourceVersion: '98' }), 'watch', 0);
    const versions = ['99', '100', '9007199254740993', '9007199254740994'];
    const words = versions.map((resourceVersion, index) =>
      word(known.observe(object({ resourceVersion, generation: index + 2 }), 'watch', 0)),
    );
    assert.deepEqual(words, Array(4).fill('generation-changed'));
    const opaque = object({ uid: 'uid9', resourceVersion: 'abc-7', status: UNTOUCHED });
    assert.equal(word(known.observe(opaque, 'watch', 0)), 'created');
    assert.equal(word(known.observe(opaque, 'watch', 0)), 'skip not-changed');
  });

  it('does not go back for a replayed frame', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(object({ resourceVersion: '20', generation: 3 }), 'watch', 0);
    assert.equal(word(known.observe(object({ resourceVersion: '10', generation: 2 }), 'watch', 0)), 'skip older');
    assert.equal(word(known.observe(object({ resourceVersion: '21', generation: 3 }), 'watch', 0)), 'skip same-generation');
  });

  it('knows nothing of an object that it never saw, and ignores a DELETED that is older than the object', () => {
    const known = new KnownObjects({ revision: 1 });
    assert.equal(known.remove('uid1', '5'), undefined);
    known.observe(object({ resourceVersion: '20' }), 'watch', 0);
    assert.equal(known.remove('uid1', '19'), undefined);
    assert.equal(known.size, 1);
    assert.deepEqual(known.remove('uid1', '21'), { uid: 'uid1', name: 'a', resourceVersion: '21', generation: 1 });
    assert.equal(known.size, 0);
  });
});

describe('KnownObjects: a restored cluster (B19)', () => {
  const c = object({ name: 'c', uid: 'uid3', resourceVersion: '1100' });

  it('takes the lower versions of a list as the truth', () => {
    const known = new KnownObjects({ revision: 1 });
    listed(known, [object({ generation: 5, resourceVersion: '1200', status: status({ observedGeneration: 5 }) }), c], 'first-list');
    known.endList('1200');
    known.forgetPositions();
    const back = object({ generation: 3, resourceVersion: '900', status: status({ observedGeneration: 5 }) });
    const b = object({ name: 'b', uid: 'uid9', resourceVersion: '950', status: UNTOUCHED });
    assert.deepEqual(listed(known, [back, b]), ['generation-changed', 'created']);
    assert.deepEqual(
      known.endList('1003').map((removed) => [removed.uid, removed.resourceVersion]),
      [['uid3', '1003']],
    );
    assert.equal(word(known.observe({ ...back, generation: 4, resourceVersion: '1004' }, 'watch', 0)), 'generation-changed');
  });

  it('believes a DELETED frame of the new history, at whatever version', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(c, 'watch', 0);
    known.forgetPositions();
    assert.equal(known.remove('uid3', '950')?.resourceVersion, '950');
  });

  for (const order of ['before the list', 'within the list'] as const) {
    it(`sends again what is unsettled, once, when positions are forgotten ${order}`, () => {
      const known = new KnownObjects({ revision: 1 });
      const pending = object({ resourceVersion: '900', status: UNTOUCHED });
      assert.deepEqual(listed(known, [pending, c], 'first-list'), ['sweep', 'skip settled']);
      known.endList('1200');
      if (order === 'before the list') known.forgetPositions();
      known.beginList();
      if (order === 'within the list') known.forgetPositions();
      assert.equal(word(known.observe(pending, 'list', 0)), 'sweep');
      known.abandonList();
      known.beginList();
      assert.equal(word(known.observe(pending, 'list', 0)), 'skip not-changed');
      assert.equal(word(known.observe(c, 'list', 0)), 'skip not-changed');
    });
  }
});

describe('KnownObjects: what is unsettled', () => {
  it('counts it with the age of the oldest', () => {
    const known = new KnownObjects({ revision: 1 });
    assert.deepEqual(known.unsettled(5000), { count: 0, oldestSeconds: 0 });
    known.observe(object({ status: UNTOUCHED }), 'watch', 1000);
    known.observe(object({ uid: 'uid2', status: UNTOUCHED }), 'watch', 3000);
    known.observe(object({ resourceVersion: '11', generation: 2, status: UNTOUCHED }), 'watch', 4000);
    assert.deepEqual(known.unsettled(5000), { count: 2, oldestSeconds: 4 });
    known.observe(object({ resourceVersion: '12', generation: 2, status: status({ observedGeneration: 2 }) }), 'watch', 5000);
    assert.deepEqual(known.unsettled(5000), { count: 1, oldestSeconds: 2 });
    known.remove('uid2', '99');
    assert.deepEqual(known.unsettled(5000), { count: 0, oldestSeconds: 0 });
  });

  it('leaves out what is paused, given up or not shown, and comes back to it', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(object({ uid: 'paused', isPaused: true, status: UNTOUCHED }), 'first-list', 0);
    known.observe(object({ uid: 'stalled', status: status({ observedGeneration: undefined, stalledGeneration: 1 }) }), 'first-list', 0);
    known.observe(object({ uid: 'dark', status: undefined }), 'first-list', 0);
    assert.equal(known.unsettled(0).count, 0);
    known.observe(object({ uid: 'paused', resourceVersion: '11', status: UNTOUCHED }), 'watch', 0);
    assert.equal(known.unsettled(0).count, 1);
  });

  it('is what a count over all objects would say, whatever happened', () => {
    const step = fc.record({
      uid: fc.constantFrom('u1', 'u2', 'u3'),
      kind: fc.constantFrom('see', 'remove', 'relist'),
      settled: fc.boolean(),
      isPaused: fc.boolean(),
      generation: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const known = new KnownObjects({ revision: 1 });
        const model = new Map<string, boolean>();
        for (const [index, { uid, kind, settled, isPaused, generation }] of steps.entries()) {
          const resourceVersion = String(index + 1);
          if (kind === 'remove') {
            assert.equal(known.remove(uid, resourceVersion) !== undefined, model.delete(uid));
            continue;
          }
          const observedGeneration = settled ? generation : 0;
          const seen = object({ uid, resourceVersion, generation, isPaused, status: status({ observedGeneration }) });
          if (kind === 'relist') {
            known.beginList();
            known.observe(seen, 'list', index);
            const gone = new Set([...model.keys()].filter((one) => one !== uid));
            assert.deepEqual(new Set(known.endList().map((removed) => removed.uid)), gone);
            for (const one of gone) model.delete(one);
          } else {
            known.observe(seen, 'watch', index);
          }
          model.set(uid, !settled && !isPaused);
          assert.equal(known.size, model.size);
          assert.equal(known.unsettled(index).count, [...model.values()].filter((isUnsettled) => isUnsettled).length);
        }
      }),
    );
  });
});

describe('KnownObjects: namespaces', () => {
  it('are not kept once their objects are gone, also where no list follows', () => {
    const known = new KnownObjects({ revision: 1 });
    const before = heapUsed();
    for (let index = 0; index < 20_000; index += 1) {
      const uid = `uid-${index}`;
      // 1 kB each, so that it shows where they are kept.
      known.observe(object({ uid, namespace: `${index}-${'n'.repeat(1_000)}` }), 'watch', 0);
      known.remove(uid, '11');
    }
    const keptBytes = heapUsed() - before;
    assert.equal(known.size, 0);
    assert.ok(keptBytes < 5_000_000, `${keptBytes} bytes`);
  });

  it('are the objects’ own, however many there are', () => {
    const known = new KnownObjects({ revision: 1 });
    for (let index = 0; index < 3_000; index += 1) known.observe(object({ uid: `uid-${index}`, namespace: `ns-${index}` }), 'watch', 0);
    for (let index = 0; index < 3_000; index += 1) assert.equal(known.get(`uid-${index}`)?.namespace, `ns-${index}`);
  });
});

/** Bytes, after a collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
