/** What SQS does around a harness, in virtual time: each message comes when its delay is over, and again where its record failed. */
import { decodeEnvelope, type EnvelopeData } from '../../../events/envelope.ts';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';
import { RETRY, SENT } from '../../fakes/queue.ts';
import type { Harness } from './harness.ts';
import { BULK_ARN, DEAD_LETTER_QUEUE_URL, LIVE_ARN, QUEUE_URLS, rawRecord, START } from './records.ts';

const VISIBILITY_MS = 30_000;

interface Pending {
  readonly dueMs: number;
  readonly body: string;
  readonly arn: string;
  readonly messageId: string;
  readonly receiveCount: number;
  readonly data: EnvelopeData;
}

/** The time `seconds` after the start, as a status and a message have it. */
export const at = (seconds: number): string => new Date(START.getTime() + seconds * 1000).toISOString().replace('.000Z', 'Z');

/** How each run of these log lines ended. */
export const branches = (lines: readonly object[]) => lines.map((line) => (line as { branch?: unknown }).branch);

export class Deliveries {
  /** Messages that SQS holds, in the order of their times. */
  readonly pending: Pending[] = [];
  /** Whether SQS takes a message; tests replace it. */
  isTaken: (data: EnvelopeData) => boolean = () => true;
  readonly #harness: Harness;
  #taken = 0;

  constructor(harness: Harness) {
    this.#harness = harness;
    harness.queue.answer = (message, { queueUrl }) => {
      const decoded = decodeEnvelope(message.body);
      if (decoded.kind !== 'reconcile') throw new Error('not an envelope');
      const { data } = decoded.envelope;
      if (!this.isTaken(data)) return RETRY;
      if (queueUrl === DEAD_LETTER_QUEUE_URL) return SENT;
      this.#taken += 1;
      const messageId = `sent-${this.#taken}`;
      const arn = queueUrl === QUEUE_URLS.bulk ? BULK_ARN : LIVE_ARN;
      this.#add({ dueMs: this.#nowMs() + message.delaySeconds * 1000, body: message.body, arn, messageId, receiveCount: 1, data });
      return SENT;
    };
  }

  /** `notBefore` of every wake-up that SQS holds: one for each chain. */
  chains(): (string | undefined)[] {
    return this.pending.filter(({ data }) => data.reason === 'requeue').map(({ data }) => data.notBefore);
  }

  /** Delivers whatever comes due in the next `seconds`; the lines of its runs. */
  async pass(seconds: number): Promise<LogFields[]> {
    const { lines, clock } = this.#harness;
    const from = lines.length;
    const endMs = this.#nowMs() + seconds * 1000;
    while ((this.pending[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= endMs) await this.next();
    await clock.advance(Math.max(0, endMs - this.#nowMs()));
    return lines.slice(from).flatMap(({ message, fields }) => (message === 'record processed' ? [fields] : []));
  }

  /** Delivers the message that comes due next. */
  async next(): Promise<void> {
    const next = this.pending.shift();
    if (next === undefined) throw new Error('SQS holds nothing');
    await this.#harness.clock.advance(Math.max(0, next.dueMs - this.#nowMs()));
    const { body, arn, messageId, receiveCount } = next;
    const failed = await this.#harness.invoke(rawRecord(body, { arn, messageId, receiveCount: String(receiveCount) }));
    if (failed.length > 0) this.#add({ ...next, receiveCount: receiveCount + 1, dueMs: this.#nowMs() + VISIBILITY_MS });
  }

  #add(one: Pending): void {
    this.pending.push(one);
    this.pending.sort((a, b) => a.dueMs - b.dueMs);
  }

  #nowMs(): number {
    return this.#harness.clock.now().getTime();
  }
}
