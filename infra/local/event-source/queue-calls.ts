/** What the mapping asks of SQS besides messages: whether the queue suits the function, and that records are gone. */
import { DeleteMessageBatchCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import type { ReceiveQuirks } from '../local-queues.ts';

const LOCAL_AWS_SQS: ReceiveQuirks = 'local-aws-sqs';

/** The most entries of a batch call of SQS. */
const ENTRIES_MAX = 10;

export interface QueueOf {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly log: Log;
}

/**
 * The queue's ARN, and what its endpoint gets wrong in receiving: an endpoint of ours says in its header Server what it is.
 *
 * @throws ConfigError `queue-unreachable` where it does not answer, or refuses
 */
export async function describeQueue(
  client: SQSClient,
  queueUrl: string,
): Promise<{ readonly arn: string; readonly quirks: ReceiveQuirks }> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] });
  let program: string | undefined;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      program = (result.response as { readonly headers?: Readonly<Record<string, string>> }).headers?.['server'];
      return result;
    },
    { step: 'deserialize' },
  );
  try {
    const { Attributes } = await client.send(command);
    return { arn: Attributes?.['QueueArn'] ?? '', quirks: program === LOCAL_AWS_SQS ? LOCAL_AWS_SQS : 'none' };
  } catch (error) {
    const why = error instanceof Error ? error.name : String(error);
    throw new ConfigError(
      'queue-unreachable',
      `queue ${queueUrl} does not answer (${why}): check its URL, AWS_ENDPOINT_URL_SQS and AWS credentials`,
      { cause: error },
    );
  }
}

/**
 * Compares the queue's visibility with what a batch takes. A window that does not fit in, Lambda accepts: that is only logged.
 *
 * @throws ConfigError `visibility-too-short` where Lambda would refuse the mapping
 */
export async function checkVisibility({ client, queueUrl, log }: QueueOf, timeoutMs: number, windowSeconds: number): Promise<void> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['VisibilityTimeout'] });
  const visibilitySeconds = Number((await client.send(command)).Attributes?.['VisibilityTimeout']);
  const timeoutSeconds = timeoutMs / 1000;
  if (visibilitySeconds < timeoutSeconds)
    throw new ConfigError(
      'visibility-too-short',
      `visibility of ${queueUrl} is ${visibilitySeconds} s, below the function's time-out of ${timeoutSeconds} s; set it to six times that`,
      { facts: { queueUrl, visibilitySeconds, timeoutSeconds } },
    );
  if (visibilitySeconds < timeoutSeconds + windowSeconds)
    log.warn(
      'visibility is shorter than window and time-out: messages come again while they are handled; set six time-outs and the window',
      {
        ...{ queueUrl, visibilitySeconds, timeoutSeconds, windowSeconds },
      },
    );
}

/** What cannot be deleted comes again, as it may on AWS: the function is made for that. It is logged. */
export async function deleteRecords(queue: QueueOf, records: readonly SQSRecord[]): Promise<void> {
  for (let first = 0; first < records.length; first += ENTRIES_MAX) await deleteTen(queue, records.slice(first, first + ENTRIES_MAX));
}

async function deleteTen({ client, queueUrl, log }: QueueOf, records: readonly SQSRecord[]): Promise<void> {
  const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  try {
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    for (const { Id, Code, Message: text } of Failed) {
      const messageId = records[Number(Id)]?.messageId;
      log.error('message was not deleted; it comes again', { queueUrl, messageId, code: Code, error: cutText(text ?? '') });
    }
  } catch (error) {
    log.error('messages were not deleted; they come again', { queueUrl, records: records.length, ...factsOf(error) });
  }
}

/** An error of a call, for a log line. Named so that none is the log's own `message`. */
export function factsOf(error: unknown): { readonly code: string; readonly error: string } {
  if (!(error instanceof Error)) return { code: 'unknown', error: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, error: cutText(error.message) };
}
