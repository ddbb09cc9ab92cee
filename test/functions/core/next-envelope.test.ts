import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildEnvelope, decodeEnvelope, type EnvelopeData, encodeEnvelope, HISTORY_MAX } from '../../../events/envelope.ts';
import { type Budgets, dispose, type Requeue } from '../../../functions/core/disposition.ts';
import { dataOfFound, nextEnvelopeData, type RunFacts, spentBudget } from '../../../functions/core/next-envelope.ts';
import type { Failure, Outcome } from '../../../functions/core/outcome.ts';
import { after, exampleData, NOON } from './example-data.ts';

const FAILURE: Failure = { code: 'server-error', errorClass: 'TransientError', message: 'text' };
const transient: Outcome = { kind: 'transient', failure: FAILURE };
const overtaken: Outcome = { kind: 'overtaken', by: 'newer-spec', uid: 'uid-1', resourceVersion: '130', generation: 3 };
const requeue: Requeue = { kind: 'requeue', delaySeconds: 2, attempt: 2 };

function facts(overrides: Partial<RunFacts> = {}): RunFacts {
  return { now: after(10), lane: 'live', wrote: false, ...overrides };
}
function encode(data: EnvelopeData): string {
  return encodeEnvelope(buildEnvelope(data, { id: '2f1c0f8e-4b1a-4a53-9d58-000000000000', now: after(11) }));
}

