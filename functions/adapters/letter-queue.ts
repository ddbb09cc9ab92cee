/** The dead-letter queue on SQS, for looking at letters and taking them off. Loaded by the commands that do so only. */
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
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
    release: (receiptHandles) => inTens(receiptHandles, hide(client, queueUrl, 0)),
    extend: (receiptHandles, visibilitySeconds) => inTens(receiptHandles, hide(client, queueUrl, visibilitySeconds)),
    remove: (receiptHandles) =>
      inTens(receiptHandles, (Entries) => client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }))),
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
  const others = Object.entries(MessageAttributes).flatMap(([name, { DataType: type = '', StringValue, BinaryValue }]) =>
    type === 'String' ? [] : [[name, { type, value: StringValue ?? Buffer.from(BinaryValue ?? []).toString('base64') }] as const],
  );
  const whole = (text: string | undefined): number | undefined => (text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : undefined);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Object.fromEntries(texts),
    ...(others.length === 0 ? {} : { otherAttributes: Object.fromEntries(others) }),
    system: Attributes,
    sentAtMs: whole(Attributes.SentTimestamp),
    receiveCount: whole(Attributes.ApproximateReceiveCount),
  };
}

interface Entry {
  readonly Id: string;
  readonly ReceiptHandle: string;
}

/** A request about at most ten letters. */
type Batch = (entries: Entry[]) => Promise<{ readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined }>;

function hide(client: SQSClient, queueUrl: string, visibilitySeconds: number): Batch {
  return (entries) => {
    const Entries = entries.map((entry) => ({ ...entry, VisibilityTimeout: visibilitySeconds }));
    return client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
  };
}

/** The places of those that no request did. */
async function inTens(receiptHandles: readonly string[], batch: Batch): Promise<number[]> {
  const left: number[] = [];
  for (let first = 0; first < receiptHandles.length; first += BATCH_MAX_COUNT) {
    const entries = receiptHandles
      .slice(first, first + BATCH_MAX_COUNT)
      .map((ReceiptHandle, at) => ({ Id: String(first + at), ReceiptHandle }));
    try {
      const { Successful = [] } = await batch(entries);
      const done = new Set(Successful.map(({ Id }) => Id));
      left.push(...entries.filter(({ Id }) => !done.has(Id)).map(({ Id }) => Number(Id)));
    } catch {
      left.push(...entries.map(({ Id }) => Number(Id))); // what is still there comes back by itself; the caller counts them
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
