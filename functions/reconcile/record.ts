/** One SQS record, read alone: whatever one body is, its neighbours in the batch are not touched by it. */
import type { SQSRecord } from 'aws-lambda';
import { decodeEnvelope, type Envelope, type Lane } from '../../events/envelope.ts';
import { type ClusterName, clusterName, isDnsLabel } from '../../events/resource.ts';

/** What we need of a record besides what its body says. */
interface Receipt {
  readonly messageId: string;
  readonly body: string;
  /** The queue it came from, so the queue that its re-send goes to. */
  readonly lane: Lane;
  /** Anything but a receive count of exactly 1: what happened to the run before is not known, so nothing may rest on it. */
  readonly redelivered: boolean;
}

/**
 * A record as understood.
 * - `reconcile`: an envelope of ours
 * - `newer`: a type of ours that this release does not know; `sentAt` (its CloudEvents time) and `cluster`, where they can be
 *   read, stay the same however often it is sent again
 * - `foreign`: anything else; `reason` says what is wrong without quoting the body
 */
export type ParsedRecord =
  | { readonly kind: 'reconcile'; readonly receipt: Receipt; readonly envelope: Envelope }
  | {
      readonly kind: 'newer';
      readonly receipt: Receipt;
      readonly type: string;
      readonly sentAt: Date | undefined;
      readonly cluster: ClusterName | undefined;
    }
  | { readonly kind: 'foreign'; readonly receipt: Receipt; readonly reason: string };

export type WorkRecord = Extract<ParsedRecord, { kind: 'reconcile' }>;
export type NewerRecord = Extract<ParsedRecord, { kind: 'newer' }>;
export type ForeignRecord = Extract<ParsedRecord, { kind: 'foreign' }>;
export type QueueUrls = Readonly<Record<Lane, string>>;

/** Never throws: every record is one of the three kinds of {@link ParsedRecord}. */
export function parseRecord(record: SQSRecord, queueUrls: QueueUrls): ParsedRecord {
  const body = typeof record.body === 'string' ? record.body : '';
  const receipt: Receipt = {
    messageId: record.messageId,
    body,
    lane: laneOf(record.eventSourceARN, queueUrls),
    redelivered: record.attributes?.ApproximateReceiveCount !== '1',
  };
  const decoded = decodeEnvelope(body);
  switch (decoded.kind) {
    case 'reconcile':
      return { kind: 'reconcile', receipt, envelope: decoded.envelope };
    case 'newer':
      return { kind: 'newer', receipt, type: decoded.type, ...readNewer(body) };
    case 'foreign':
      return { kind: 'foreign', receipt, reason: decoded.reason };
  }
}

/** What every version of our messages has in common, read without trust. */
function readNewer(body: string): Pick<NewerRecord, 'sentAt' | 'cluster'> {
  const { time, data } = JSON.parse(body) as { time?: unknown; data?: { cluster?: unknown } | null };
  const sentAt = typeof time === 'string' ? new Date(time) : undefined;
  const cluster = data?.cluster;
  return {
    sentAt: sentAt === undefined || Number.isNaN(sentAt.getTime()) ? undefined : sentAt,
    cluster: typeof cluster === 'string' && isDnsLabel(cluster) ? clusterName(cluster) : undefined,
  };
}

/**
 * The lane of the queue that a record came from: the name in its ARN compared with the names in the queue URLs. A queue
 * that is neither (an invocation by hand, a queue renamed) counts as live.
 */
export function laneOf(eventSourceArn: string | undefined, queueUrls: QueueUrls): Lane {
  const name = eventSourceArn?.split(':').at(-1);
  return name === queueUrls.bulk.split('/').at(-1) && name !== queueUrls.live.split('/').at(-1) ? 'bulk' : 'live';
}