describe('nextEnvelopeData after a failure', () => {
  it('says retry, with the attempt in the history and the failure counted', () => {
    const data = exampleData({ lane: 'live', history: [], ['of-a-newer-release']: { kept: true } });
    assert.deepEqual(nextEnvelopeData(data, transient, requeue, facts()), {
      ...data,
      reason: 'retry',
      attempt: 2,
      history: [{ attempt: 1, at: '2026-03-01T12:00:10.000Z', code: 'server-error' }],
      failures: { transient: 1 },
    });
  });

  it('keeps when the change was first seen, and the lane it came from', () => {
    const next = nextEnvelopeData(exampleData({ reason: 'sweep' }), transient, requeue, facts({ lane: 'bulk' }));
    assert.equal(next.firstSeenAt, NOON);
    assert.equal(next.lane, 'bulk');
  });

  it('names no version where a record that was received before was not even read: the run that died may have known a newer one', () => {
    const data = exampleData({ resourceVersion: '100' });
    assert.equal(nextEnvelopeData(data, transient, requeue, facts({ redelivered: true })).resourceVersion, undefined);
    const read = facts({ redelivered: true, seen: { resourceVersion: '120' } });
    assert.equal(nextEnvelopeData(data, transient, requeue, read).resourceVersion, '120');
  });

  it('adds up failures by row', () => {
    const first = nextEnvelopeData(exampleData(), transient, requeue, facts());
    const second = nextEnvelopeData(first, overtaken, { ...requeue, attempt: 3 }, facts());
    const third = nextEnvelopeData(second, transient, { ...requeue, attempt: 4 }, facts());
    assert.deepEqual(third.failures, { transient: 2, overtaken: 1 });
    assert.deepEqual(
      third.history?.map(({ attempt, code }) => `${attempt} ${code}`),
      ['1 server-error', '2 overtaken-newer-spec', '3 server-error'],
    );
  });

  it('remembers the last attempts only', () => {
    let data = exampleData();
    for (let attempt = 2; attempt < 30; attempt += 1) data = nextEnvelopeData(data, transient, { ...requeue, attempt }, facts());
    assert.equal(data.history?.length, HISTORY_MAX);
    assert.equal(data.history?.at(-1)?.attempt, 28);
  });

  const mustRun: readonly [name: string, data: Partial<EnvelopeData>, outcome: Outcome, run: Partial<RunFacts>, expected: boolean][] = [
    ['not after a run that wrote nothing', {}, transient, {}, false],
    ['after a run that wrote', {}, transient, { wrote: true }, true],
    ['after a run that was overtaken', {}, overtaken, {}, true],
    ['when it was before', { mustRun: true }, transient, {}, true],
  ];
  for (const [name, data, outcome, run, expected] of mustRun) {
    it(`must run ${name}`, () => assert.equal(nextEnvelopeData(exampleData(data), outcome, requeue, facts(run)).mustRun, expected));
  }

  it('names the newest object, version and generation that was seen', () => {
    const seen = { uid: 'uid-1', resourceVersion: '99', generation: 2 };
    const next = nextEnvelopeData(exampleData(), overtaken, requeue, facts({ seen }));
    assert.deepEqual([next.uid, next.resourceVersion, next.generation], ['uid-1', '130', 3]);
  });

  it('names the object that was found in the place of another', () => {
    const replaced: Outcome = { kind: 'overtaken', by: 'replacement', uid: 'uid-2' };
    const next = nextEnvelopeData(exampleData(), replaced, requeue, facts({ seen: { uid: 'uid-1', resourceVersion: '1000' } }));
    assert.deepEqual([next.uid, next.resourceVersion], ['uid-2', '1000']);
  });

  it('asks for the newest where no server reaches the version any more', () => {
    const beyond: Outcome = { kind: 'transient', failure: { ...FAILURE, code: 'resource-version-too-large' } };
    const next = nextEnvelopeData(exampleData(), beyond, requeue, facts());
    assert.equal(next.resourceVersion, undefined);
    assert.equal(decodeEnvelope(encode(next)).kind, 'reconcile');
  });

  it('forgets a version of a lost history once the run has read a newer one, however low', () => {
    const seen = { uid: 'uid-1', resourceVersion: '40', generation: 1 };
    const next = nextEnvelopeData(exampleData({ resourceVersion: '1000' }), transient, requeue, facts({ seen, isPositionLost: true }));
    assert.equal(next.resourceVersion, '40');
    const found: Outcome = { ...overtaken, resourceVersion: '45' };
    const later = nextEnvelopeData(exampleData({ resourceVersion: '1000' }), found, requeue, facts({ seen, isPositionLost: true }));
    assert.equal(later.resourceVersion, '45');
  });

  it('counts no attempt for foreign fields, and does not fill the history with them', () => {
    const outcome: Outcome = { kind: 'overtaken', by: 'foreign-fields' };
    const next = nextEnvelopeData(exampleData(), outcome, { ...requeue, attempt: 1 }, facts());
    assert.equal(next.attempt, 1);
    assert.deepEqual(next.history, []);
    assert.deepEqual(next.failures, { 'foreign-fields': 1 });
  });

  it('is not bound to the time of the wake-up that failed', () => {
    const next = nextEnvelopeData(exampleData({ reason: 'requeue', notBefore: NOON }), transient, requeue, facts());
    assert.equal('notBefore' in next, false);
  });

  it('refuses an outcome that is never sent again', () => {
    assert.throws(() => nextEnvelopeData(exampleData(), { kind: 'refused', failure: FAILURE }, requeue, facts()), RangeError);
  });

  it('makes room for itself: history first, then what this release does not know', () => {
    const history = Array.from({ length: HISTORY_MAX }, (_, at) => ({ attempt: at + 1, at: NOON, code: 'x'.repeat(300) }));
    const next = nextEnvelopeData(exampleData({ history, attempt: 11 }), transient, { ...requeue, attempt: 12 }, facts());
    assert.equal(next.history?.at(-1)?.code, 'server-error');
    encode(next);
    const stuffed = nextEnvelopeData(exampleData({ ['of-a-newer-release']: 'x'.repeat(5000) }), transient, requeue, facts());
    assert.equal('of-a-newer-release' in stuffed, false);
    assert.equal(stuffed.attempt, 2);
    encode(stuffed);
  });
});

