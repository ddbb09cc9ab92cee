/** SQS at the port: keeps what was sent, and answers each message as a test says. */
import { decodeEnvelope, type Envelope } from '../../events/envelope.ts';
import type { OutgoingMessage, Queue, SendResult } from '../../functions/adapters/queue-port.ts';

export const SENT: SendResult = { kind: 'sent' };
export const RETRY: SendResult = { kind: 'retry', code: 'ThrottlingException' };
export const REFUSED: SendResult = {
  kind: 'refused',
  code: 'InvalidMessageContents',
  message: 'the message holds characters that SQS refuses',
};

/** One call of `send`. */
export interface QueueCall {
  readonly queueUrl: string;
  readonly messages: readonly OutgoingMessage[];
}

/** One message that SQS took. */
export interface AcceptedMessage {
  readonly queueUrl: string;
  readonly message: OutgoingMessage;
}

/** Where a message stands: which call (0 is the first), its place in it, and the queue. */
export interface MessagePlace {
  readonly queueUrl: string;
  readonly call: number;
  readonly index: number;
}

export class FakeQueue implements Queue {
  /** Every call, in order, whatever came of it. */
  readonly calls: QueueCall[] = [];
  /** What was accepted, in order. */
  readonly accepted: AcceptedMessage[] = [];
  /** The most calls ever under way at once; a test may set it back. */
  maxConcurrency = 0;
  /** What becomes of a message; undefined: the answer does not mention it. What it throws, the call throws. */
  answer: (message: OutgoingMessage, place: MessagePlace) => SendResult | undefined = () => SENT;
  /** What it says of the depth of a queue; undefined: nothing. */
  level: (queueUrl: string) => number | undefined = () => 0;
  /** How often it was asked for the depth of a queue. */
  depthCount = 0;
  #underWay = 0;
  #held: PromiseWithResolvers<void> | undefined;
  #isDepthHeld = false;

  /** Calls wait, without an answer, until {@link release}. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /** The accepted envelopes, of one queue or of all. */
  envelopes(queueUrl?: string): Envelope[] {
    return this.accepted.filter((one) => queueUrl === undefined || one.queueUrl === queueUrl).map((one) => envelopeOf(one.message));
  }

  /** From now on nobody answers for the depth of a queue, until the signal of the question aborts. */
  holdDepth(): void {
    this.#isDepthHeld = true;
  }

  async depth(queueUrl: string, options: { readonly signal?: AbortSignal } = {}): Promise<number | undefined> {
    this.depthCount += 1;
    if (!this.#isDepthHeld) return this.level(queueUrl);
    await aborted(options.signal);
    return undefined;
  }

  async send(
    queueUrl: string,
    messages: readonly OutgoingMessage[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<SendResult[]> {
    const call = this.calls.push({ queueUrl, messages }) - 1;
    this.#underWay += 1;
    this.maxConcurrency = Math.max(this.maxConcurrency, this.#underWay);
    try {
      if (this.#held !== undefined) await Promise.race([this.#held.promise, aborted(options.signal)]);
      if (options.signal?.aborted) return messages.map(() => ({ kind: 'retry', code: 'AbortError' }));
      return messages.map((message, index) => {
        const result = this.answer(message, { queueUrl, call, index }) ?? { kind: 'retry', code: 'not-in-answer' };
        if (result.kind === 'sent') this.accepted.push({ queueUrl, message });
        return result;
      });
    } finally {
      this.#underWay -= 1;
    }
  }
}

/** The envelope in a message. @throws Error if it is none of ours */
export function envelopeOf(message: OutgoingMessage): Envelope {
  const decoded = decodeEnvelope(message.body);
  if (decoded.kind !== 'reconcile') throw new Error(`not an envelope: ${decoded.kind === 'foreign' ? decoded.reason : decoded.type}`);
  return decoded.envelope;
}

/** Resolves when the signal aborts; never without one. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
}
