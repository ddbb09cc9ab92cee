import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DirtyMarks, foldMarks, type Mark } from '../../events/dirty-marks.ts';
import { REASONS, type Reason } from '../../events/envelope.ts';
import { mark } from './builders.ts';

const withReason = (reason: Reason, overrides: Partial<Mark> = {}): Mark => mark({ reason, ...REASONS[reason], ...overrides });

describe('foldMarks', () => {
  const rows: readonly [name: string, earlier: Mark, later: Mark, expected: Partial<Mark>][] = [
    [
      'the newest version with its generation',
      mark(),
      mark({ resourceVersion: '11', generation: 2 }),
      { resourceVersion: '11', generation: 2 },
    ],
    [
      'the newest version, also when it came first',
      mark({ resourceVersion: '100', generation: 2 }),
      mark({ resourceVersion: '99' }),
      { resourceVersion: '100', generation: 2 },
    ],
    ['the later of versions without order', mark({ resourceVersion: 'b' }), mark({ resourceVersion: 'a' }), { resourceVersion: 'a' }],
    [
      'a deletion over what comes after it',
      withReason('deleted'),
      withReason('created', { resourceVersion: '12' }),
      { reason: 'deleted', resourceVersion: '12' },
    ],
    [
      'a deletion over what came before it',
      withReason('resync'),
      withReason('deleted'),
      { reason: 'deleted', mustRun: true, lane: 'live' },
    ],
    ['the start of a deletion over a change', withReason('deleting'), withReason('generation-changed'), { reason: 'deleting' }],
    ['the end of a deletion over its start', withReason('deleting'), withReason('deleted'), { reason: 'deleted' }],
    ['the later of two changes', withReason('created'), withReason('generation-changed'), { reason: 'generation-changed' }],
    ['the last word on a pause', withReason('paused'), withReason('resumed'), { reason: 'resumed' }],
    ['live over bulk', withReason('generation-changed'), withReason('sweep'), { reason: 'generation-changed', lane: 'live' }],
    [
      'live over bulk, the other way',
      withReason('sweep'),
      withReason('generation-changed'),
      { reason: 'generation-changed', lane: 'live' },
    ],
    [
      'what must run over what need not',
      withReason('child-changed'),
      withReason('generation-changed'),
      { reason: 'child-changed', mustRun: true },
    ],
    [
      'mustRun of the bulk lane carried to the live one',
      withReason('resync'),
      withReason('created'),
      { reason: 'resync', mustRun: true, lane: 'live' },
    ],
    [
      'the delay of the reason that leads',
      withReason('deleted', { delaySeconds: 35 }),
      withReason('created', { resourceVersion: '12' }),
      { reason: 'deleted', delaySeconds: 35 },
    ],
    ['the earliest time', mark({ firstSeenAtMs: 500 }), mark({ firstSeenAtMs: 900 }), { firstSeenAtMs: 500 }],
  ];
  for (const [name, earlier, later, expected] of rows) {
    it(`keeps ${name}`, () => {
      const folded = foldMarks(earlier, later);
      assert.deepEqual({ ...folded, ...expected }, folded);
    });
  }
});

