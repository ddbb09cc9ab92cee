import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Budgets, type Disposition, type DispositionContext, dispose, rowOf } from '../../../functions/core/disposition.ts';
import type { FailedKind, Failure, Outcome } from '../../../functions/core/outcome.ts';
import { after } from './example-data.ts';

const ALMOST_ONE = 1 - Number.EPSILON / 2;
const BUDGETS: Budgets = { retryBaseSeconds: 2, maxAgeSeconds: 21_600, maxAttempts: 10, overtakenMaxAttempts: 20 };
const FAILURE: Failure = { code: 'a-code', errorClass: 'TransientError', message: 'text' };

function context(overrides: Partial<DispositionContext> = {}): DispositionContext {
  return { attempt: 1, failures: {}, ageSeconds: 0, random: 0, now: after(0), budgets: BUDGETS, ...overrides };
}
function failed(kind: FailedKind, failure: Partial<Failure> = {}): Outcome {
  return { kind, failure: { ...FAILURE, ...failure } };
}
function delayOf(disposition: Disposition): number {
  assert.equal(disposition.kind, 'requeue');
  return disposition.kind === 'requeue' ? disposition.delaySeconds : Number.NaN;
}
const overtaken: Outcome = { kind: 'overtaken', by: 'newer-spec' };
const foreignFields: Outcome = { kind: 'overtaken', by: 'foreign-fields' };
const newerType: Outcome = { kind: 'newer-type', type: 'dev.dogwatch.reconcile.v2' };

describe('dispose, one row an outcome', () => {
  it('acknowledges what is finished', () => {
    assert.deepEqual(dispose({ kind: 'finished', branch: 'settled' }, context({ ageSeconds: 1e9, attempt: 1e6 })), { kind: 'done' });
  });

  it('fails the item of an unknown outcome, however old', () => {
    assert.deepEqual(dispose(failed('unknown'), context({ ageSeconds: 1e9, attempt: 1e6 })), { kind: 'fail-item' });
  });

  it('dead-letters what is refused at the first attempt', () => {
    assert.deepEqual(dispose(failed('refused'), context()), { kind: 'dead-letter', failure: FAILURE, because: 'refused' });
  });

  const rows: readonly [
    name: string,
    outcome: Outcome,
    first: readonly [least: number, most: number],
    latest: readonly [number, number],
  ][] = [
    ['overtaken', overtaken, [1, 1], [30, 60]],
    ['overtaken by foreign fields', foreignFields, [1, 1], [30, 60]],
    ['transient', failed('transient'), [1, 2], [450, 900]],
    ['denied', failed('denied'), [15, 30], [450, 900]],
    ['waiting', failed('waiting'), [2, 3], [30, 60]],
    ['field-conflict', failed('field-conflict'), [15, 30], [450, 900]],
    ['author-error', failed('author-error'), [1, 2], [450, 900]],
    ['unknown-target', failed('unknown-target'), [300, 300], [300, 300]],
    ['newer-type', newerType, [300, 300], [300, 300]],
  ];
  const patient = { ...BUDGETS, maxAttempts: 1000, overtakenMaxAttempts: 1000 };
  for (const [name, outcome, first, latest] of rows) {
    it(`waits ${first.join(' to ')} s at first after ${name}, and ${latest.join(' to ')} s in the end`, () => {
      const extremes = [0, ALMOST_ONE];
      assert.deepEqual(
        extremes.map((random) => delayOf(dispose(outcome, context({ random })))),
        first,
      );
      const late = { attempt: 41, failures: { [rowOf(outcome) ?? '']: 40 }, budgets: patient };
      assert.deepEqual(
        extremes.map((random) => delayOf(dispose(outcome, context({ ...late, random })))),
        latest,
      );
    });
  }

  const endingByAge = [
    failed('transient'),
    failed('denied'),
    failed('waiting'),
    failed('field-conflict'),
    failed('unknown-target'),
    newerType,
  ];
  for (const outcome of [...endingByAge, foreignFields]) {
    it(`tries ${rowOf(outcome)} up to the age limit, however often`, () => {
      assert.equal(dispose(outcome, context({ attempt: 1e6, failures: undefined, ageSeconds: 21_599 })).kind, 'requeue');
      const end = dispose(outcome, context({ ageSeconds: 21_600 }));
      assert.equal(end.kind === 'dead-letter' && end.because, 'age');
    });
  }

  const endingByAttempts: readonly [outcome: Outcome, limit: number][] = [
    [failed('author-error'), 10],
    [overtaken, 20],
    [{ kind: 'overtaken', by: 'newer-run' }, 20],
    [{ kind: 'overtaken', by: 'replacement' }, 20],
  ];
  for (const [outcome, limit] of endingByAttempts) {
    it(`gives up ${rowOf(outcome)} with its attempt ${limit}, however young or old`, () => {
      assert.equal(dispose(outcome, context({ attempt: limit - 1, failures: undefined, ageSeconds: 1e9 })).kind, 'requeue');
      const end = dispose(outcome, context({ attempt: limit, failures: undefined }));
      assert.equal(end.kind === 'dead-letter' && end.because, 'attempts');
    });
  }

  it('says in the letter of an overtaken run who overtook it', () => {
    const end = dispose(overtaken, context({ attempt: 20, failures: undefined }));
    assert.ok(end.kind === 'dead-letter' && end.failure.code === 'overtaken' && end.failure.message.includes('newer-spec'));
  });

  it('says in the letter of a newer type which it was', () => {
    const end = dispose(newerType, context({ ageSeconds: 21_600 }));
    assert.ok(end.kind === 'dead-letter' && end.failure.code === 'newer-type' && end.failure.message.includes('reconcile.v2'));
  });

  it('waits as long as the server asked', () => {
    assert.equal(delayOf(dispose(failed('transient', { retryAfterSeconds: 8 }), context())), 8);
  });
});

