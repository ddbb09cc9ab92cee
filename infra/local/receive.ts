import { setTimeout as sleep } from 'node:timers/promises';
import { type Message, ReceiveMessageCommand, type ReceiveMessageCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import { TransientError } from '../../functions/core/errors.ts';
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
   * @throws what the SDK throws; TransientError `poll-timeout` when the endpoint hangs
   */
  receive(request: ReceiveRequest, signal?: AbortSignal): Promise<Message[]>;
}

/**
 * One long poll at the endpoint. It is not aborted while it may still be answered, for then the endpoint gives the next message to nobody and hides it until its
 * visibility ends: so it is kept short.
 */
const POLL_SECONDS = 1;
const SLEEP_MS = 50;
/** All attempts of a poll together. An endpoint that has not answered by then hangs, or is out of reach. */
const POLL_LIMIT_MS = 6_000;

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
  return await pollOnce(client, inputOf(queueUrl, request, waitSeconds));
};

/**
 * For local-aws-sqs 2.0.2: a long poll there sleeps its full time whatever arrives, system attributes come only by their old parameter name,
 * and a receive with visibility 0 returns one message several times over.
 */
const shortPoll: Poll = async (client, queueUrl, request, remainingMs, signal) => {
  const input = { ...inputOf(queueUrl, request, 0), AttributeNames: ['All' as const] };
  const messages = newestOfEach(await pollOnce(client, input));
  if (messages.length === 0 && remainingMs > 0 && signal?.aborted !== true) {
    await sleep(Math.min(SLEEP_MS, remainingMs), undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
  return messages;
};

async function pollOnce(client: SQSClient, input: ReceiveMessageCommandInput): Promise<Message[]> {
  const limit = AbortSignal.timeout(POLL_LIMIT_MS);
  try {
    const { Messages } = await client.send(new ReceiveMessageCommand(input), { abortSignal: limit });
    return Messages ?? [];
  } catch (cause) {
    if (!limit.aborted) throw cause;
    throw new TransientError('poll-timeout', `the queue did not answer a poll within ${POLL_LIMIT_MS / 1000} s`, { cause });
  }
}

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
