import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Condition } from '../../../functions/core/conditions.ts';
import type { KubernetesObject, PlannedCondition } from '../../../functions/core/reconciler.ts';
import {
  failureStatus,
  isSameOwnStatus,
  mergeStatus,
  type OwnStatus,
  ownStatusOf,
  reasonOf,
  withNextReconcileTime,
} from '../../../functions/core/status.ts';
import { wholeSeconds } from '../../../functions/core/wake-time.ts';
import { metadataOf, ticketOf } from './tickets.ts';

const EARLY = new Date('2026-01-01T00:00:00.250Z');
const LATE = new Date('2026-02-02T00:00:00.750Z');
const base = { status: { phase: 'Open' }, conditions: [], generation: 3, revision: 2, digest: 'abc' };
const settled = mergeStatus({ ...base, previous: undefined, now: EARLY });

function conditionsOf(status: OwnStatus): readonly Condition[] {
  return status['conditions'] as readonly Condition[];
}

function typesOf(status: OwnStatus): readonly string[] {
  return conditionsOf(status).map(({ type, status: value }) => `${type}=${value}`);
}

describe('mergeStatus', () => {
  it('says Ready with the framework’s fields when the author says nothing else', () => {
    assert.deepEqual(settled, {
      phase: 'Open',
      observedGeneration: 3,
      observedRevision: 2,
      childrenDigest: 'abc',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Reconciled',
          message: 'Everything that the spec asks for has been applied',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: 3,
        },
      ],
    });
  });

  it('lets the author say that it is not ready', () => {
    const conditions: PlannedCondition[] = [{ type: 'Ready', status: 'False', reason: 'QuotaExceeded' }];
    assert.deepEqual(typesOf(mergeStatus({ ...base, conditions, previous: settled, now: LATE })), ['Ready=False']);
  });

  it('moves only the times of conditions whose status changed', () => {
    const open: PlannedCondition = { type: 'Open', status: 'True', reason: 'X' };
    const before = mergeStatus({ ...base, conditions: [open], previous: {}, now: EARLY });
    const after = mergeStatus({ ...base, conditions: [{ ...open, status: 'False' }], generation: 4, previous: before, now: LATE });
    assert.deepEqual(
      conditionsOf(after).map(({ lastTransitionTime, observedGeneration }) => [lastTransitionTime, observedGeneration]),
      [
        ['2026-02-02T00:00:00Z', 4],
        ['2026-01-01T00:00:00Z', 4],
      ],
    );
  });

  it('takes Stalled off, and conditions that the author no longer names', () => {
    const previous = failureStatus({
      previous: mergeStatus({ ...base, conditions: [{ type: 'Old', status: 'True', reason: 'X' }], previous: {}, now: EARLY }),
      failure: { code: 'invalid', message: 'm' },
      generation: 3,
      now: EARLY,
      stalled: true,
    });
    assert.deepEqual(typesOf(previous), ['Old=True', 'Ready=False', 'Stalled=True']);
    assert.deepEqual(typesOf(mergeStatus({ ...base, previous, now: LATE })), ['Ready=True']);
  });

  const condition = fc.record({
    type: fc.constantFrom('Ready', 'Open', 'lab.example/Synced', 'Zeta'),
    status: fc.constantFrom('True', 'False', 'Unknown') as fc.Arbitrary<PlannedCondition['status']>,
    reason: fc.constantFrom('A', 'B'),
  });
  const conditionSets = fc.uniqueArray(condition, { selector: ({ type }) => type });

  it('is the same body again when nothing changed, however late and in whatever order the author names things', () => {
    fc.assert(
      fc.property(conditionSets, fc.dictionary(fc.string(), fc.jsonValue()), (conditions, status) => {
        const first = mergeStatus({ ...base, status, conditions, previous: undefined, now: EARLY });
        const second = mergeStatus({ ...base, status, conditions: conditions.toReversed(), previous: first, now: LATE });
        assert.deepEqual(second, first);
      }),
    );
  });

  it('comes back to what it was, but for times, after any failure in between', () => {
    fc.assert(
      fc.property(conditionSets, fc.boolean(), (conditions, stalled) => {
        const first = mergeStatus({ ...base, conditions, previous: undefined, now: EARLY });
        const failed = failureStatus({ previous: first, failure: { code: 'x', message: '' }, generation: 3, now: LATE, stalled });
        const again = mergeStatus({ ...base, conditions, previous: failed, now: LATE });
        const timeless = (status: OwnStatus) => ({
          ...status,
          conditions: conditionsOf(status).map(({ lastTransitionTime: _, ...rest }) => rest),
        });
        assert.deepEqual(timeless(again), timeless(first));
      }),
    );
  });
});