describe('nextEnvelopeData for a hop', () => {
  it('is the same message behind an open circuit, held for the delay', () => {
    const data = exampleData({ attempt: 3, heldSeconds: 40, reason: 'requeue', notBefore: '2026-03-01T12:00:00Z', lane: 'live' });
    const next = nextEnvelopeData(data, { kind: 'circuit-open', waitSeconds: 300 }, { ...requeue, delaySeconds: 310, attempt: 3 }, facts());
    assert.deepEqual(next, { ...data, heldSeconds: 350 });
  });

  it('takes nothing on trust behind an open circuit once something was written, or may have been', () => {
    const data = exampleData({
      reason: 'requeue',
      notBefore: '2026-03-01T12:00:00Z',
      lane: 'live',
      resourceVersion: '100',
      mustRun: false,
    });
    const hop = (over: Partial<RunFacts>, from = data) =>
      nextEnvelopeData(from, { kind: 'circuit-open', waitSeconds: 300 }, { ...requeue, attempt: 1 }, facts(over));
    const wrote = hop({ wrote: true, seen: { uid: 'u', resourceVersion: '120', generation: 7 } });
    assert.deepEqual([wrote.reason, wrote.mustRun, wrote.resourceVersion, wrote.uid, wrote.attempt], ['retry', true, '120', 'u', 1]);
    const again = hop({ redelivered: true });
    assert.deepEqual([again.reason, again.mustRun, again.resourceVersion], ['retry', true, undefined]);
    assert.equal(hop({ redelivered: true }, { ...data, reason: 'deleted' }).reason, 'deleted');
  });

  it('is the same message until it is due', () => {
    const data = exampleData({ reason: 'requeue', notBefore: '2026-03-01T14:00:00Z', lane: 'live' });
    const outcome: Outcome = { kind: 'not-due', notBefore: after(7200) };
    assert.deepEqual(nextEnvelopeData(data, outcome, { ...requeue, delaySeconds: 900, attempt: 1 }, facts()), data);
  });
});

describe('nextEnvelopeData for requeueAfterSeconds', () => {
  it('is a requeue with a new budget that begins when it is due', () => {
    const data = exampleData({
      attempt: 4,
      reason: 'retry',
      heldSeconds: 5,
      failures: { transient: 3 },
      history: [{ attempt: 3, at: NOON, code: 'c' }],
    });
    const wake: Requeue = { kind: 'requeue', delaySeconds: 900, attempt: 1, notBefore: after(3600.2) };
    const next = nextEnvelopeData(
      data,
      { kind: 'requeue-after', notBefore: after(3600.2), resourceVersion: '210' },
      wake,
      facts({ seen: { resourceVersion: '200', generation: 5 } }),
    );
    const { history: _h, failures: _f, heldSeconds: _s, ...rest } = data;
    const due = '2026-03-01T13:00:01Z';
    assert.deepEqual(next, {
      ...rest,
      ...{ reason: 'requeue', mustRun: true, attempt: 1, firstSeenAt: due, notBefore: due, lane: 'live' },
      ...{ resourceVersion: '210', generation: 5 },
    });
    assert.equal(spentBudget(next, after(60)).ageSeconds, 0);
  });
});