describe('DirtyMarks', () => {
  it('hands out each object once, the longest waiting first, live before bulk', () => {
    const marks = new DirtyMarks();
    marks.mark(withReason('sweep', { uid: 'b1' }));
    for (const uid of ['u1', 'u2', 'u3']) marks.mark(mark({ uid }));
    marks.mark(mark({ uid: 'u1', resourceVersion: '11' }));
    assert.deepEqual([marks.size, marks.inFlightCount, marks.nextAtMs()], [4, 0, 0]);
    const taken = marks.take(3, 0);
    assert.deepEqual(
      taken.map((one) => [one.uid, one.resourceVersion]),
      [
        ['u1', '11'],
        ['u2', '10'],
        ['u3', '10'],
      ],
    );
    assert.deepEqual([marks.size, marks.inFlightCount], [1, 3]);
    assert.deepEqual(
      marks.take(3, 0).map((one) => one.uid),
      ['b1'],
    );
    assert.deepEqual(marks.take(3, 0), []);
    assert.equal(marks.nextAtMs(), undefined);
  });

  it('hands out one lane alone when asked to', () => {
    const marks = new DirtyMarks();
    marks.mark(mark({ uid: 'l' }));
    marks.mark(withReason('sweep', { uid: 'b' }));
    assert.equal(marks.take(10, 0, 'bulk')[0]?.uid, 'b');
    assert.equal(marks.nextAtMs('bulk'), undefined);
    assert.equal(marks.nextAtMs('live'), 0);
  });

  const takenOf = (marks: DirtyMarks, max: number, nowMs: number): string[] => marks.take(max, nowMs, 'bulk').map((one) => one.uid);

  it('hands out a resync after all other repairs', () => {
    const marks = new DirtyMarks();
    for (const uid of ['r1', 'r2']) marks.mark(withReason('resync', { uid }));
    for (const uid of ['s1', 's2']) marks.mark(withReason('sweep', { uid }));
    assert.deepEqual([marks.size, marks.nextAtMs('bulk')], [4, 0]);
    assert.deepEqual(takenOf(marks, 3, 0), ['s1', 's2', 'r1']);
    assert.deepEqual(takenOf(marks, 3, 0), ['r2']);
  });

  it('hands out a resync that came back after all other repairs', () => {
    const marks = new DirtyMarks();
    marks.mark(withReason('resync', { uid: 'r' }));
    marks.returned(marks.take(1, 0)[0] as Mark, 1000);
    marks.mark(withReason('sweep', { uid: 's' }));
    assert.equal(marks.nextAtMs('bulk'), 0);
    assert.deepEqual(takenOf(marks, 1, 1000), ['s']);
    assert.deepEqual([marks.nextAtMs('bulk'), ...takenOf(marks, 1, 1000)], [1000, 'r']);
  });

  it('does not count a resync that waits, in its time or not, as what a healing would wait for', () => {
    const marks = new DirtyMarks();
    marks.mark(withReason('resync', { uid: 'r' }));
    assert.equal(marks.has('r'), false);
    const [first] = marks.take(1, 0);
    assert.equal(marks.has('r'), true);
    marks.returned(first as Mark, 1000);
    assert.equal(marks.has('r'), false);
    marks.mark(withReason('sweep', { uid: 'r' }));
    assert.equal(marks.has('r'), true);
    marks.mark(withReason('resync', { uid: 'r' }));
    assert.equal(marks.has('r'), true);
    marks.mark(withReason('generation-changed', { uid: 'r' }));
    assert.equal(marks.has('r'), true);
  });

  it('lets a resync and another repair of one object leave once, and as early as the other', () => {
    for (const [earlier, later] of [
      ['sweep', 'resync'],
      ['resync', 'sweep'],
    ] as const) {
      for (const isReturned of [true, false]) {
        const marks = new DirtyMarks();
        marks.mark(withReason(earlier, { uid: 'both' }));
        if (isReturned) marks.returned(marks.take(1, 0)[0] as Mark, 1000);
        marks.mark(withReason('resync', { uid: 'r' }));
        marks.mark(withReason(later, { uid: 'both' }));
        assert.equal(marks.size, 2);
        const [first] = marks.take(1, 1000, 'bulk');
        assert.deepEqual([first?.uid, first?.mustRun], ['both', true], `${earlier}, ${later}`);
        assert.deepEqual(takenOf(marks, 5, 1000), ['r']);
      }
    }
  });

  it('moves an object that becomes live out of the bulk lane', () => {
    const marks = new DirtyMarks();
    marks.mark(withReason('sweep'));
    marks.mark(withReason('generation-changed', { resourceVersion: '11' }));
    assert.equal(marks.size, 1);
    assert.deepEqual(marks.take(10, 0, 'bulk'), []);
    assert.equal(marks.take(10, 0, 'live')[0]?.resourceVersion, '11');
    assert.equal(marks.size, 0);
  });

  it('holds back what comes for an object in flight until its result is known', () => {
    for (const result of ['accepted', 'refused'] as const) {
      let dirtyCount = 0;
      const marks = new DirtyMarks(() => {
        dirtyCount += 1;
      });
      marks.mark(mark());
      const [first] = marks.take(1, 0);
      marks.mark(mark({ resourceVersion: '11' }));
      marks.mark(mark({ resourceVersion: '12' }));
      assert.deepEqual(marks.take(10, 0), []);
      assert.deepEqual([marks.size, marks.inFlightCount, dirtyCount], [1, 1, 1]);
      marks[result](first as Mark);
      assert.equal(dirtyCount, 2);
      assert.equal(marks.take(10, 0)[0]?.resourceVersion, '12');
    }
  });

  it('folds what is returned with what came meanwhile, and keeps it until its time', () => {
    const marks = new DirtyMarks();
    marks.mark(withReason('deleted', { resourceVersion: '20' }));
    const [first] = marks.take(1, 0);
    marks.mark(withReason('created', { resourceVersion: '19', mustRun: true }));
    marks.returned(first as Mark, 5000);
    assert.deepEqual([marks.size, marks.inFlightCount, marks.nextAtMs(), marks.nextAtMs('bulk')], [1, 0, 5000, undefined]);
    assert.deepEqual(marks.take(10, 4999), []);
    marks.mark(withReason('generation-changed', { resourceVersion: '18' }));
    assert.deepEqual(marks.take(10, 4999), []);
    const [again] = marks.take(10, 5000);
    assert.deepEqual([again?.reason, again?.resourceVersion, again?.mustRun], ['deleted', '20', true]);
  });

  it('hands out at once a repair that the queue deferred and that a change made live, in flight or not', () => {
    for (const isInFlight of [true, false]) {
      let dirtyCount = 0;
      const marks = new DirtyMarks(() => {
        dirtyCount += 1;
      });
      marks.mark(withReason('sweep'));
      const [sweep] = marks.take(1, 0);
      const change = withReason('generation-changed', { resourceVersion: '11' });
      if (isInFlight) marks.mark(change);
      marks.returned(sweep as Mark, 30_000);
      if (!isInFlight) marks.mark(change);
      assert.deepEqual([marks.nextAtMs('live'), marks.nextAtMs('bulk'), marks.size], [0, undefined, 1]);
      assert.ok(dirtyCount >= 2);
      assert.equal(marks.take(10, 0, 'live')[0]?.resourceVersion, '11');
    }
  });

  it('keeps a mark until its time, of two times until the earlier, and tells of a time that is earlier than all others', () => {
    let dirtyCount = 0;
    const marks = new DirtyMarks(() => {
      dirtyCount += 1;
    });
    marks.mark(mark(), 2000);
    marks.mark(mark({ uid: 'uid2' }), 3000);
    marks.mark(mark({ resourceVersion: '11' }), 2500);
    assert.deepEqual([marks.size, marks.nextAtMs(), marks.has('uid1'), dirtyCount], [2, 2000, true, 1]);
    marks.mark(mark({ uid: 'uid2', resourceVersion: '12' }), 1500);
    assert.deepEqual([marks.nextAtMs('live'), dirtyCount], [1500, 2]);
    assert.deepEqual(marks.take(10, 1499), []);
    assert.deepEqual(
      marks.take(10, 2000).map((one) => [one.uid, one.resourceVersion]),
      [
        ['uid2', '12'],
        ['uid1', '11'],
      ],
    );
  });

  it('keeps what was marked for later while its object was in flight until then', () => {
    const marks = new DirtyMarks();
    marks.mark(mark());
    const [first] = marks.take(1, 0);
    marks.mark(mark({ resourceVersion: '11' }), 2000);
    marks.mark(withReason('resync', { resourceVersion: '12' }));
    marks.accepted(first as Mark);
    assert.equal(marks.nextAtMs(), 2000);
    assert.deepEqual(
      marks.take(10, 2000).map((one) => [one.reason, one.lane, one.mustRun, one.resourceVersion]),
      [['resync', 'live', true, '12']],
    );
  });

  it('never holds a deletion, whatever waits for its object', () => {
    for (const reason of ['deleting', 'deleted'] as const) {
      const marks = new DirtyMarks();
      marks.mark(mark(), 2000);
      marks.mark(withReason(reason, { resourceVersion: '11' }), 9000);
      assert.equal(marks.take(10, 0)[0]?.reason, reason);
    }
  });

  it('is not hastened by a repair', () => {
    const marks = new DirtyMarks();
    marks.mark(mark(), 2000);
    marks.mark(withReason('resync'));
    assert.deepEqual([marks.nextAtMs('live'), marks.nextAtMs('bulk')], [2000, undefined]);
  });

  it('hands out deferred marks whatever their time when time does not matter', () => {
    const marks = new DirtyMarks();
    marks.mark(mark());
    marks.returned(marks.take(1, 0)[0] as Mark, 1e15);
    assert.equal(marks.take(10, Infinity).length, 1);
  });

  it('takes a result once: told again, it does not end a later send', () => {
    const marks = new DirtyMarks();
    marks.mark(mark());
    const [first] = marks.take(1, 0);
    marks.accepted(first as Mark);
    marks.mark(mark({ resourceVersion: '11' }));
    marks.take(1, 0);
    marks.accepted(first as Mark);
    marks.returned(first as Mark, 0);
    assert.deepEqual([marks.size, marks.inFlightCount], [0, 1]);
  });
});

