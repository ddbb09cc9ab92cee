import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DirtyMarks, type Mark } from '../../events/dirty-marks.ts';
import { REASONS, type Reason } from '../../events/envelope.ts';
import { Hold } from '../../events/hold.ts';
import { mark } from './builders.ts';

const START_MS = 1_800_000_000_000;
const withReason = (reason: Reason, overrides: Partial<Mark> = {}): Mark => mark({ reason, ...REASONS[reason], ...overrides });

/** Marks with a hold, over a queue that takes at once whatever is due. */
class Lab {
  nowMs = START_MS;
  readonly hold: Hold;
  readonly marks = new DirtyMarks();
  /** Milliseconds from the start, and version, of each message. */
  readonly sent: [atMs: number, version: string][] = [];

  constructor(maxSeconds = 60) {
    this.hold = new Hold(maxSeconds, () => this.nowMs);
    this.marks.holdWith(this.hold);
  }

  /** Moves to `atMs` milliseconds from the start and sends what becomes due on the way. */
  go(atMs: number): void {
    for (let nextMs = this.marks.nextAtMs(); nextMs !== undefined && nextMs <= START_MS + atMs; nextMs = this.marks.nextAtMs()) {
      this.nowMs = Math.max(this.nowMs, nextMs);
      for (const one of this.marks.take(10, this.nowMs)) {
        this.sent.push([this.nowMs - START_MS, one.resourceVersion]);
        this.marks.accepted(one);
      }
    }
    this.nowMs = START_MS + atMs;
  }

  /** A change at `atMs`, sent if it is not held. */
  change(atMs: number, overrides: Partial<Mark> = {}): void {
    this.go(atMs);
    this.marks.mark(mark({ resourceVersion: String(100 + this.nowMs - START_MS), ...overrides }));
    this.go(atMs);
  }

  get times(): number[] {
    return this.sent.map(([atMs]) => atMs);
  }
}

describe('Hold', () => {
  it('makes at most 8 messages of 100 changes of one object within 10 s, the last of them with the last version', () => {
    const lab = new Lab();
    for (let atMs = 0; atMs < 10_000; atMs += 100) lab.change(atMs);
    lab.go(120_000);
    assert.deepEqual(lab.times, [0, 1100, 3100, 7100, 15_100]);
    assert.equal(lab.sent.at(-1)?.[1], '10000');
    assert.equal(lab.marks.size, 0);
  });

  it('sends the first change at once, and each that comes 10 s or more after the last message', () => {
    const lab = new Lab();
    for (const atMs of [0, 10_000, 20_000, 30_001]) lab.change(atMs);
    assert.deepEqual(lab.times, [0, 10_000, 20_000, 30_001]);
  });

  it('holds for twice as long each time, up to the largest hold', () => {
    const lab = new Lab(5);
    for (let atMs = 0; atMs < 40_000; atMs += 500) lab.change(atMs);
    assert.deepEqual(lab.times, [0, 1500, 3500, 7500, 12_500, 17_500, 22_500, 27_500, 32_500, 37_500]);
  });

  for (const [quietMs, secondMs, what] of [
    [60_000, 1000, 'begins anew after 60 s without a message'],
    [59_999, 2000, 'goes on where it was after less'],
  ] as const) {
    it(what, () => {
      const lab = new Lab();
      lab.change(0);
      lab.change(1);
      lab.go(1001);
      lab.change(1001 + quietMs);
      lab.change(1002 + quietMs);
      lab.go(200_000);
      assert.deepEqual(lab.times, [0, 1001, 1001 + quietMs, 1002 + quietMs + secondMs]);
    });
  }

  it('holds neither the start nor the end of a deletion, and sends with it what was held', () => {
    for (const reason of ['deleting', 'deleted'] as const) {
      const lab = new Lab();
      lab.change(0);
      lab.change(100);
      assert.deepEqual(lab.times, [0]);
      lab.change(200, withReason(reason));
      assert.deepEqual(lab.times, [0, 200]);
      lab.go(100_000);
      assert.equal(lab.sent.length, 2);
    }
  });

  it('leaves repairs alone, and does not count them as messages', () => {
    const lab = new Lab();
    for (const atMs of [0, 1, 2]) lab.change(atMs, withReason('resync'));
    lab.change(3);
    assert.deepEqual(lab.times, [0, 1, 2, 3]);
  });

  it('holds one object and no other', () => {
    const lab = new Lab();
    lab.change(0);
    lab.change(1);
    lab.change(2, { uid: 'uid2' });
    assert.deepEqual(lab.times, [0, 2]);
  });

  it('begins no second hold for a message that is due and that the queue does not take', () => {
    const lab = new Lab();
    lab.change(0);
    lab.change(1);
    lab.nowMs = START_MS + 9000;
    lab.marks.mark(mark({ resourceVersion: '500' }));
    assert.equal(lab.marks.nextAtMs(), START_MS + 1001);
    lab.change(9001, { resourceVersion: '501' });
    lab.go(200_000);
    assert.equal(lab.sent[2]?.[0], 11_001);
  });

  it('forgets an object that is gone, and one that kept quiet', () => {
    const lab = new Lab();
    lab.change(0, { uid: 'gone' });
    lab.change(0, { uid: 'quiet' });
    lab.change(0, withReason('deleted', { uid: 'gone' }));
    assert.equal(lab.hold.size, 1);
    lab.go(59_999);
    lab.hold.evict();
    assert.equal(lab.hold.size, 1);
    lab.go(60_000);
    lab.hold.evict();
    assert.equal(lab.hold.size, 0);
  });

  it('forgets nothing, sends little and remembers little, whatever changes when', () => {
    const step = fc.record({
      waitMs: fc.oneof(fc.nat(3000), fc.nat(90_000)),
      uid: fc.constantFrom('u1', 'u2', 'u3'),
      reason: fc.constantFrom<Reason>('created', 'generation-changed', 'resumed', 'child-changed', 'sweep', 'deleting'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 900 }), (steps, maxSeconds) => {
        const lab = new Lab(maxSeconds);
        const last = new Map<string, string>();
        const liveTimes = new Map<string, number[]>();
        let atMs = 0;
        const take = lab.marks.take.bind(lab.marks);
        lab.marks.take = (...given) => {
          const taken = take(...given);
          for (const one of taken) {
            if (last.get(one.uid) === one.resourceVersion) last.delete(one.uid);
            if (one.lane === 'live' && one.reason !== 'deleting') liveTimes.set(one.uid, [...(liveTimes.get(one.uid) ?? []), lab.nowMs]);
          }
          return taken;
        };
        for (const [index, { waitMs, uid, reason }] of steps.entries()) {
          atMs += waitMs;
          lab.go(atMs);
          last.set(uid, String(index + 1));
          lab.marks.mark(withReason(reason, { uid, resourceVersion: String(index + 1) }));
          lab.go(atMs);
          assert.ok((lab.marks.nextAtMs() ?? 0) <= lab.nowMs + maxSeconds * 1000, 'no hold is longer than the largest');
        }
        lab.go(atMs + maxSeconds * 1000);
        assert.equal(last.size, 0, 'the last state of each object is sent');
        for (const times of liveTimes.values()) {
          for (const [at, timeMs] of times.entries()) {
            const earlier = times[at - 1];
            assert.ok(earlier === undefined || timeMs - earlier >= 1000, 'two messages are a second apart');
          }
        }
        lab.go(atMs + maxSeconds * 2000 + 60_000);
        lab.hold.evict();
        assert.equal(lab.hold.size, 0);
      }),
      { numRuns: 200 },
    );
  });
});
