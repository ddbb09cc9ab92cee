import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionProblem, sortConditions, stampCondition } from '../../../functions/core/conditions.ts';

const ready = { type: 'Ready', status: 'True', reason: 'AsExpected' } as const;

describe('conditionProblem', () => {
  const rows: { name: string; condition: unknown; field: string | undefined }[] = [
    { name: 'a condition without message', condition: ready, field: undefined },
    { name: 'a type with a domain', condition: { ...ready, type: 'lab.example/Synced' }, field: undefined },
    { name: 'a reason with a colon', condition: { ...ready, reason: 'A:b_9' }, field: undefined },
    { name: 'a text', condition: 'Ready', field: '' },
    { name: 'null', condition: null, field: '' },
    { name: 'a time of its own', condition: { ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }, field: 'lastTransitionTime' },
    { name: 'a type with a space', condition: { ...ready, type: 'All Good' }, field: 'type' },
    { name: 'a type of 317 characters', condition: { ...ready, type: 'T'.repeat(317) }, field: 'type' },
    { name: 'no type', condition: { ...ready, type: undefined }, field: 'type' },
    { name: 'Stalled', condition: { ...ready, type: 'Stalled' }, field: 'type' },
    { name: 'a boolean status', condition: { ...ready, status: true }, field: 'status' },
    { name: 'an empty reason', condition: { ...ready, reason: '' }, field: 'reason' },
    { name: 'a reason that is a sentence', condition: { ...ready, reason: 'not good' }, field: 'reason' },
    { name: 'a reason of 1,025 characters', condition: { ...ready, reason: 'R'.repeat(1025) }, field: 'reason' },
    { name: 'a message that is a number', condition: { ...ready, message: 7 }, field: 'message' },
    { name: 'a message of 32,769 characters', condition: { ...ready, message: 'm'.repeat(32_769) }, field: 'message' },
  ];
  for (const { name, condition, field } of rows) {
    it(`${field === undefined ? 'passes' : 'refuses'} ${name}`, () => assert.equal(conditionProblem(condition)?.field, field));
  }
});

describe('stampCondition', () => {
  const now = new Date('2026-03-01T10:00:00.987Z');
  const before = { ...ready, message: 'old', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 };

  it('keeps the time while the status is the same, whatever else changes', () => {
    const stamped = stampCondition({ ...ready, reason: 'Other', message: 'new' }, [before], { generation: 2, now });
    assert.deepEqual(stamped, { ...before, reason: 'Other', message: 'new', observedGeneration: 2 });
  });

  it('moves the time, in whole seconds, when the status changes or is new', () => {
    const time = '2026-03-01T10:00:00Z';
    assert.equal(stampCondition({ ...ready, status: 'False' }, [before], { generation: 2, now }).lastTransitionTime, time);
    assert.equal(stampCondition(ready, [], { generation: 2, now }).lastTransitionTime, time);
    assert.equal(stampCondition(ready, [{ type: 'Ready', status: 'True' }], { generation: 2, now }).lastTransitionTime, time);
  });
});

describe('sortConditions', () => {
  it('orders by type', () => {
    assert.deepEqual(sortConditions([{ type: 'b' }, { type: 'a' }, { type: 'C' }]), [{ type: 'C' }, { type: 'a' }, { type: 'b' }]);
  });
});
