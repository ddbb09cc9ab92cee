/** Builders of envelopes and SQS records for the tests of this folder. */
import type { SQSRecord } from 'aws-lambda';
import { buildEnvelope, type EnvelopeData, encodeEnvelope } from '../../../events/envelope.ts';
import type { QueueUrls } from '../../../functions/reconcile/record.ts';

export const QUEUE_URLS: QueueUrls = {
  live: 'https://sqs.eu-central-1.amazonaws.com/111122223333/dogwatch-live',
  bulk: 'https://sqs.eu-central-1.amazonaws.com/111122223333/dogwatch-bulk',
};
export const DEAD_LETTER_QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/dogwatch-dead-letters';
export const LIVE_ARN = 'arn:aws:sqs:eu-central-1:111122223333:dogwatch-live';
export const BULK_ARN = 'arn:aws:sqs:eu-central-1:111122223333:dogwatch-bulk';
export const START = new Date('2026-01-01T00:00:00.000Z');

/** Data of a first message for a cluster-scoped `a` in east. */
export function dataOf(over: Partial<EnvelopeData> = {}): EnvelopeData {
  return {
    cluster: 'east',
    group: 'platform.example',
    version: 'v1',
    plural: 'widgets',
    kind: 'Widget',
    name: 'a',
    uid: 'uid-1',
    resourceVersion: '100',
    generation: 1,
    reason: 'generation-changed',
    mustRun: false,
    attempt: 1,
    firstSeenAt: START.toISOString(),
    ...over,
  };
}

let sent = 0;

export interface RecordOverrides {
  readonly messageId?: string;
  readonly receiveCount?: string;
  readonly arn?: string;
  readonly traceparent?: string;
}

/** An SQS record with that envelope in its body. */
export function recordOf(over: Partial<EnvelopeData> = {}, record: RecordOverrides = {}): SQSRecord {
  sent += 1;
  const frame = { id: `id-${sent}`, now: START, traceparent: record.traceparent };
  return rawRecord(encodeEnvelope(buildEnvelope(dataOf(over), frame)), record);
}

/** An SQS record with any body. */
export function rawRecord(body: string, { messageId, receiveCount = '1', arn = LIVE_ARN }: RecordOverrides = {}): SQSRecord {
  sent += 1;
  return {
    messageId: messageId ?? `message-${sent}`,
    receiptHandle: `handle-${sent}`,
    body,
    attributes: {
      ApproximateReceiveCount: receiveCount,
      SentTimestamp: String(START.getTime()),
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: String(START.getTime()),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: 'eu-central-1',
  };
}
