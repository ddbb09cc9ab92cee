/** The dead-letter queue on SQS, for looking at letters. Loaded by the commands that do so only. */
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  ListDeadLetterSourceQueuesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { awsCodeOf, isDenied, isThrottling } from '../core/aws-errors.ts';
import { ConfigError, cutText, TransientError } from '../core/errors.ts';
import type { LetterQueue, QueueDescription, ReceivedLetter } from './letter-queue-port.ts';
import { createSqsClient, type QueueOptions } from './sqs.ts';
import { BATCH_MAX_COUNT } from './sqs-batches.ts';

/** The queue with this URL; nothing is sent yet. @throws ConfigError `region-missing` */
export async function openLetterQueue(queueUrl: string, options: QueueOptions = {}): Promise<LetterQueue> {
  const client = await createSqsClient(options);
  const call = async <Answer>(what: string, answer: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await answer();
    } catch (error) {
      throw faultOf(what, queueUrl, error);
    }
  };
  return {
    describe: () => call('its attributes', () => describe(client, queueUrl)),
    receive: ({ visibilitySeconds, waitSeconds }) =>
      call('letters', async () => {
        const command = new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: BATCH_MAX_COUNT,
          VisibilityTimeout: visibilitySeconds,
          WaitTimeSeconds: waitSeconds,
          MessageAttributeNames: ['All'],
          // By the parameter's older name, which SQS keeps and every implementation of it knows.
          AttributeNames: ['All'],
        });
        const { Messages = [] } = await client.send(command);
        return Messages.map(letterOf);
      }),
    release: (receiptHandles) => release(client, queueUrl, receiptHandles),
    close: () => client.destroy(),
  };
}

async function describe(client: SQSClient, queueUrl: string): Promise<QueueDescription> {
  const answer = await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }));
  const Attributes: Readonly<Record<string, string | undefined>> = answer.Attributes ?? {};
  const count = (name: string): number => Number(Attributes[name] ?? 0);
  return {
    url: queueUrl,
    arn: Attributes['QueueArn'] ?? '',
    retentionSeconds: count('MessageRetentionPeriod') || undefined,
    depth: {
      visible: count('ApproximateNumberOfMessages'),
      hidden: count('ApproximateNumberOfMessagesNotVisible'),
      delayed: count('ApproximateNumberOfMessagesDelayed'),
    },
    redriveTargetArn: redriveTarget(Attributes['RedrivePolicy']),
    sourceUrls: await sourcesOf(client, queueUrl),
  };
}

function redriveTarget(policy: string | undefined): string | undefined {
  if (policy === undefined || policy === '') return undefined;
  const { deadLetterTargetArn } = JSON.parse(policy) as { deadLetterTargetArn?: unknown };
  return deadLetterTargetArn === undefined ? undefined : String(deadLetterTargetArn);
}

async function sourcesOf(client: SQSClient, queueUrl: string): Promise<readonly string[] | undefined> {
  const urls: string[] = [];
  let NextToken: string | undefined;
  try {
    do {
      const page = await client.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: queueUrl, ...(NextToken ? { NextToken } : {}) }));
      urls.push(...(page.queueUrls ?? []));
      NextToken = page.NextToken;
    } while (NextToken);
  } catch (error) {
    if (isDenied(awsCodeOf(error))) return undefined; // a right of its own, which a person on call may lack
    throw error;
  }
  return urls;
}

function letterOf({ MessageId = '', ReceiptHandle = '', Body = '', MessageAttributes = {}, Attributes = {} }: Message): ReceivedLetter {
  const texts = Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue] as const);
  const whole = (text: string | undefined): number | undefined => (text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : undefined);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Object.fromEntries(texts),
    sentAtMs: whole(Attributes.SentTimestamp),
    receiveCount: whole(Attributes.ApproximateReceiveCount),
  };
}

async function release(client: SQSClient, queueUrl: string, receiptHandles: readonly string[]): Promise<number[]> {
  const left: number[] = [];
  for (let first = 0; first < receiptHandles.length; first += BATCH_MAX_COUNT) {
    const ten = receiptHandles.slice(first, first + BATCH_MAX_COUNT);
    const Entries = ten.map((ReceiptHandle, at) => ({ Id: String(first + at), ReceiptHandle, VisibilityTimeout: 0 }));
    try {
      const { Successful = [] } = await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
      const done = new Set(Successful.map(({ Id }) => Id));
      left.push(...Entries.filter(({ Id }) => !done.has(Id)).map(({ Id }) => Number(Id)));
    } catch {
      left.push(...ten.map((_, at) => first + at)); // they come back by themselves; the caller counts them
    }
  }
  return left;
}

function faultOf(what: string, queueUrl: string, error: unknown): Error {
  if (error instanceof ConfigError) return error;
  const code = awsCodeOf(error);
  const options = { cause: error, facts: { code } };
  if (code === 'QueueDoesNotExist')
    return new ConfigError('queue-missing', `there is no queue ${queueUrl}; look at its name, account and region`, options);
  if (code === 'OverLimit') return new TransientError('in-flight-limit', 'SQS hides no more letters of this queue at once', options);
  if (isThrottling(code)) return new TransientError('throttled', `SQS throttles us; ask ${queueUrl} for ${what} again in a while`, options);
  if (isDenied(code))
    return new ConfigError(
      'aws-refused',
      `SQS refuses ${what} of ${queueUrl} (${code}); look at the AWS credentials and their rights`,
      options,
    );
  const says = error instanceof Error ? cutText((error.message || code).replace(/\s+/g, ' ')) : '';
  return new TransientError(
    'queue-unreachable',
    `SQS does not give ${what} of ${queueUrl} (${code}: ${says}); look at the URL and AWS_ENDPOINT_URL_SQS`,
    {
      cause: error,
    },
  );
}