describe('spentBudget', () => {
  it('counts age from the first sight, less what was held', () => {
    const data = exampleData({ attempt: 3, failures: { transient: 2 }, heldSeconds: 100 });
    assert.deepEqual(spentBudget(data, after(400)), { attempt: 3, failures: { transient: 2 }, ageSeconds: 300 });
  });

  it('is never negative, whatever the clocks', () => {
    assert.equal(spentBudget(exampleData(), after(-1200)).ageSeconds, 0);
    assert.equal(spentBudget(exampleData({ heldSeconds: 1e6 }), after(10)).ageSeconds, 0);
  });

  it('begins anew with a letter that was redriven, and so does the next message', () => {
    const diagnosis = {
      ...{ code: 'c', errorClass: 'E', message: 'm', attempts: [], functionVersion: '1' },
      ...{ firstSeenAt: NOON, deadLetteredAt: NOON },
    };
    const letter = exampleData({ attempt: 10, failures: { transient: 9 }, heldSeconds: 3, diagnosis });
    const days = after(5 * 86_400);
    assert.deepEqual(spentBudget(letter, days), { attempt: 1, failures: undefined, ageSeconds: 0 });
    const next = nextEnvelopeData(letter, transient, requeue, facts({ now: days }));
    assert.equal('diagnosis' in next, false);
    assert.equal(next.firstSeenAt, NOON);
    assert.deepEqual(spentBudget(next, after(5 * 86_400 + 60)), { attempt: 2, failures: { transient: 1 }, ageSeconds: 60 });
  });
});

describe('dataOfFound', () => {
  const old = exampleData({ attempt: 7, failures: { transient: 6 }, history: [{ attempt: 6, at: NOON, code: 'c' }], heldSeconds: 9 });
  const fresh = exampleData({ uid: 'uid-2', generation: 1, firstSeenAt: after(90).toISOString() });

  it('begins a new budget for another object of the name, read or met in a write', () => {
    assert.deepEqual(dataOfFound(old, transient, { uid: 'uid-2', generation: 1 }, after(90)), fresh);
    const replaced: Outcome = { kind: 'overtaken', by: 'replacement', uid: 'uid-2', generation: 1 };
    assert.deepEqual(dataOfFound(old, replaced, { uid: 'uid-1', generation: 2 }, after(90)), fresh);
  });

  it('is as it was for the same object, and where nobody knows', () => {
    for (const seen of [undefined, {}, { uid: 'uid-1', generation: 3 }]) assert.equal(dataOfFound(old, transient, seen, after(90)), old);
    const { uid: _uid, ...nameless } = old;
    assert.equal(dataOfFound(nameless, transient, { uid: 'uid-2' }, after(90)), nameless);
  });
});

describe('a message that fails for ever', () => {
  const budgets: Budgets = { retryBaseSeconds: 2, maxAgeSeconds: 21_600, maxAttempts: 10, overtakenMaxAttempts: 20 };
  const outcomes: readonly Outcome[] = [
    transient,
    { kind: 'denied', failure: FAILURE },
    { kind: 'waiting', failure: FAILURE },
    { kind: 'field-conflict', failure: FAILURE },
    { kind: 'author-error', failure: FAILURE },
    { kind: 'unknown-target', failure: FAILURE },
    { kind: 'overtaken', by: 'newer-run', resourceVersion: '101' },
    { kind: 'overtaken', by: 'foreign-fields', resourceVersion: '102' },
    { kind: 'circuit-open', waitSeconds: 300 },
  ];

  it('ends, in whatever order it fails, and every message on the way can be sent and read', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 12 }), random, (cycle, chance) => {
        // A circuit that is open is no failure: alone it holds a message for as long as it takes.
        fc.pre(cycle.some(({ kind }) => kind !== 'circuit-open'));
        let data = exampleData();
        let now = after(0);
        for (let run = 0; ; run += 1) {
          assert.ok(run < 2000 * cycle.length, 'still not at its end');
          const outcome = cycle[run % cycle.length] as Outcome;
          const disposition = dispose(outcome, { ...spentBudget(data, now), random: chance, now, budgets });
          if (disposition.kind === 'dead-letter') return;
          assert.ok(disposition.kind === 'requeue');
          data = nextEnvelopeData(data, outcome, disposition, { now, lane: 'live', wrote: false });
          const decoded = decodeEnvelope(encode(data));
          assert.ok(decoded.kind === 'reconcile');
          data = decoded.envelope.data;
          now = new Date(now.getTime() + disposition.delaySeconds * 1000);
        }
      }),
      { numRuns: 60 },
    );
  });
});
