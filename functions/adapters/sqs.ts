/**
 * The queue port on SQS. Loaded lazily, by `import('../adapters/sqs.ts')`: in the bundle it is a file of its own
 * (dist/sqs.cjs), because the SDK costs more to load than the whole rest of the function.
 *
 * Region, credentials and endpoint come from the usual AWS environment. What SQS or the network says is always a result of
 * each message and never an exception, so that a caller cannot lose the answer for those that were sent.
 */
import { GetQueueAttributesCommand, SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { ConfigError } from '../core/errors.ts';
import { checkAwsEndpoint, checkAwsRegion } from './aws/variables.ts';
import type { OutgoingMessage, Queue, SendResult } from './queue-port.ts';
import { ATTRIBUTE_TYPE, splitIntoBatches } from './sqs-batches.ts';
import { requestFailure, resultOfFailure } from './sqs-errors.ts';

/** Milliseconds to a connection, and to the end of an answer; attempts of the SDK within one send. */
const CONNECT_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
const SDK_ATTEMPTS = 3;
/** Milliseconds for an answer about a queue's depth, all attempts together. */
const DEPTH_TIMEOUT_MS = 5_000;

export interface QueueOptions {
  /** Default: AWS_REGION, then the shared configuration. */
  readonly region?: string;
  /** Default: AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL, then the host in the queue's URL. */
  readonly endpoint?: string;
}

export interface SqsClientOptions extends QueueOptions {
  /** To the end of one attempt's answer, in milliseconds; a long poll's wait counts. Default: 10,000. */
  readonly requestTimeoutMs?: number;
}

/**
 * A queue on SQS. Connections are kept between sends.
 *
 * @throws ConfigError `region-missing` where nobody names a region, and `aws-variable` for a variable that is none of what it has to be:
 *         the SDK would find that out at the first request
 */
export async function createQueue(options: QueueOptions = {}): Promise<Queue> {
  const client = await createSqsClient(options);
  return {
    async send(queueUrl, messages, { signal } = {}) {
      const results: SendResult[] = new Array(messages.length);
      for (const batch of splitIntoBatches(messages)) await sendBatch({ client, queueUrl, messages, results, signal }, batch);
      return results;
    },
    depth: (queueUrl, { signal } = {}) => readDepth(client, queueUrl, signal),
  };
}

/**
 * Messages that wait for a worker now; the SDK gives numbers as text. What is delayed does not count: the retries of one bad
 * cluster are put off for hours, and would stop the repairs of every other.
 */
async function readDepth(client: SQSClient, queueUrl: string, signal: AbortSignal | undefined): Promise<number | undefined> {
  const timeout = AbortSignal.timeout(DEPTH_TIMEOUT_MS);
  const abortSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const name = 'ApproximateNumberOfMessages';
  try {
    const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [name] });
    const { Attributes = {} } = await client.send(command, { abortSignal });
    const count = Number(Attributes[name]);
    return Number.isNaN(count) ? undefined : count;
  } catch {
    return undefined; // not allowed, not there, not reachable: a send says so better
  }
}

interface Send {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly messages: readonly OutgoingMessage[];
  /** Filled in place, by index of the message. */
  readonly results: SendResult[];
  readonly signal: AbortSignal | undefined;
}

/** Fills in the result of every message of the batch; splits a batch that is refused as a whole for its content. */
async function sendBatch(send: Send, batch: readonly number[]): Promise<void> {
  const { client, queueUrl, messages, results, signal } = send;
  const all = (result: SendResult): void => {
    for (const index of batch) results[index] = result;
  };
  if (signal?.aborted) return all({ kind: 'retry', code: 'aborted' });
  const entries = batch.map((index) => entryOf(String(index), messages[index] as OutgoingMessage));
  try {
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries });
    const { Successful = [], Failed = [] } = await client.send(command, signal === undefined ? {} : { abortSignal: signal });
    const answers = new Map<string | undefined, SendResult>(Successful.map(({ Id }) => [Id, { kind: 'sent' }]));
    for (const failure of Failed) answers.set(failure.Id, resultOfFailure(failure));
    for (const index of batch) results[index] = answers.get(String(index)) ?? { kind: 'retry', code: 'not-in-answer' };
  } catch (error) {
    if (signal?.aborted) return all({ kind: 'retry', code: 'aborted' });
    const failure = requestFailure(error);
    if (failure.kind === 'passing') return all({ kind: 'retry', code: failure.code });
    if (batch.length === 1) return all({ kind: 'refused', code: failure.code, message: failure.message });
    const half = Math.ceil(batch.length / 2);
    await sendBatch(send, batch.slice(0, half));
    await sendBatch(send, batch.slice(half));
  }
}

/** The delay is always given: left out, it would be the queue's own. */
function entryOf(id: string, message: OutgoingMessage): SendMessageBatchRequestEntry {
  const attributes = Object.entries(message.attributes ?? {}).map(([name, value]) => [
    name,
    { DataType: ATTRIBUTE_TYPE, StringValue: value },
  ]);
  return {
    Id: id,
    MessageBody: message.body,
    DelaySeconds: message.delaySeconds,
    MessageGroupId: message.groupId,
    ...(attributes.length === 0 ? {} : { MessageAttributes: Object.fromEntries(attributes) }),
  };
}

async function checkRegion(client: SQSClient): Promise<void> {
  try {
    await client.config.region();
  } catch (cause) {
    throw new ConfigError('region-missing', 'no AWS region is configured: set AWS_REGION', { cause });
  }
}

/**
 * A client of SQS for queues that are configured by their URLs.
 *
 * @throws ConfigError `region-missing`, `aws-variable`
 */
export async function createSqsClient(options: SqsClientOptions = {}): Promise<SQSClient> {
  const { region, endpoint, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  if (endpoint === undefined) checkAwsEndpoint('SQS');
  if (region === undefined) checkAwsRegion();
  const { AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL } = process.env;
  const client = new SQSClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    // Left alone, the SDK sends its first request to the queue URL's host and later ones to the endpoint of the environment,
    // where the two differ. A configured endpoint is meant: it decides. Without one, the queue's own host is right.
    useQueueUrlAsEndpoint: (endpoint ?? AWS_ENDPOINT_URL_SQS ?? AWS_ENDPOINT_URL) === undefined,
    maxAttempts: SDK_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true, // else the SDK only logs that the time is over, and waits on
      httpAgent: { keepAlive: true },
      httpsAgent: { keepAlive: true },
    },
  });
  await checkRegion(client);
  return client;
}
