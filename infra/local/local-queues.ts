import { CreateQueueCommand, GetQueueAttributesCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';

export interface QueueSpec {
  readonly name: string;
  /** Default: 30, as SQS. */
  readonly visibilitySeconds?: number;
  /** Default: 0. */
  readonly delaySeconds?: number;
  /** Where a message goes that was received more than `maxReceiveCount` times; a queue of the same list. */
  readonly deadLetter?: { readonly name: string; readonly maxReceiveCount: number };
}

/**
 * What a local endpoint of SQS gets wrong in receiving, named after it; `none`: nothing that would matter here.
 * @see createReceiver
 */
export type ReceiveQuirks = 'none' | 'local-aws-sqs';

/** SQS on this machine, whichever program it is. */
export interface LocalQueues {
  /** For `AWS_ENDPOINT_URL_SQS`. */
  readonly endpoint: string;
  readonly quirks: ReceiveQuirks;
  /** @throws Error for a queue that was not asked for */
  queueUrl(name: string): string;
  /** Ends it, and with it every message. */
  stop(): Promise<void>;
}

/** What an AWS SDK needs to talk to a local endpoint, as environment variables. The credentials are dummies. */
export function localAwsEnv(endpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL_SQS: endpoint,
    AWS_REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

export const AWS_REGION = 'us-east-1';
export const ACCOUNT_ID = '000000000000';
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** A client for a local endpoint, whatever this process's environment says. Destroy it after use. */
export function createLocalClient(endpoint: string): SQSClient {
  return new SQSClient({ endpoint, region: AWS_REGION, credentials });
}

/**
 * Creates the queues through the API, in any order of `specs`, and returns the function that knows their URLs.
 *
 * @throws Error when a dead-letter queue is not in the list, or for the answer of SQS
 */
export async function createQueues(endpoint: string, specs: readonly QueueSpec[]): Promise<(name: string) => string> {
  const client = createLocalClient(endpoint);
  const urls = new Map<string, string>();
  const queueUrl = (name: string): string => {
    const url = urls.get(name);
    if (url === undefined) throw new Error(`no queue ${name} at ${endpoint}; there are: ${[...urls.keys()].join(', ')}`);
    return url;
  };
  try {
    for (const spec of specs) {
      const Attributes = { VisibilityTimeout: String(spec.visibilitySeconds ?? 30), DelaySeconds: String(spec.delaySeconds ?? 0) };
      const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: spec.name, Attributes }));
      if (QueueUrl === undefined) throw new Error(`${endpoint} gave no URL for queue ${spec.name}`);
      urls.set(spec.name, QueueUrl);
    }
    for (const { name, deadLetter } of specs) {
      if (deadLetter !== undefined) await setRedrive(client, queueUrl(name), queueUrl(deadLetter.name), deadLetter.maxReceiveCount);
    }
  } finally {
    client.destroy();
  }
  return queueUrl;
}

async function setRedrive(client: SQSClient, source: string, target: string, maxReceiveCount: number): Promise<void> {
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: target, AttributeNames: ['QueueArn'] }));
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes?.['QueueArn'], maxReceiveCount });
  await client.send(new SetQueueAttributesCommand({ QueueUrl: source, Attributes: { RedrivePolicy } }));
}
