import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { buildHeartbeat } from '../../../events/heartbeat.ts';
import { laneOf, parseRecord } from '../../../functions/reconcile/record.ts';
import { BULK_ARN, LIVE_ARN, QUEUE_URLS, rawRecord, recordOf, START } from './records.ts';

const newer = (time: unknown): string => JSON.stringify({ type: 'dev.dogwatch.reconcile.v2', time, data: {} });
const heartbeat = (over: Record<string, unknown> = {}): string =>
  JSON.stringify({ ...buildHeartbeat('east', [], { id: '1', now: START }), ...over });
const minutes = (count: number): string => new Date(START.getTime() + count * 60_000).toISOString();

describe('parseRecord', () => {
  const bodies: { name: string; body: string; kind: string }[] = [
    { name: 'an envelope of ours', body: recordOf().body, kind: 'reconcile' },
    { name: 'a type of ours that is newer', body: newer(minutes(-60)), kind: 'newer' },
    { name: 'a newer type from a clock that is a little ahead', body: newer(minutes(4)), kind: 'newer' },
    { name: 'a newer type without a time, whose age is not known', body: newer(undefined), kind: 'foreign' },
    { name: 'a newer type with a time that is no text', body: newer(5), kind: 'foreign' },
    { name: 'a newer type with a time that cannot be read', body: newer('soon'), kind: 'foreign' },
    { name: 'a newer type of a time to come', body: newer(minutes(6)), kind: 'foreign' },
    { name: 'a heartbeat', body: heartbeat(), kind: 'heartbeat' },
    { name: 'a heartbeat that cannot be read', body: heartbeat({ data: { cluster: 'east' } }), kind: 'foreign' },
    { name: 'a heartbeat that is newer', body: heartbeat({ type: 'dev.dogwatch.heartbeat.v2' }), kind: 'newer' },
    { name: 'text that is cut off', body: '{oops', kind: 'foreign' },
    { name: 'an empty body', body: '', kind: 'foreign' },
    { name: 'null', body: 'null', kind: 'foreign' },
    { name: 'somebody else’s event', body: '{"type":"com.example.thing"}', kind: 'foreign' },
    { name: 'an envelope without data', body: '{"specversion":"1.0","id":"1","type":"dev.dogwatch.reconcile.v1"}', kind: 'foreign' },
  ];
  for (const { name, body, kind } of bodies) {
    it(`takes ${name} for ${kind}`, () => {
      const parsed = parseRecord(rawRecord(body, { messageId: 'm' }), QUEUE_URLS, START);
      assert.equal(parsed.kind, kind);
      assert.equal(parsed.receipt.messageId, 'm');
      assert.equal(parsed.receipt.body, body);
    });
  }

  it('never throws, whatever the body', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        assert.ok(['reconcile', 'heartbeat', 'newer', 'foreign'].includes(parseRecord(rawRecord(body), QUEUE_URLS, START).kind));
      }),
    );
  });

  it('takes a record without a body or attributes for foreign and for redelivered', () => {
    const parsed = parseRecord({ messageId: 'm' } as SQSRecord, QUEUE_URLS, START);
    assert.equal(parsed.kind, 'foreign');
    assert.equal(parsed.receipt.redelivered, true);
  });

  for (const record of [null, 'record', [], { ...rawRecord('{}'), eventSourceARN: 5 }, { ...rawRecord('{}'), attributes: null }]) {
    it(`takes ${JSON.stringify(record).slice(0, 8)} in the place of a record for foreign, so that its neighbours go on`, () => {
      assert.equal(parseRecord(record as unknown as SQSRecord, QUEUE_URLS, START).kind, 'foreign');
    });
  }

  for (const { count, redelivered } of [
    { count: '1', redelivered: false },
    { count: '2', redelivered: true },
    { count: '', redelivered: true },
    { count: 'x', redelivered: true },
  ]) {
    it(`says redelivered: ${redelivered} for a receive count of "${count}"`, () => {
      assert.equal(parseRecord(recordOf({}, { receiveCount: count }), QUEUE_URLS, START).receipt.redelivered, redelivered);
    });
  }
});

describe('laneOf', () => {
  const rows: { name: string; arn: string | undefined; lane: string }[] = [
    { name: 'the live queue', arn: LIVE_ARN, lane: 'live' },
    { name: 'the bulk queue', arn: BULK_ARN, lane: 'bulk' },
    { name: 'an unknown queue', arn: 'arn:aws:sqs:eu-central-1:111122223333:other', lane: 'live' },
    { name: 'no queue at all', arn: undefined, lane: 'live' },
  ];
  for (const { name, arn, lane } of rows) {
    it(`is ${lane} for ${name}`, () => assert.equal(laneOf(arn, QUEUE_URLS), lane));
  }

  it('is live where both lanes share one queue', () => {
    assert.equal(laneOf(LIVE_ARN, { live: QUEUE_URLS.live, bulk: QUEUE_URLS.live }), 'live');
  });
});
