/** SQS in virtual time, as far as Dogwatch uses it: two work queues with delays, visibility and redrive, and the dead letters. It loses nothing. */
import type { SQSRecord } from 'aws-lambda';
import { decodeEnvelope, type EnvelopeData, type Lane } from '../../../events/envelope.ts';
import type { OutgoingMessage, Queue } from '../../../functions/adapters/queue-port.ts';
import type { DeadLetter, SentMessage } from './records.ts';
import type { VirtualClock } from './virtual-clock.ts';

const BASE = 'https://sqs.us-east-1.amazonaws.com/000000000000';
export const QUEUE_URLS = {
  live: `${BASE}/dogwatch-live`,
  bulk: `${BASE}/dogwatch-bulk`,
  deadLetter: `${BASE}/dogwatch-dead-letters`,
} as const;

/** As SQS moves a message by itself: README.md, Deploy. */
const RECEIVE_MAX = 5;
/** A visibility is six times the function's time-out. */
const VISIBILITY_FACTOR = 6;

/** A message that waits in a work queue. */
export interface WaitingMessage {
  readonly id: string;
  /** It was the so-manieth that was sent. */
  readonly number: number;
  readonly lane: Lane;
  readonly message: OutgoingMessage;
  /** Of an envelope of ours. */
  readonly data: EnvelopeData | undefined;
  visibleAtMs: number;
  receiveCount: number;
}

export class TestQueues {
  readonly sent: SentMessage[] = [];
  readonly letters: DeadLetter[] = [];
  readonly #waiting: WaitingMessage[] = [];
  readonly #clock: VirtualClock;
  readonly #visibilityMs: number;
  #count = 0;

  constructor(clock: VirtualClock, functionTimeoutSeconds: number) {
    this.#clock = clock;
    this.#visibilityMs = VISIBILITY_FACTOR * functionTimeoutSeconds * 1000;
  }

  /** Messages that work queues have taken. */
  get sentCount(): number {
    return this.#count;
  }

  /** In the work queues, those that are due first, first. */
  get waiting(): readonly WaitingMessage[] {
    return this.#waiting.toSorted((a, b) => a.visibleAtMs - b.visibleAtMs);
  }

  /** The queue as a process uses it. */
  clientOf(sender: SentMessage['sentBy']): Queue {
    return {
      send: async (queueUrl, messages) =>
        messages.map((message) => {
          this.#accept(queueUrl, message, sender);
          return { kind: 'sent' };
        }),
      depth: async () => this.#waiting.filter(({ lane, visibleAtMs }) => lane === 'bulk' && visibleAtMs <= this.#clock.nowMs).length,
    };
  }

  /** The next message that is due, hidden from others from now on; undefined where none is. What was received too often goes to the letters. */
  receive(): WaitingMessage | undefined {
    for (const message of this.waiting) {
      if (message.visibleAtMs > this.#clock.nowMs) return undefined;
      if (message.receiveCount >= RECEIVE_MAX) {
        this.delete(message);
        this.#addLetter(message.message);
        continue;
      }
      message.receiveCount += 1;
      message.visibleAtMs = this.#clock.nowMs + this.#visibilityMs;
      return message;
    }
    return undefined;
  }

  /** It was worked on. */
  delete(message: WaitingMessage): void {
    const at = this.#waiting.indexOf(message);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  #accept(queueUrl: string, message: OutgoingMessage, sentBy: SentMessage['sentBy']): void {
    if (queueUrl === QUEUE_URLS.deadLetter) {
      this.#addLetter(message);
      return;
    }
    const lane: Lane = queueUrl === QUEUE_URLS.bulk ? 'bulk' : 'live';
    const data = dataOf(message.body);
    this.#count += 1;
    const visibleAtMs = this.#clock.nowMs + message.delaySeconds * 1000;
    this.#waiting.push({ id: `message-${this.#count}`, number: this.#count, lane, message, data, visibleAtMs, receiveCount: 0 });
    if (data === undefined) return;
    const { cluster, kind, namespace, name, reason, attempt } = data;
    const place = { cluster, kind, ...(namespace === undefined ? {} : { namespace }), name };
    this.sent.push({ ...place, reason, lane, attempt, delaySeconds: message.delaySeconds, sentBy, sentAt: this.#clock.now(), data });
  }

  #addLetter({ body, attributes = {} }: OutgoingMessage): void {
    const data = dataOf(body);
    const { cluster = '', kind = '', namespace, name = '', diagnosis } = data ?? {};
    this.letters.push({
      ...{ cluster, kind, ...(namespace === undefined ? {} : { namespace }), name },
      code: diagnosis?.code ?? attributes['code'],
      message: diagnosis?.message ?? attributes['reason'],
      diagnosis,
      attributes,
      body,
    });
  }
}

/** The record in which Lambda would hand it to the function. */
export function recordOf({ id, lane, message, receiveCount }: WaitingMessage): SQSRecord {
  return {
    messageId: id,
    receiptHandle: `${id}-${receiveCount}`,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: '0',
      SenderId: 'bench',
      ApproximateFirstReceiveTimestamp: '0',
      MessageGroupId: message.groupId,
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${QUEUE_URLS[lane].split('/').at(-1)}`,
    awsRegion: 'us-east-1',
  };
}

/** What the envelope says; undefined for a body that is none of ours. */
export function dataOf(body: string): EnvelopeData | undefined {
  const decoded = decodeEnvelope(body);
  return decoded.kind === 'reconcile' ? decoded.envelope.data : undefined;
}