describe('dispose, budgets', () => {
  it('counts the attempt of a failure, but none for foreign fields', () => {
    const attempts = [failed('transient'), overtaken, foreignFields].map((outcome) => dispose(outcome, context({ attempt: 4 })));
    assert.deepEqual(
      attempts.map((disposition) => disposition.kind === 'requeue' && disposition.attempt),
      [5, 5, 4],
    );
  });

  it('does not hold an hour without API server against the first error of the author', () => {
    const disposition = dispose(failed('author-error'), context({ attempt: 15, failures: { transient: 14 } }));
    assert.deepEqual(disposition, { kind: 'requeue', delaySeconds: 1, attempt: 16 });
  });

  it('adds up the failures of a row, whatever came between', () => {
    const failures = { 'author-error': 9, overtaken: 9 };
    assert.equal(dispose(failed('author-error'), context({ attempt: 19, failures })).kind, 'dead-letter');
    assert.equal(dispose(overtaken, context({ attempt: 19, failures })).kind, 'requeue');
  });

  it('begins anew with attempt 1, whatever a folded record says of failures', () => {
    assert.equal(dispose(failed('author-error'), context({ attempt: 1, failures: { 'author-error': 9 } })).kind, 'requeue');
  });

  it('ends a message that is overtaken for ever after exactly the configured attempts', () => {
    const budgets = { ...BUDGETS, overtakenMaxAttempts: 5 };
    let attempt = 1;
    let runs = 0;
    for (;;) {
      runs += 1;
      const disposition = dispose(overtaken, context({ attempt, failures: { overtaken: runs - 1 }, budgets }));
      if (disposition.kind !== 'requeue') {
        assert.equal(disposition.kind, 'dead-letter');
        break;
      }
      attempt = disposition.attempt;
    }
    assert.equal(runs, 5);
  });

  it('takes a clock that is behind for a young message', () => {
    assert.equal(dispose(failed('transient'), context({ ageSeconds: -1200 })).kind, 'requeue');
  });
});