describe('the time of the next run', () => {
  const waiting = mergeStatus({ ...base, previous: undefined, now: EARLY, nextReconcileTime: new Date(LATE.getTime() + 400) });

  it('is in whole seconds of UTC, and never early', () => {
    assert.equal(waiting['nextReconcileTime'], wholeSeconds(new Date(LATE.getTime() + 1000)));
    assert.match(String(waiting['nextReconcileTime']), /^[0-9-]+T[0-9:]+Z$/);
  });

  it('outlives a failure, and goes with the first Plan that asks for none', () => {
    const failed = failureStatus({ previous: waiting, failure: { code: 'author-error', message: 'no' }, generation: 3, now: LATE });
    assert.equal(failed['nextReconcileTime'], waiting['nextReconcileTime']);
    assert.equal('nextReconcileTime' in mergeStatus({ ...base, previous: failed, now: LATE }), false);
  });

  it('is all that a run changes that did not reconcile', () => {
    assert.deepEqual(withNextReconcileTime(waiting, EARLY), { ...waiting, nextReconcileTime: wholeSeconds(EARLY) });
  });
});

describe('failureStatus', () => {
  const failure = { code: 'invalid-plan', message: 'The Plan cannot be applied' };

  it('repeats what the last success wrote, observedGeneration too, and says Ready=False for the generation that was tried', () => {
    const failed = failureStatus({ previous: settled, failure, generation: 4, now: LATE });
    assert.deepEqual(failed, {
      ...settled,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'InvalidPlan',
          message: 'The Plan cannot be applied',
          lastTransitionTime: '2026-02-02T00:00:00Z',
          observedGeneration: 4,
        },
      ],
    });
  });

  it('says nothing but the failure before a first success', () => {
    assert.deepEqual(Object.keys(failureStatus({ previous: {}, failure, generation: 1, now: LATE })), ['conditions']);
  });

  it('is the same body when the same failure comes again', () => {
    const first = failureStatus({ previous: settled, failure, generation: 4, now: EARLY, stalled: true });
    assert.deepEqual(failureStatus({ previous: first, failure, generation: 4, now: LATE, stalled: true }), first);
  });

  it('keeps conditions of the author, as they were', () => {
    const previous = mergeStatus({ ...base, conditions: [{ type: 'Open', status: 'True', reason: 'X' }], previous: {}, now: EARLY });
    const [open] = conditionsOf(failureStatus({ previous, failure, generation: 4, now: LATE }));
    assert.deepEqual(open, conditionsOf(previous)[0]);
  });

  it('adds Stalled with a dead letter and takes it off while a message is tried again', () => {
    const stalled = failureStatus({ previous: settled, failure, generation: 4, now: EARLY, stalled: true });
    const condition = conditionsOf(stalled)[1];
    assert.deepEqual([condition?.type, condition?.reason, condition?.observedGeneration], ['Stalled', 'DeadLettered', 4]);
    assert.deepEqual(typesOf(failureStatus({ previous: stalled, failure, generation: 4, now: LATE })), ['Ready=False']);
  });
});

describe('ownStatusOf', () => {
  const foreign = { type: 'Synced', status: 'True' };
  const ready = { type: 'Ready', status: 'True' };

  it('goes by managedFields: what another manager holds is not ours, even under our names', () => {
    const text = readFileSync(new URL('./samples/status-partly-taken.json', import.meta.url), 'utf8');
    const own = ownStatusOf((JSON.parse(text) as { object: KubernetesObject }).object);
    assert.equal(own['members'], undefined);
    assert.deepEqual(
      conditionsOf(own).map(({ type }) => type),
      ['Open', 'Ready'],
    );
  });

  it('goes by the framework’s names where managedFields were wiped', () => {
    const status = { phase: 'Open', observedGeneration: 3, conditions: [foreign, ready] };
    const own = ownStatusOf(ticketOf({ status, metadata: metadataOf({ managedFields: [{}] }) }));
    assert.deepEqual(own, { observedGeneration: 3, conditions: [ready] });
  });

  it('is empty where there is no status', () => assert.deepEqual(ownStatusOf(ticketOf()), {}));
});

describe('isSameOwnStatus', () => {
  it('looks at values and not at the order of keys', () => {
    assert.equal(isSameOwnStatus({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }), true);
    assert.equal(isSameOwnStatus(settled, mergeStatus({ ...base, previous: settled, generation: 4, now: LATE })), false);
  });
});

describe('reasonOf', () => {
  const rows: [string, string][] = [
    ['invalid-plan', 'InvalidPlan'],
    ['forbidden', 'Forbidden'],
    ['http 500', 'Http500'],
    ['500-error', 'Failed500Error'],
    ['', 'Failed'],
    ['é', 'Failed'],
  ];
  for (const [code, reason] of rows) it(`says ${reason} for ${JSON.stringify(code)}`, () => assert.equal(reasonOf(code), reason));

  it('is always a reason that a condition may have', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (code) => assert.match(reasonOf(code), /^[A-Za-z][A-Za-z0-9]{0,1023}$/)));
  });
});
