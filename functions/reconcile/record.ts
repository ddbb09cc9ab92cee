/** One SQS record, read alone: whatever one body is, its neighbours in the batch are not touched by it. */
import type { SQSRecord } from 'aws-lambda';
import { decodeEnvelope, type Envelope, type Lane } from '../../events/envelope.ts';
import { decodeHeartbeat, HEARTBEAT_TYPE, type Heartbeat } from '../../events/heartbeat.ts';
import { type ClusterName, clusterName, isDnsLabel } from '../../events/resource.ts';
import { queueNameOf } from '../core/settings.ts';

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
 * - `heartbeat`: how the cells of a cluster were; it asks for nothing
 * - `newer`: a type of ours that this release does not know; `sentAt` (its CloudEvents time, in the future by
 *   {@link SKEW_MAX_MS} at most) stays the same however often it is sent again, and so does `cluster`, where it can be read
 * - `foreign`: anything else; `reason` says what is wrong without quoting the body
 */
export type ParsedRecord =
  | { readonly kind: 'reconcile'; readonly receipt: Receipt; readonly envelope: Envelope }
  | { readonly kind: 'heartbeat'; readonly receipt: Receipt; readonly heartbeat: Heartbeat }
  | {
      readonly kind: 'newer';
      readonly receipt: Receipt;
      readonly type: string;
      readonly sentAt: Date;
      readonly cluster: ClusterName | undefined;
    }
  | { readonly kind: 'foreign'; readonly receipt: Receipt; readonly reason: string };

export type WorkRecord = Extract<ParsedRecord, { kind: 'reconcile' }>;
export type HeartbeatRecord = Extract<ParsedRecord, { kind: 'heartbeat' }>;
export type NewerRecord = Extract<ParsedRecord, { kind: 'newer' }>;
export type ForeignRecord = Extract<ParsedRecord, { kind: 'foreign' }>;
export type QueueUrls = Readonly<Record<Lane, string>>;

/** How far the sender's clock may be ahead of ours, in milliseconds. */
const SKEW_MAX_MS = 5 * 60_000;

/** Never throws: every record is one of the kinds of {@link ParsedRecord}. */
export function parseRecord(record: SQSRecord, queueUrls: QueueUrls, now: Date): ParsedRecord {
  // Whoever invokes by hand may hand over anything.
  const { messageId, body: text, eventSourceARN: arn, attributes }: SQSRecord = Object(record);
  const body = typeof text === 'string' ? text : '';
  const receipt: Receipt = {
    messageId,
    body,
    lane: laneOf(typeof arn === 'string' ? arn : undefined, queueUrls),
    redelivered: attributes?.ApproximateReceiveCount !== '1',
  };
  const decoded = decodeEnvelope(body);
  switch (decoded.kind) {
    case 'reconcile':
      return { kind: 'reconcile', receipt, envelope: decoded.envelope };
    case 'newer':
      return decoded.type === HEARTBEAT_TYPE ? { receipt, ...decodeHeartbeat(body) } : readNewer(receipt, decoded.type, now);
    case 'foreign':
      return { kind: 'foreign', receipt, reason: decoded.reason };
  }
}

/**
 * What every version of our messages has in common, read without trust. A time is needed: without one the message would be of
 * age 0 at each sight, and be sent again for ever.
 */
function readNewer(receipt: Receipt, type: string, now: Date): ParsedRecord {
  const { time, data } = JSON.parse(receipt.body) as { time?: unknown; data?: { cluster?: unknown } | null };
  const sentAtMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (!(sentAtMs <= now.getTime() + SKEW_MAX_MS)) {
    return {
      kind: 'foreign',
      receipt,
      reason: 'CloudEvents type is one of a newer release, but its time is missing, unreadable or to come',
    };
  }
  const cluster = data?.cluster;
  return {
    kind: 'newer',
    receipt,
    type,
    sentAt: new Date(sentAtMs),
    cluster: typeof cluster === 'string' && isDnsLabel(cluster) ? clusterName(cluster) : undefined,
  };
}

/**
 * The lane of the queue that a record came from: the name in its ARN compared with the names in the queue URLs. A queue
 * that is neither (an invocation by hand, a queue renamed) counts as live.
 */
export function laneOf(eventSourceArn: string | undefined, queueUrls: QueueUrls): Lane {
  const name = eventSourceArn?.split(':').at(-1);
  return name === queueNameOf(queueUrls.bulk) && name !== queueNameOf(queueUrls.live) ? 'bulk' : 'live';
}
