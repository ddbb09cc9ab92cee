/** Event sources between the queues of local-aws-sqs and a function, for tests. */
import assert from 'node:assert/strict';
import {
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import type { Clock } from '../../../functions/adapters/clock.ts';
import type { Log, LogFields } from '../../../functions/adapters/telemetry.ts';
import {
  createEventSource,
  type EventFunction,
  type EventSource,
  type EventSourceOptions,
} from '../../../infra/local/event-source/event-source.ts';
import type { InvocationResult } from '../../../infra/local/function-host/invocation.ts';
import { createLocalClient, type LocalQueues, type QueueSpec } from '../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';
import { createReceiver, type Receiver } from '../../../infra/local/receive.ts';

export interface LogLine {
  readonly message: string;
  readonly fields: LogFields;
}

export interface Run {
  readonly source: EventSource;
  readonly lines: LogLine[];
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly maximumConcurrency?: number;
  readonly batchSize?: number;
  readonly windowSeconds?: number;
  readonly receiver?: Receiver;
  readonly clock?: Clock;
  readonly onBatch?: NonNullable<EventSourceOptions['onBatch']>;
}

export interface Scene {
  readonly queues: LocalQueues;
  readonly client: SQSClient;
  /** Feeds a function from a queue until it is stopped. */
  run(queue: string, pool: EventFunction, options?: RunOptions): Run;
  send(queue: string, bodies: readonly string[]): Promise<void>;
  /** Messages that are visible or in flight: this endpoint counts these among the visible, unlike SQS. */
  depth(queue: string): Promise<number>;
  inFlight(queue: string): Promise<number>;
  /** Up to ten that are visible now. */
  receive(queue: string): Promise<Message[]>;
  stop(): Promise<void>;
}

export async function startScene(specs: readonly QueueSpec[]): Promise<Scene> {
  const queues = await startLocalQueues({ queues: specs });
  const client = createLocalClient(queues.endpoint);
  async function count(queue: string, name: 'ApproximateNumberOfMessages' | 'ApproximateNumberOfMessagesNotVisible'): Promise<number> {
    const command = new GetQueueAttributesCommand({ QueueUrl: queues.queueUrl(queue), AttributeNames: [name] });
    return Number((await client.send(command)).Attributes?.[name]);
  }
  return {
    queues,
    client,
    run(queue, pool, options = {}) {
      const queueUrl = queues.queueUrl(queue);
      const lines: LogLine[] = [];
      const write = (message: string, fields: LogFields = {}): unknown => lines.push({ message, fields });
      const log: Log = { debug: write, info: write, warn: write, error: write };
      const receiver = options.receiver ?? createReceiver({ client, queueUrl, quirks: queues.quirks });
      const source = createEventSource({
        ...{ maximumConcurrency: 2, ...options },
        ...{ client, queueUrl, queueArn: `arn:aws:sqs:eu-west-1:000000000000:${queue}`, receiver, pool, log },
      });
      const end = new AbortController();
      const done = source.check(end.signal).then(() => source.run(end.signal));
      done.catch(() => undefined); // looked at by the test
      const stop = (): Promise<void> => {
        end.abort();
        return done;
      };
      return { source, lines, done, stop };
    },
    async send(queue, bodies) {
      for (let first = 0; first < bodies.length; first += 10) {
        const Entries = bodies.slice(first, first + 10).map((MessageBody, index) => ({ Id: `e${index}`, MessageBody }));
        await client.send(new SendMessageBatchCommand({ QueueUrl: queues.queueUrl(queue), Entries }));
      }
    },
    depth: (queue) => count(queue, 'ApproximateNumberOfMessages'),
    inFlight: (queue) => count(queue, 'ApproximateNumberOfMessagesNotVisible'),
    async receive(queue) {
      const command = { QueueUrl: queues.queueUrl(queue), MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
      return (await client.send(new ReceiveMessageCommand(command))).Messages ?? [];
    },
    async stop() {
      client.destroy();
      await queues.stop();
    },
  };
}

/** A function of this process; keeps every event it got. */
export function functionOf(
  invoke: (event: SQSEvent) => InvocationResult | Promise<InvocationResult>,
  timeoutMs = 1_000,
): EventFunction & { readonly events: SQSEvent[] } {
  const events: SQSEvent[] = [];
  return {
    timeoutMs,
    events,
    async invoke(event) {
      events.push(event);
      return invoke(event);
    },
  };
}

export const answer = (payload: unknown): InvocationResult => ({
  kind: 'answer',
  payload,
  requestId: 'r',
  coldStart: false,
  initMs: undefined,
  durationMs: 1,
});

/** Hands out what was given, a poll each, and then nothing until the signal. */
export function receiverOf(polls: readonly (readonly Message[])[]): Receiver {
  const left = polls.map((messages) => [...messages]);
  return {
    async receive(_, signal) {
      const next = left.shift();
      if (next !== undefined) return next;
      if (signal?.aborted !== true) await new Promise((done) => signal?.addEventListener('abort', done));
      return [];
    },
  };
}

/** Looks every 10 ms; fails after 10 s. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 10_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < endMs, `it did not become so within 10 s: ${isSo}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}
