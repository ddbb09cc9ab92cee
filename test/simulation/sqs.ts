/**
 * SQS in virtual time: visibility, receive counts, delays, order of no kind, deliveries of one message to two, redrive. It loses
 * nothing.
 */
import type { OutgoingMessage, Queue, SendResult } from '../../functions/adapters/queue-port.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

export const QUEUE_URLS = {
  live: 'https://sqs.test/111122223333/dogwatch-live',
  bulk: 'https://sqs.test/111122223333/dogwatch-bulk',
  deadLetter: 'https://sqs.test/111122223333/dogwatch-dead-letters',
} as const;

/** The event source's settings that a deployment has: a message is hidden for 180 s, and received at most 5 times. */
const VISIBILITY_MS = 180_000;
const RECEIVE_MAX = 5;

export interface StoredMessage {
  readonly id: string;
  readonly queueUrl: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>> | undefined;
  visibleAtMs: number;
  receiveCount: number;
  /** It was handed out while somebody had it. */
  isDuplicated?: boolean;
}

/** One message as a worker gets it. */
export interface Received {
  readonly message: StoredMessage;
  /** What the record says, which is an approximation. */
  readonly receiveCount: number;
}

/** Where SQS has a choice. */
export interface SqsBehaviour {
  /** In how many milliseconds another worker may get the message too, while the first has it; undefined: not before its time. */
  duplicateAfterMs(): number | undefined;
  /** Whether a delivery beside another one says that it is the first. */
  forgetsCount(): boolean;
}

export class Sqs {
  behaviour: SqsBehaviour;
  readonly messages: StoredMessage[] = [];
  /** Told of each message that was accepted, with who sent it. */
  onAccept: (message: StoredMessage, delaySeconds: number, by: SimulatedProcess | undefined) => void = () => {};
  /** Called when SQS moves a message to the dead letters by itself. */
  onRedrive: (message: StoredMessage) => void = () => {};
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #trace: Trace;
  #arrival = Promise.withResolvers<void>();

  constructor(behaviour: SqsBehaviour, time: VirtualTime, random: Random, trace: Trace) {
    this.behaviour = behaviour;
    this.#time = time;
    this.#random = random;
    this.#trace = trace;
  }

  accept(queueUrl: string, { body, delaySeconds, attributes }: OutgoingMessage, by: SimulatedProcess | undefined): void {
    const message: StoredMessage = {
      ...{ id: `message-${this.#time.nextId()}`, queueUrl, body, attributes, receiveCount: 0 },
      visibleAtMs: this.#time.nowMs + delaySeconds * 1000,
    };
    this.messages.push(message);
    this.onAccept(message, delaySeconds, by);
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  /** In both work queues. */
  get workMessages(): readonly StoredMessage[] {
    return this.messages.filter(({ queueUrl }) => queueUrl !== QUEUE_URLS.deadLetter);
  }

  get letters(): readonly StoredMessage[] {
    return this.messages.filter(({ queueUrl }) => queueUrl === QUEUE_URLS.deadLetter);
  }

  /** Resolves when one of the work queues has something to receive. */
  async available(owner: object): Promise<void> {
    for (;;) {
      const times = this.workMessages.map(({ visibleAtMs }) => visibleAtMs);
      const nextMs = times.length === 0 ? Infinity : Math.min(...times);
      if (nextMs <= this.#time.nowMs) return;
      const alarm = new AbortController();
      const waits: Promise<void>[] = [this.#arrival.promise];
      if (nextMs !== Infinity) waits.push(this.#time.sleep(nextMs - this.#time.nowMs, owner, alarm.signal));
      await Promise.race(waits);
      alarm.abort();
    }
  }

  /** Some of the messages that are visible in one queue, in no order. */
  receive(queueUrl: string, max: number): Received[] {
    const { nowMs } = this.#time;
    const taken: Received[] = [];
    while (taken.length < max) {
      const visible = this.messages.filter((message) => message.queueUrl === queueUrl && message.visibleAtMs <= nowMs);
      if (visible.length === 0) break;
      const message = this.#random.pick(visible);
      if (message.receiveCount >= RECEIVE_MAX) {
        this.#redrive(message);
        continue;
      }
      taken.push(this.handOut(message));
    }
    return taken;
  }

  /** Gone, for whoever has it in hands too. */
  delete({ id }: StoredMessage): void {
    const at = this.messages.findIndex((message) => message.id === id);
    if (at >= 0) this.messages.splice(at, 1);
  }

  /** Everything in the work queues is lost: somebody purged them. */
  purge(): void {
    this.#trace.add('sqs', `is purged of ${this.workMessages.length} messages`);
    for (const message of this.workMessages) this.delete(message);
  }

  /** What an operator does once the trouble is over: all letters go back to work. */
  redriveLetters(): void {
    for (const { body, ...letter } of this.letters) {
      this.delete({ body, ...letter });
      this.#trace.add('sqs', `gives letter ${letter.id} back to the live queue`);
      this.accept(QUEUE_URLS.live, { body, delaySeconds: 0, groupId: 'east' }, undefined);
    }
  }

  clientOf(process: SimulatedProcess): Queue {
    return {
      send: async (queueUrl, messages, { signal } = {}) => {
        const send = (): SendResult[] =>
          messages.map((message) => {
            this.accept(queueUrl, message, process);
            return { kind: 'sent' };
          });
        try {
          return await process.call('queue', 'send', `${messages.length} to ${queueUrl.split('-').at(-1)}`, send, signal);
        } catch {
          return messages.map(() => ({ kind: 'retry', code: 'ServiceUnavailable' }));
        }
      },
      depth: (queueUrl, { signal } = {}) => {
        const count = (): number => this.messages.filter((message) => message.queueUrl === queueUrl).length;
        return process.call('queue', 'depth', '', count, signal).catch(() => undefined);
      },
    };
  }

  /** Gives the message to a worker, whoever has it already. */
  handOut(message: StoredMessage): Received {
    message.receiveCount += 1;
    const duplicateMs = this.behaviour.duplicateAfterMs();
    const isSecond = message.receiveCount > 1;
    message.visibleAtMs = this.#time.nowMs + (duplicateMs ?? VISIBILITY_MS);
    if (duplicateMs !== undefined) message.isDuplicated = true;
    if (duplicateMs !== undefined) this.#trace.add('sqs', `will deliver ${message.id} a second time in ${duplicateMs} ms`);
    return { message, receiveCount: isSecond && message.isDuplicated === true && this.behaviour.forgetsCount() ? 1 : message.receiveCount };
  }

  #redrive(message: StoredMessage): void {
    this.delete(message);
    this.#trace.add('sqs', `moves ${message.id} to the dead letters: received ${message.receiveCount} times`);
    this.messages.push({ ...message, queueUrl: QUEUE_URLS.deadLetter, receiveCount: 0 });
    this.onRedrive(message);
  }
}
