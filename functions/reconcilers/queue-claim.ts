/**
 * QueueClaim: an SQS queue for whoever asks, as long as the claim lives.
 *
 * Read it as the example of effects outside of the cluster, which the framework neither sees nor undoes:
 * - the name is made from the uid, so that every run means the same queue and another object of the same name another one;
 * - it looks before it creates, trusts no status, and comes to the same end from wherever an earlier run was cut off;
 * - `finalize` undoes by key and uid alone, and what is not there counts as undone. It runs once more after the object is gone, when
 *   every run that saw it alive is over, so nothing that a late one made stays behind.
 *
 * Nothing watches SQS: what somebody changes there by hand is mended by the next run, at the latest by the resync.
 */
import * as z from 'zod';
import { formatResourceKey } from '../../events/resource.ts';
import { TransientError } from '../core/errors.ts';
import { defineReconciler } from '../core/reconciler.ts';
import { defineResource } from '../core/resource-definition.ts';
import { type CallOptions, CLIENT_LIMITS, callAws } from './aws-calls.ts';

const queueClaimResource = defineResource({
  group: 'platform.example',
  version: 'v1',
  kind: 'QueueClaim',
  plural: 'queueclaims',
  scope: 'Namespaced',
  // Bounds of SQS. @see SQS API, CreateQueue
  spec: z.object({
    retentionSeconds: z.int().min(60).max(1_209_600).default(345_600).describe('How long a message is kept that nobody deletes.'),
    visibilityTimeoutSeconds: z.int().min(0).max(43_200).default(30).describe('How long a message that was received stays hidden.'),
  }),
  status: z.object({ queueUrl: z.string().describe('Where to send and receive.') }),
  columns: [
    { name: 'Retention', type: 'integer', jsonPath: '.spec.retentionSeconds' },
    { name: 'Visibility', type: 'integer', jsonPath: '.spec.visibilityTimeoutSeconds' },
    { name: 'Queue', type: 'string', jsonPath: '.status.queueUrl', priority: 1 },
  ],
});

type Attribute = 'MessageRetentionPeriod' | 'VisibilityTimeout';
type Attributes = Readonly<Record<Attribute, string>>;

/** Makes the queue `queueclaim-<uid>` with the attributes that the spec asks for; deletes it with the claim. */
export const queueClaim = defineReconciler({
  resource: queueClaimResource,
  finalizer: 'platform.example/queue',
  async reconcile({ key, object, signal }) {
    const sqs = await openSqs(signal);
    const name = queueName(object.metadata.uid);
    const attributes = {
      MessageRetentionPeriod: String(object.spec.retentionSeconds),
      VisibilityTimeout: String(object.spec.visibilityTimeoutSeconds),
    };
    const found = await findQueue(sqs, name);
    if (found !== undefined) {
      await correctQueue(sqs, found, attributes);
      return { status: { queueUrl: found } };
    }
    return { status: { queueUrl: await createQueue(sqs, name, attributes, formatResourceKey(key)) } };
  },
  async finalize({ uid, signal }) {
    const sqs = await openSqs(signal);
    const found = await findQueue(sqs, queueName(uid));
    if (found !== undefined) await deleteQueue(sqs, found);
    return { done: true };
  },
});

function queueName(uid: string): string {
  return `queueclaim-${uid}`;
}

/** Loaded when first needed: the SDK costs more to load than the rest of the function. A type of it costs nothing. */
type Sdk = typeof import('@aws-sdk/client-sqs');
type Client = InstanceType<Sdk['SQSClient']>;

interface Sqs {
  readonly sdk: Sdk;
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** One for the process: it holds the connections, and the credentials that it fetched. */
let client: Client | undefined;

/** Region, credentials and endpoint come from the usual AWS environment, as for every AWS tool. */
async function openSqs(signal: AbortSignal): Promise<Sqs> {
  const sdk = await import('@aws-sdk/client-sqs');
  // The endpoint decides and never the host in a queue's URL: which queue is meant, the request says.
  client ??= new sdk.SQSClient({ ...CLIENT_LIMITS, useQueueUrlAsEndpoint: false });
  return { sdk, client, signal };
}

function findQueue({ sdk, client, signal }: Sqs, name: string): Promise<string | undefined> {
  const command = new sdk.GetQueueUrlCommand({ QueueName: name });
  const ask = async (options: CallOptions) => urlIn(await client.send(command, options));
  return callAws<string | undefined>('sqs:GetQueueUrl', signal, ask, { QueueDoesNotExist: () => undefined });
}

/** An answer without a URL is none of SQS's: a queue that counts as absent for it would be left behind. */
function urlIn({ QueueUrl }: { readonly QueueUrl?: string | undefined }): string {
  if (QueueUrl) return QueueUrl;
  throw new TransientError('aws-unavailable', 'what answered in the place of AWS named no queue; tried again by itself');
}

/** Whose queue it is, for whoever finds it in AWS. */
const OWNER_TAG = 'dogwatch.dev/owner';
/** The longest value of a tag. All characters of a key are among those allowed. */
const TAG_VALUE_MAX = 256;

/**
 * The URL of the new queue, or of the one that another run has made with the same attributes since we looked.
 *
 * @throws TransientError where that has other ones, and for 60 s after a queue of this name was deleted
 */
async function createQueue({ sdk, client, signal }: Sqs, name: string, attributes: Attributes, owner: string): Promise<string> {
  const command = new sdk.CreateQueueCommand({
    QueueName: name,
    Attributes: attributes,
    tags: { [OWNER_TAG]: owner.slice(0, TAG_VALUE_MAX) },
  });
  return callAws<string>('sqs:CreateQueue', signal, async (options) => urlIn(await client.send(command, options)), {
    QueueNameExists: otherAttributes,
    QueueAlreadyExists: otherAttributes,
    QueueDeletedRecently: deletedRecently,
  });
}

/** Sets those attributes that are not as the spec asks. */
async function correctQueue({ sdk, client, signal }: Sqs, url: string, wanted: Attributes): Promise<void> {
  const names = Object.keys(wanted) as Attribute[];
  const read = new sdk.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names });
  const { Attributes: present = {} } = await callAws('sqs:GetQueueAttributes', signal, (options) => client.send(read, options), {
    QueueDoesNotExist: deletedRecently,
  });
  const different = names.filter((name) => present[name] !== wanted[name]);
  if (different.length === 0) return;
  const write = new sdk.SetQueueAttributesCommand({
    QueueUrl: url,
    Attributes: Object.fromEntries(different.map((name) => [name, wanted[name]])),
  });
  await callAws<unknown>('sqs:SetQueueAttributes', signal, (options) => client.send(write, options), {
    QueueDoesNotExist: deletedRecently,
  });
}

async function deleteQueue({ sdk, client, signal }: Sqs, url: string): Promise<void> {
  const command = new sdk.DeleteQueueCommand({ QueueUrl: url });
  await callAws<unknown>('sqs:DeleteQueue', signal, (options) => client.send(command, options), { QueueDoesNotExist: () => undefined });
}

/** Deleting takes up to 60 s, in which a queue may still be found, and its name is free after that. @see SQS API, DeleteQueue */
function deletedRecently(cause: unknown): never {
  const text = 'the queue was deleted by somebody less than a minute ago; it is made again once its name is free';
  throw new TransientError('queue-deleted-recently', text, { cause, retryAfterSeconds: 60 });
}

function otherAttributes(cause: unknown): never {
  throw new TransientError('queue-made-meanwhile', 'another run has just made the queue; the next one corrects its attributes', { cause });
}
