/** What time alone makes due: KnownObjects.takeDue over days of virtual time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { healingIntervalSeconds } from '../../events/healing.ts';
import { KnownObjects } from '../../events/known-objects.ts';
import type { ObservedObject } from '../../events/observed-object.ts';
import type { KindPolicy } from '../../events/predicate.ts';
import { object, status, UNTOUCHED } from './builders.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const START_SECONDS = 1_800_000_000;
const healing = { healAfterSeconds: 600, maxAgeSeconds: 21_600 };
const at = (seconds: number): string => new Date((START_SECONDS + seconds) * 1000).toISOString();

/** One object, looked at every 5 s of virtual time. Seconds are counted from the start. */
class Lab {
  readonly known: KnownObjects;
  readonly sent: [atSeconds: number, reason: string, mustRun: boolean][] = [];
  seconds = 0;
  isWaiting = false;
  /** False where resyncs wait behind others and never leave. */
  sendsResyncs = true;
  readonly #resyncSeconds: number;
  #version = 10;

  /** @param resyncSeconds too long to be seen where left out */
  constructor(policy: KindPolicy = { revision: 1 }, resyncSeconds = 1e9) {
    this.known = new KnownObjects(policy);
    this.#resyncSeconds = resyncSeconds;
  }

  see(overrides: Partial<ObservedObject>): string {
    this.#version += 1;
    const seen = object({ resourceVersion: String(this.#version), ...overrides });
    const verdict = this.known.observe(seen, 'watch', (START_SECONDS + this.seconds) * 1000);
    return verdict.kind === 'pass' ? verdict.reason : verdict.kind;
  }

  go(untilSeconds: number): void {
    while (this.seconds < untilSeconds) {
      const fromSeconds = START_SECONDS + this.seconds;
      this.seconds = Math.min(this.seconds + 5, untilSeconds);
      const span = { fromSeconds, toSeconds: START_SECONDS + this.seconds };
      const plan = { span, healing, resyncSeconds: this.#resyncSeconds, isWaiting: () => this.isWaiting };
      for (const { uid, reason, mustRun } of this.known.takeDue(plan)) {
        this.sent.push([this.seconds, reason, mustRun]);
        if (reason === 'resync' && this.sendsResyncs) this.known.resynced(uid, span.toSeconds * 1000);
      }
    }
  }

  get times(): number[] {
    return this.sent.map(([seconds]) => seconds);
  }

  get unsettledCount(): number {
    return this.known.unsettled((START_SECONDS + this.seconds) * 1000).count;
  }
}

describe('healing', () => {
  it('sends what was never attempted again after 10 minutes, doubling to 6 hours, as a sweep that need not run', () => {
    const lab = new Lab();
    assert.equal(lab.see({ status: UNTOUCHED }), 'created');
    lab.go(DAY);
    assert.deepEqual(lab.times, [600, 1800, 4200, 9000, 18_600, 37_800, 59_400, 81_000]);
    assert.ok(lab.sent.every(([, reason, mustRun]) => reason === 'sweep' && !mustRun));
  });

  it('tells where the object is and what was last seen of it', () => {
    const known = new KnownObjects({ revision: 1 });
    known.observe(object({ namespace: 'ns', generation: 3, status: UNTOUCHED }), 'watch', START_SECONDS * 1000);
    const span = { fromSeconds: START_SECONDS, toSeconds: START_SECONDS + 600 };
    assert.deepEqual(known.takeDue({ span, healing, resyncSeconds: 1e9, isWaiting: () => false }), [
      { uid: 'uid1', namespace: 'ns', name: 'a', resourceVersion: '10', generation: 3, reason: 'sweep', mustRun: false },
    ]);
  });

  it('waits for the age budget and 15 minutes where a failure is written, doubling to 24 hours', () => {
    const lab = new Lab();
    lab.see({ status: UNTOUCHED });
    lab.go(60);
    lab.see({ status: status({ observedGeneration: undefined, attemptedGeneration: 1, ready: 'False' }) });
    lab.go(3 * DAY);
    assert.deepEqual(lab.times, [22_500, 67_500, 153_900, 240_300]);
  });

  it('begins anew where the failure is one of an older generation', () => {
    const lab = new Lab();
    lab.see({ status: status({ observedGeneration: undefined, attemptedGeneration: 1, ready: 'False' }) });
    lab.go(1000);
    lab.see({ generation: 2, status: status({ observedGeneration: undefined, attemptedGeneration: 1, ready: 'False' }) });
    lab.go(2000);
    assert.deepEqual(lab.times, [1600]);
  });

  it('begins with the first interval again after any message in between', () => {
    const lab = new Lab();
    lab.see({ status: UNTOUCHED });
    lab.go(5000);
    assert.equal(lab.see({ generation: 2, status: UNTOUCHED }), 'generation-changed');
    lab.go(7000);
    assert.deepEqual(lab.times, [600, 1800, 4200, 5600, 6800]);
  });

  it('costs nothing for a settled object, and nothing more once one settles', () => {
    const lab = new Lab();
    lab.see({ uid: 'settled' });
    lab.see({ uid: 'later', status: UNTOUCHED });
    lab.go(700);
    lab.see({ uid: 'later' });
    lab.go(2 * DAY);
    assert.deepEqual(lab.times, [600]);
  });

  it('sends an object that its status was taken from, 10 minutes later', () => {
    const lab = new Lab();
    lab.see({});
    lab.go(DAY);
    assert.equal(lab.see({ status: UNTOUCHED }), 'skip');
    lab.go(DAY + 1000);
    assert.deepEqual(lab.times, [DAY + 600]);
  });

  it('leaves alone what was given up for its generation, and not what was given up for another', () => {
    const lab = new Lab();
    const givenUp = { observedGeneration: undefined, attemptedGeneration: 1, stalledGeneration: 1 };
    lab.see({ uid: 'stalled', status: status(givenUp) });
    lab.go(7 * DAY);
    assert.deepEqual(lab.times, []);
    lab.see({ uid: 'stalled', generation: 2, status: status(givenUp) });
    lab.go(7 * DAY + 600);
    assert.deepEqual(lab.times, [7 * DAY + 600]);
  });

  it('leaves a paused object alone, also one that is being deleted', () => {
    const lab = new Lab({ revision: 1, finalizer: 'x/y' }, 1000);
    lab.see({ uid: 'a', status: UNTOUCHED, isPaused: true });
    lab.see({ uid: 'b', isDeleting: true, finalizers: ['x/y'], isPaused: true });
    lab.see({ uid: 'c', isPaused: true, status: status({ nextReconcileTime: at(100) }) });
    lab.go(DAY);
    assert.deepEqual(lab.times, []);
  });

  it('sends an object that is being deleted while our finalizer is on it', () => {
    const lab = new Lab({ revision: 1, finalizer: 'x/y' });
    lab.see({ uid: 'ours', isDeleting: true, generation: 2, finalizers: ['x/y'] });
    lab.see({ uid: 'theirs', isDeleting: true, generation: 2, finalizers: ['z/y'] });
    lab.go(2000);
    assert.deepEqual(lab.times, [600, 1800]);
  });

  it('asks for an object of unknown settledness for half a day and then no more', () => {
    const lab = new Lab();
    lab.see({ status: undefined });
    lab.go(7 * DAY);
    assert.deepEqual(lab.times, [600, 1800, 4200, 9000, 18_600, 37_800]);
    assert.equal(lab.unsettledCount, 0);
  });

  it('sends nothing while a message of the object waits to be sent, and counts the time from then on', () => {
    const lab = new Lab();
    lab.see({ status: UNTOUCHED });
    lab.isWaiting = true;
    lab.go(3000);
    lab.isWaiting = false;
    lab.go(6000);
    assert.deepEqual(lab.times, [3600, 4800]);
  });

  it('forgets an object that is gone', () => {
    const lab = new Lab();
    lab.see({ status: UNTOUCHED });
    lab.known.remove('uid1', '99');
    lab.go(DAY);
    assert.deepEqual(lab.times, []);
  });
});

describe('healing of what wanted to run again', () => {
  it('sends a settled object that must run, once its time is past by 5 minutes, doubling', () => {
    const lab = new Lab();
    lab.see({ status: status({ nextReconcileTime: at(1000) }) });
    lab.go(1299);
    assert.deepEqual([lab.times, lab.unsettledCount], [[], 0]);
    lab.go(4000);
    assert.deepEqual(lab.sent, [
      [1304, 'sweep', true],
      [2504, 'sweep', true],
    ]);
    assert.equal(lab.unsettledCount, 1);
  });

  it('counts from the new time after each run', () => {
    const lab = new Lab();
    lab.see({ status: status({ nextReconcileTime: at(1000) }) });
    lab.go(1302);
    lab.see({ status: status({ nextReconcileTime: at(2000) }) });
    assert.equal(lab.unsettledCount, 0);
    lab.go(2299);
    assert.equal(lab.sent.length, 1);
    lab.go(2400);
    assert.equal(lab.sent.length, 2);
  });

  it('is still unsettled after a foreign change', () => {
    const lab = new Lab();
    const seen = { status: status({ nextReconcileTime: at(0) }) };
    lab.see(seen);
    lab.go(400);
    lab.see(seen);
    lab.go(700);
    assert.deepEqual([lab.sent.length, lab.unsettledCount], [1, 1]);
  });

  it('waits for no time that cannot be read, and for one after 2038', () => {
    const lab = new Lab();
    for (const nextReconcileTime of ['soon', '2090-01-01T00:00:00Z', undefined])
      lab.see({ uid: `${nextReconcileTime}`, status: status({ nextReconcileTime }) });
    lab.go(DAY);
    assert.deepEqual(lab.times, []);
  });
});

describe('resync', () => {
  it('sends every object once a cycle, as one that must run, whatever its state but paused', () => {
    const lab = new Lab({ revision: 1 }, 1000);
    lab.see({ uid: 'settled' });
    lab.see({ uid: 'stalled', status: status({ observedGeneration: undefined, stalledGeneration: 1 }) });
    lab.see({ uid: 'unknown', status: undefined });
    lab.see({ uid: 'paused', isPaused: true });
    lab.see({ uid: 'going', isDeleting: true });
    lab.go(5000);
    const resyncs = lab.sent.filter(([, reason]) => reason === 'resync');
    assert.equal(resyncs.length, 15);
    assert.ok(resyncs.every(([, , mustRun]) => mustRun));
  });

  it('does not put healing off while it waits to be sent', () => {
    const lab = new Lab({ revision: 1 }, 590);
    lab.sendsResyncs = false;
    lab.see({ status: UNTOUCHED });
    lab.go(DAY);
    const healed = lab.sent.filter(([, reason]) => reason === 'sweep').map(([seconds]) => seconds);
    assert.deepEqual(healed, [600, 1800, 4200, 9000, 18_600, 37_800, 59_400, 81_000]);
  });

  it('does not put healing off where every pass is its turn', () => {
    const lab = new Lab({ revision: 1 }, 5);
    lab.sendsResyncs = false;
    lab.see({ status: UNTOUCHED });
    lab.go(600);
    assert.deepEqual(
      lab.sent.filter(([, reason]) => reason === 'sweep'),
      [[600, 'sweep', false]],
    );
  });

  it('says nothing of an object that is gone when its message is sent', () => {
    const lab = new Lab();
    lab.known.resynced('gone', START_SECONDS * 1000);
    assert.equal(lab.known.size, 0);
  });

  it('counts as a message once it is sent: healing begins anew', () => {
    const lab = new Lab({ revision: 1 }, 590);
    lab.see({ status: UNTOUCHED });
    lab.go(5000);
    assert.ok(lab.sent.slice(1).every(([, reason]) => reason === 'resync'));
  });
});

describe('upkeep, whatever happens when', () => {
  it('forgets no object that is not settled, and sends none more often than its interval', () => {
    const step = fc.record({
      waitSeconds: fc.nat(5000),
      uid: fc.constantFrom('u1', 'u2'),
      generation: fc.integer({ min: 1, max: 2 }),
      observed: fc.boolean(),
      attempted: fc.boolean(),
      isPaused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const known = new KnownObjects({ revision: 1 });
        const lastSent = new Map<string, number>();
        const open = new Set<string>();
        let seconds = START_SECONDS;
        const pass = (toSeconds: number): void => {
          const span = { fromSeconds: seconds, toSeconds };
          for (const { uid } of known.takeDue({ span, healing, resyncSeconds: 1e9, isWaiting: () => false })) {
            assert.ok(open.has(uid), 'only what is not settled');
            assert.ok(toSeconds - (lastSent.get(uid) ?? 0) >= 600, 'no sooner than the first interval');
            lastSent.set(uid, toSeconds);
          }
          seconds = toSeconds;
        };
        for (const [index, { waitSeconds, uid, generation, observed, attempted, isPaused }] of steps.entries()) {
          for (let left = waitSeconds; left > 0; left -= 5) pass(seconds + Math.min(left, 5));
          const observedGeneration = observed ? generation : 0;
          const seen = object({
            uid,
            generation,
            isPaused,
            resourceVersion: String(index + 1),
            status: status({ observedGeneration, attemptedGeneration: attempted ? generation : undefined }),
          });
          if (known.observe(seen, 'watch', seconds * 1000).kind === 'pass') lastSent.set(uid, seconds);
          if (observed || isPaused) open.delete(uid);
          else open.add(uid);
        }
        const lastStep = seconds;
        const longest = Math.max(healingIntervalSeconds('attempted', 9, healing), healingIntervalSeconds('never-attempted', 9, healing));
        while (seconds < lastStep + longest + 5) pass(seconds + 60);
        for (const uid of open) assert.ok((lastSent.get(uid) ?? 0) > lastStep, 'what stays unsettled is sent again');
      }),
      { numRuns: 50 },
    );
  });
});
