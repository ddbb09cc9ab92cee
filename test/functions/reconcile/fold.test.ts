import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { EnvelopeData, Reason } from '../../../events/envelope.ts';
import { foldRecords, type ObjectRun } from '../../../functions/reconcile/fold.ts';
import { parseRecord, type WorkRecord } from '../../../functions/reconcile/record.ts';
import { BULK_ARN, QUEUE_URLS, type RecordOverrides, recordOf, START } from './records.ts';

const NOW = new Date(START.getTime() + 60_000);
const at = (seconds: number): string => new Date(START.getTime() + seconds * 1000).toISOString();

function workOf(over: Partial<EnvelopeData> = {}, record: RecordOverrides = {}): WorkRecord {
  const parsed = parseRecord(recordOf(over, record), QUEUE_URLS, NOW);
  assert.equal(parsed.kind, 'reconcile');
  return parsed as WorkRecord;
}

function foldOne(...records: WorkRecord[]): ObjectRun {
  const runs = foldRecords(records, NOW);
  assert.equal(runs.length, 1);
  return runs[0] as ObjectRun;
}

describe('foldRecords', () => {
  it('makes one run of the records of one object and keeps every message id', () => {
    const run = foldOne(workOf({}, { messageId: 'm1' }), workOf({}, { messageId: 'm2' }));
    assert.deepEqual(run.messageIds, ['m1', 'm2']);
  });

  const apart: { name: string; other: Partial<EnvelopeData> }[] = [
    { name: 'cluster', other: { cluster: 'west' } },
    { name: 'group', other: { group: 'other.example' } },
    { name: 'kind', other: { kind: 'Gadget' } },
    { name: 'namespace', other: { namespace: 'x' } },
    { name: 'name', other: { name: 'b' } },
  ];
  for (const { name, other } of apart) {
    it(`keeps objects of another ${name} apart, equal uids or not`, () => {
      assert.equal(foldRecords([workOf({ name: 'a', namespace: undefined }), workOf(other)], NOW).length, 2);
    });
  }

  it('folds another served version and another uid of the same key (B28)', () => {
    const run = foldOne(workOf({ resourceVersion: '9', uid: 'uid-1' }), workOf({ resourceVersion: '10', uid: 'uid-2', version: 'v2' }));
    assert.equal(run.data.uid, 'uid-2');
  });

  const rows: { name: string; records: Partial<EnvelopeData>[]; expect: Partial<EnvelopeData> }[] = [
    {
      name: 'the newest resourceVersion by number, with its uid and generation',
      records: [
        { resourceVersion: '100', uid: 'uid-2', generation: 3 },
        { resourceVersion: '99', uid: 'uid-1', generation: 7 },
      ],
      expect: { resourceVersion: '100', uid: 'uid-2', generation: 3 },
    },
    {
      name: 'no generation of an older record where the newest has none',
      records: [
        { resourceVersion: '99', generation: 7 },
        { resourceVersion: '100', generation: undefined },
      ],
      expect: { resourceVersion: '100', generation: undefined },
    },
    {
      name: 'a resourceVersion over none',
      records: [{ resourceVersion: '5' }, { resourceVersion: undefined }],
      expect: { resourceVersion: '5' },
    },
    {
      name: 'a deletion over all',
      records: [
        { reason: 'deleting', resourceVersion: '5' },
        { reason: 'generation-changed', resourceVersion: '9' },
      ],
      expect: { reason: 'deleting', resourceVersion: '9' },
    },
    { name: 'deleted over deleting', records: [{ reason: 'deleted' }, { reason: 'deleting' }], expect: { reason: 'deleted' } },
    {
      name: 'any reason over retry',
      records: [
        { reason: 'created', resourceVersion: '5' },
        { reason: 'retry', resourceVersion: '9' },
      ],
      expect: { reason: 'created' },
    },
    { name: 'retry alone', records: [{ reason: 'retry' }, { reason: 'retry' }], expect: { reason: 'retry' } },
    { name: 'mustRun by OR', records: [{ mustRun: true }, { mustRun: false }], expect: { mustRun: true } },
    { name: 'mustRun false of all', records: [{ mustRun: false }, { mustRun: false }], expect: { mustRun: false } },
    { name: 'the smallest attempt', records: [{ attempt: 4 }, { attempt: 2 }], expect: { attempt: 2 } },
    {
      name: 'the earliest firstSeenAt with its held time',
      records: [{ firstSeenAt: at(30) }, { firstSeenAt: at(10), heldSeconds: 7 }],
      expect: { firstSeenAt: at(10), heldSeconds: 7 },
    },
    {
      name: 'no held time of a later record',
      records: [{ firstSeenAt: at(10) }, { firstSeenAt: at(30), heldSeconds: 7 }],
      expect: { firstSeenAt: at(10), heldSeconds: undefined },
    },
  ];
  for (const { name, records, expect } of rows) {
    it(`takes ${name}, in either order`, () => {
      for (const order of [records, records.toReversed()]) {
        const { data } = foldOne(...order.map((over) => workOf(over)));
        for (const [field, value] of Object.entries(expect)) assert.deepEqual(data[field], value, field);
      }
    });
  }

  const failed = (attempt: number) => ({ attempt, at: at(attempt), code: 'x' });
  const old = { generation: 2, resourceVersion: '5', reason: 'retry', attempt: 1, firstSeenAt: at(-20_000), heldSeconds: 9 } as const;
  const spent = { ...old, history: [failed(1)], failures: { transient: 30 } };
  const budgets: { name: string; records: Partial<EnvelopeData>[]; expect: Partial<EnvelopeData> }[] = [
    {
      name: 'a new generation, whatever a retry of an older one has used up',
      records: [spent, { generation: 3, resourceVersion: '9', firstSeenAt: at(0) }],
      expect: { attempt: 1, firstSeenAt: at(0), heldSeconds: undefined, history: undefined, failures: undefined },
    },
    {
      name: 'the newest generation that was tried, although an older one has attempts to spare',
      records: [
        { generation: 2, resourceVersion: '5', attempt: 1 },
        { ...spent, generation: 3, resourceVersion: '9', attempt: 8, failures: { 'author-error': 7 } },
      ],
      expect: { attempt: 8, firstSeenAt: old.firstSeenAt, heldSeconds: 9, history: [failed(1)], failures: { 'author-error': 7 } },
    },
    {
      name: 'the newest generation, also where its record has no resourceVersion',
      records: [spent, { generation: 3, resourceVersion: undefined, firstSeenAt: at(0) }],
      expect: { firstSeenAt: at(0), failures: undefined, resourceVersion: '5', generation: 2 },
    },
    {
      name: 'the object that is there, not the one of its name before it',
      records: [
        { ...spent, generation: 7, uid: 'uid-0' },
        { generation: 1, uid: 'uid-1', resourceVersion: '9', firstSeenAt: at(0) },
      ],
      expect: { firstSeenAt: at(0), history: undefined, failures: undefined },
    },
    {
      name: 'records without generation as well',
      records: [
        { ...spent, generation: undefined },
        { generation: 3, resourceVersion: '9', attempt: 2, firstSeenAt: at(0) },
      ],
      expect: { attempt: 1, firstSeenAt: old.firstSeenAt, heldSeconds: 9, history: [failed(1)], failures: { transient: 30 } },
    },
  ];
  for (const { name, records, expect } of budgets) {
    it(`counts the budget of ${name}, in either order`, () => {
      for (const order of [records, records.toReversed()]) {
        const { data } = foldOne(...order.map((over) => workOf(over)));
        for (const [field, value] of Object.entries(expect)) assert.deepEqual(data[field], value, field);
      }
    });
  }

  it('is redelivered, and so mustRun, when one record is', () => {
    const run = foldOne(workOf(), workOf({}, { receiveCount: '2' }));
    assert.equal(run.redelivered, true);
    assert.equal(run.data.mustRun, true);
  });

  it('remembers every reason', () => {
    const run = foldOne(workOf({ reason: 'created' }), workOf({ reason: 'sweep' }));
    assert.deepEqual(run.reasons, new Set<Reason>(['created', 'sweep']));
  });

  it('takes the live lane when one record came from there', () => {
    assert.equal(foldOne(workOf({}, { arn: BULK_ARN }), workOf()).lane, 'live');
    assert.equal(foldOne(workOf({}, { arn: BULK_ARN })).lane, 'bulk');
  });

  it('joins the histories, each attempt once, oldest first, the last ten', () => {
    const early = [1, 2, 3, 4, 5, 6, 7, 8].map(failed);
    const late = [7, 8, 9, 10, 11, 12].map(failed);
    assert.deepEqual(
      foldOne(workOf({ history: late }), workOf({ history: early })).data.history?.map(({ attempt }) => attempt),
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    );
  });

  it('keeps fields that this release does not know', () => {
    const run = foldOne(workOf({ later: 'x', resourceVersion: '5' }), workOf({ resourceVersion: '9' }));
    assert.equal(run.data['later'], 'x');
  });

  it('keeps the trace of the newest record that has one', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    assert.equal(foldOne(workOf({ resourceVersion: '5' }, { traceparent: trace }), workOf({ resourceVersion: '9' })).traceparent, trace);
  });

  it('does not fold a record that is not due into one that is, nor two that are not due', () => {
    const later = { notBefore: at(3600) };
    const runs = foldRecords([workOf(later), workOf(), workOf(later)], NOW);
    assert.deepEqual(
      runs.map((run) => run.messageIds.length),
      [1, 1, 1],
    );
    assert.deepEqual(
      runs.map((run) => run.data.notBefore),
      [at(3600), undefined, at(3600)],
    );
  });

  it('folds a record whose time has come', () => {
    assert.equal(foldRecords([workOf({ notBefore: at(60) }), workOf()], NOW).length, 1);
  });

  it('loses no message, whatever the batch', () => {
    const record = fc.record({ name: fc.constantFrom('a', 'b'), cluster: fc.constantFrom('east', 'west'), due: fc.boolean() });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), (batch) => {
        const records = batch.map(({ due, ...over }) => workOf({ ...over, ...(due ? {} : { notBefore: at(999) }) }));
        const ids = foldRecords(records, NOW).flatMap((run) => run.messageIds);
        assert.deepEqual(ids.toSorted(), records.map(({ receipt }) => receipt.messageId).toSorted());
      }),
    );
  });
});
