/** A rule of SQS that we rely on, as a piece of code that any endpoint can be held against. */
import assert from 'node:assert/strict';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import type { OutgoingMessage, Queue } from '../../../functions/adapters/queue-port.ts';
import type { QueueSpec } from '../../../infra/local/local-queues.ts';

export interface QueueCase {
  /** A sentence about the endpoint; exceptions name the case by it. */
  readonly rule: string;
  /** Throws an AssertionError where the endpoint does not hold the rule. */
  run(bench: Bench): Promise<void>;
}

/** What a case works with. Every queue is new, so cases may run side by side. */
export interface Bench {
  readonly client: SQSClient;
  /** Our own adapter. */
  readonly queue: Queue;
  /** A new queue; `name` is only the beginning of its name. */
  makeQueue(spec?: Partial<QueueSpec>): Promise<TestQueue>;
}

export interface TestQueue {
  readonly name: string;
  readonly url: string;
  /** One receive through our receiver: up to ten messages, waiting `waitSeconds` (0) for a first one. */
  receive(waitSeconds?: number): Promise<Message[]>;
  /** Receives until `count` messages were there, or 5 s are over. */
  receiveAll(count: number): Promise<Message[]>;
}

export const message = (body: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  body,
  delaySeconds: 0,
  groupId: 'east',
  ...more,
});

/** Sends, and fails the case unless every message was accepted. */
export async function sendAll({ queue }: Bench, { url }: TestQueue, ...messages: OutgoingMessage[]): Promise<void> {
  const results = await queue.send(url, messages);
  assert.deepEqual(new Set(results.map(({ kind }) => kind)), new Set(['sent']), JSON.stringify(results));
}

/** The only message, received within 5 s. */
export async function receiveOne(from: TestQueue): Promise<Message> {
  const messages = await from.receiveAll(1);
  assert.equal(messages.length, 1);
  return messages[0] as Message;
}