describe('dispose, hops', () => {
  it('holds a message behind an open circuit without attempt or age', () => {
    const disposition = dispose({ kind: 'circuit-open', waitSeconds: 40 }, context({ attempt: 3, ageSeconds: 1e9 }));
    assert.deepEqual(disposition, { kind: 'requeue', delaySeconds: 40, attempt: 3 });
  });

  it('spreads what was held, and stays within what SQS takes', () => {
    assert.equal(delayOf(dispose({ kind: 'circuit-open', waitSeconds: 40 }, context({ random: ALMOST_ONE }))), 50);
    assert.equal(delayOf(dispose({ kind: 'circuit-open', waitSeconds: 880 }, context({ random: ALMOST_ONE }))), 900);
    assert.equal(delayOf(dispose({ kind: 'circuit-open', waitSeconds: 3600 }, context())), 720, 'spread at the longest delay too');
    assert.equal(delayOf(dispose({ kind: 'circuit-open', waitSeconds: Number.NaN }, context())), 1);
  });

  it('hops towards the time of a message that is not due, without an attempt', () => {
    const far = dispose({ kind: 'not-due', notBefore: after(5000) }, context({ attempt: 2 }));
    assert.deepEqual(far, { kind: 'requeue', delaySeconds: 900, attempt: 2, notBefore: after(5000) });
    assert.equal(delayOf(dispose({ kind: 'not-due', notBefore: after(12.3) }, context())), 13);
    assert.equal(delayOf(dispose({ kind: 'not-due', notBefore: after(-1) }, context())), 1);
  });

  it('wakes an object when its author asked, with a new budget', () => {
    const wake = dispose({ kind: 'requeue-after', notBefore: after(3601) }, context({ attempt: 7, now: after(0.4) }));
    assert.deepEqual(wake, { kind: 'requeue', delaySeconds: 900, attempt: 1, notBefore: after(3601) });
    assert.equal(delayOf(dispose({ kind: 'requeue-after', notBefore: after(30) }, context())), 30);
  });

  it('reaches the time it was asked for by hops, and is not early', () => {
    const notBefore = after(4000);
    let now = 0;
    let hops = 0;
    while (after(now) < notBefore) {
      now += delayOf(dispose({ kind: 'not-due', notBefore }, context({ now: after(now) })));
      hops += 1;
    }
    assert.equal(hops, 5);
    assert.equal(now, 4000);
  });
});

describe('dispose, any input', () => {
  const odd = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.constantFrom(0, -1, 1e6, Number.NaN, Infinity, '7' as unknown as number, undefined as unknown as number),
  );
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc
      .constantFrom<FailedKind>('transient', 'denied', 'waiting', 'field-conflict', 'author-error', 'refused', 'unknown-target', 'unknown')
      .chain((kind) => odd.map((retryAfterSeconds) => failed(kind, { retryAfterSeconds }))),
    fc.constantFrom(overtaken, foreignFields, newerType, { kind: 'finished', branch: 'gone' } as const),
    odd.map((waitSeconds) => ({ kind: 'circuit-open' as const, waitSeconds })),
    fc.date({ noInvalidDate: false }).map((notBefore) => ({ kind: 'requeue-after' as const, notBefore })),
    fc.date({ noInvalidDate: false }).map((notBefore) => ({ kind: 'not-due' as const, notBefore })),
  );

  it('never throws, and every delay is a whole number from 0 to 900 (B40)', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const failures = fc.option(fc.dictionary(fc.constantFrom('transient', 'overtaken', 'author-error', 'foreign-fields'), odd), {
      nil: undefined,
    });
    fc.assert(
      fc.property(outcome, odd, odd, failures, random, (what, attempt, ageSeconds, counts, chance) => {
        const disposition = dispose(what, context({ attempt, ageSeconds, failures: counts, random: chance }));
        if (disposition.kind !== 'requeue') return;
        assert.ok(Number.isInteger(disposition.delaySeconds) && disposition.delaySeconds >= 0 && disposition.delaySeconds <= 900);
        assert.ok(Number.isInteger(disposition.attempt) && disposition.attempt >= 1);
      }),
    );
  });
});
