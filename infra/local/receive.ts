import { setTimeout as sleep } from 'node:timers/promises';
import { type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { ReceiveQuirks } from './local-queues.ts';

interface ReceiveRequest {
  /** 1 to 10. */
  readonly max: number;
  /** How long to wait for a first message: 0 to 20, whole seconds. */
  readonly waitSeconds: number;
  /** 0 to 43,200; default: the queue's. */
  readonly visibilitySeconds?: number;
}

export interface Receiver {
  /**
   * Messages as soon as there is one, or none after `waitSeconds`, with all attributes. An abort ends the wait within about a second and is no
   * error; the answer may still hold messages then, and they are the caller's to handle or to give back.
   *
   * @throws what the SDK throws
   */
  receive(request: ReceiveRequest, signal?: AbortSignal): Promise<Message[]>;
}

/**
 * One long poll at the endpoint. It is never aborted, for then the endpoint gives the next message to nobody and hides it until its
 * visibility ends: so it is kept short.
 */
const POLL_SECONDS = 1;
const SLEEP_MS = 50;

/** Receives from one queue of an endpoint, with its faults hidden. */
export function createReceiver(options: { client: SQSClient; queueUrl: string; quirks: ReceiveQuirks }): Receiver {
  const { client, queueUrl, quirks } = options;
  const poll = quirks === 'none' ? longPoll : shortPoll;
  return {
    async receive(request, signal) {
      checkBounds(request);
      const deadline = performance.now() + request.waitSeconds * 1000;
      for (;;) {
        const remainingMs = deadline - performance.now();
        const messages = await poll(client, queueUrl, request, remainingMs, signal);
        if (messages.length > 0 || remainingMs <= 0 || signal?.aborted === true) return messages;
      }
    },
  };
}

function checkBounds({ max, waitSeconds }: ReceiveRequest): void {
  if (!Number.isInteger(max) || max < 1 || max > 10) throw new RangeError('max is a whole number from 1 to 10');
  if (!Number.isInteger(waitSeconds) || waitSeconds < 0 || waitSeconds > 20)
    throw new RangeError('waitSeconds is a whole number from 0 to 20');
}

type Poll = (
  client: SQSClient,
  queueUrl: string,
  request: ReceiveRequest,
  remainingMs: number,
  signal: AbortSignal | undefined,
) => Promise<Message[]>;

const longPoll: Poll = async (client, queueUrl, request, remainingMs) => {
  const waitSeconds = remainingMs > 0 ? POLL_SECONDS : 0;
  const { Messages } = await client.send(new ReceiveMessageCommand(inputOf(queueUrl, request, waitSeconds)));
  return Messages ?? [];
};

/**
 * For local-aws-sqs 2.0.2: a long poll there sleeps its full time whatever arrives, system attributes come only by their old parameter name,
 * and a receive with visibility 0 returns one message several times over.
 */
const shortPoll: Poll = async (client, queueUrl, request, remainingMs, signal) => {
  const input = { ...inputOf(queueUrl, request, 0), AttributeNames: ['All' as const] };
  const { Messages } = await client.send(new ReceiveMessageCommand(input));
  const messages = newestOfEach(Messages ?? []);
  if (messages.length === 0 && remainingMs > 0 && signal?.aborted !== true) {
    await sleep(Math.min(SLEEP_MS, remainingMs), undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
  return messages;
};

function inputOf(queueUrl: string, request: ReceiveRequest, waitSeconds: number) {
  return {
    QueueUrl: queueUrl,
    MaxNumberOfMessages: request.max,
    WaitTimeSeconds: waitSeconds,
    MessageAttributeNames: ['All'],
    MessageSystemAttributeNames: ['All' as const],
    ...(request.visibilitySeconds === undefined ? {} : { VisibilityTimeout: request.visibilitySeconds }),
  };
}

/** The newest receipt handle of a message is the one that counts. */
function newestOfEach(messages: readonly Message[]): Message[] {
  return [...new Map(messages.map((message) => [message.MessageId, message])).values()];
}