type Step =
  | { readonly kind: 'mark'; readonly uid: string; readonly reason: Reason; readonly mustRun: boolean; readonly afterMs: number }
  | { readonly kind: 'take'; readonly max: number }
  | { readonly kind: 'accepted' | 'returned'; readonly at: number };

describe('DirtyMarks, whatever the order of marks, sends and results', () => {
  const uid = fc.constantFrom('u1', 'u2', 'u3');
  const reason = fc.constantFrom<Reason>('created', 'generation-changed', 'deleting', 'deleted', 'sweep', 'resync', 'child-changed');
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('mark' as const), uid, reason, mustRun: fc.boolean(), afterMs: fc.nat(8) }),
    fc.record({ kind: fc.constant('take' as const), max: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constantFrom('accepted' as const, 'returned' as const), at: fc.nat(5) }),
  );

  it('hands out the last state of every object, and loses neither a deletion nor mustRun', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const marks = new DirtyMarks();
        const inFlight: Mark[] = [];
        /** What must still be told of each object: filled by marks, emptied by what is accepted. */
        const owed = new Map<string, { version: number; deleted: boolean; mustRun: boolean }>();
        const taken = new Map<string, { version: number; deleted: boolean; mustRun: boolean }>();
        let now = 0;

        const take = (max: number, nowMs: number): void => {
          for (const one of marks.take(max, nowMs)) {
            assert.ok(!inFlight.some((other) => other.uid === one.uid), 'one in flight an object');
            const due = owed.get(one.uid);
            assert.ok(due, 'nothing is sent twice without need');
            assert.ok(Number(one.resourceVersion) >= due.version);
            assert.equal(one.reason === 'deleted', due.deleted);
            assert.equal(one.mustRun, due.mustRun);
            owed.delete(one.uid);
            taken.set(one.uid, due);
            inFlight.push(one);
          }
        };
        const answer = (one: Mark, kind: 'accepted' | 'returned'): void => {
          const due = taken.get(one.uid);
          assert.ok(due);
          if (kind === 'returned') {
            const later = owed.get(one.uid);
            owed.set(one.uid, {
              version: Math.max(due.version, later?.version ?? 0),
              deleted: due.deleted || later?.deleted === true,
              mustRun: due.mustRun || later?.mustRun === true,
            });
            marks.returned(one, now + 2);
          } else {
            marks.accepted(one);
          }
        };

        for (const [index, one] of steps.entries()) {
          now += 1;
          if (one.kind === 'mark') {
            const version = index + 1;
            const due = owed.get(one.uid);
            const mustRun = one.mustRun || due?.mustRun === true;
            owed.set(one.uid, { version, deleted: one.reason === 'deleted' || due?.deleted === true, mustRun });
            marks.mark(
              mark({
                uid: one.uid,
                reason: one.reason,
                mustRun: one.mustRun,
                lane: REASONS[one.reason].lane,
                resourceVersion: String(version),
              }),
              one.afterMs === 0 ? undefined : now + one.afterMs,
            );
          } else if (one.kind === 'take') {
            take(one.max, now);
          } else if (inFlight.length > 0) {
            answer(inFlight.splice(one.at % inFlight.length, 1)[0] as Mark, one.kind);
          }
          assert.equal(marks.inFlightCount, inFlight.length);
          assert.equal(marks.size, owed.size);
        }
        for (let round = 0; round < 3; round += 1) {
          for (const one of inFlight.splice(0)) answer(one, 'accepted');
          assert.equal(marks.nextAtMs() === undefined, owed.size === 0);
          take(10, marks.nextAtMs() === undefined ? now : now + 100);
        }
        assert.equal(owed.size, 0);
      }),
      { numRuns: 500 },
    );
  });
});
