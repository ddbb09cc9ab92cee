/** An SQS that answers as it should, and a client whose every call can be made to fail: before it took effect, or after. */
import { mock } from 'node:test';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { clusterName, type ResourceKey } from '../../../events/resource.ts';
import { parseObject } from '../../../functions/core/resource-definition.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';

/** What happens to a call. `lost`: it takes effect, and its answer never comes. */
export type Fate =
  | { readonly kind: 'fine' | 'hangs' }
  | { readonly kind: 'fails' | 'lost'; readonly error: Error }
  | { readonly kind: 'answers'; readonly answer: object };
export const FINE: Fate = { kind: 'fine' };

export const KEY: ResourceKey = {
  cluster: clusterName('east'),
  group: 'platform.example',
  kind: 'QueueClaim',
  namespace: 'team',
  name: 'jobs',
};
export const UID = '0f5a1c8e-2f3b-4c6d-8e9f-a0b1c2d3e4f5';
export const QUEUE = `queueclaim-${UID}`;

/** An error as the SDK throws it: of AWS with a status, of the network without one. */
export function sdkError(name: string, httpStatusCode?: number): Error {
  const $metadata = httpStatusCode === undefined ? { attempts: 2 } : { httpStatusCode, attempts: 2 };
  return Object.assign(new Error(`secret text of ${name}`), { name, $metadata });
}

type Send = (this: SQSClient, command: object, options: object) => Promise<unknown>;

export class SqsScene {
  /** The operations of the product's client, in order, without `Command`. */
  readonly calls: string[] = [];
  /** What becomes of the next calls; fine when there is none left. */
  fates: Fate[] = [];
  /** Asked before each call instead of `fates`. */
  fateOf: ((operation: string) => Fate) | undefined;
  readonly #stop: () => Promise<void>;
  readonly #admin: SQSClient;
  readonly #send: Send = SQSClient.prototype.send as Send;

  private constructor(endpoint: string, stop: () => Promise<void>) {
    this.#stop = stop;
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL_SQS: endpoint,
    });
    this.#admin = new SQSClient({});
    const scene = this;
    mock.method(SQSClient.prototype, 'send', function (this: SQSClient, command: object, options: object) {
      return scene.#intercept(this, command, options);
    });
  }

  /** One for a test file: the product's client lives as long as its process. */
  static async start(): Promise<SqsScene> {
    const { endpoint, stop } = await startLocalQueues({ queues: [] });
    return new SqsScene(endpoint, stop);
  }

  async stop(): Promise<void> {
    mock.restoreAll();
    this.#admin.destroy();
    await this.#stop();
  }

  /** Nothing is left: no queue, no fault, no record of calls. */
  async clear(): Promise<void> {
    this.fates = [];
    this.fateOf = undefined;
    this.calls.length = 0;
    for (const name of await this.queues()) await this.delete(name);
  }

  async #intercept(client: SQSClient, command: object, options: object): Promise<unknown> {
    const send = (): Promise<unknown> => this.#send.call(client, command, options);
    if (client === this.#admin) return send();
    const operation = command.constructor.name.replace(/Command$/, '');
    this.calls.push(operation);
    const fate = this.fateOf?.(operation) ?? this.fates.shift() ?? FINE;
    switch (fate.kind) {
      case 'fine':
        return send();
      case 'fails':
        throw fate.error;
      case 'lost':
        await send().catch(() => undefined);
        throw fate.error;
      case 'answers':
        return fate.answer;
      case 'hangs':
        return new Promise(() => undefined); // whatever its signal says
    }
  }

  /** A run over the claim as the framework would begin it. */
  async reconcile(spec: object = {}, signal: AbortSignal = new AbortController().signal): Promise<{ readonly queueUrl: string }> {
    const metadata = { name: 'jobs', namespace: 'team', uid: UID, resourceVersion: '7', generation: 1 };
    const object = parseObject(queueClaim.resource, { apiVersion: 'platform.example/v1', kind: 'QueueClaim', metadata, spec });
    const { status } = await queueClaim.reconcile({ key: KEY, object, read: NOTHING, now: new Date(0), log: SILENT, signal });
    return status;
  }

  /** What the framework calls once the object is gone. */
  async finalize(signal: AbortSignal = new AbortController().signal): Promise<unknown> {
    const input = { key: KEY, uid: UID, object: undefined, read: NOTHING, now: new Date(0), log: SILENT, signal };
    return queueClaim.finalization?.finalize(input);
  }

  async queues(): Promise<string[]> {
    const { QueueUrls = [] } = await this.#admin.send(new ListQueuesCommand({}));
    return QueueUrls.map((url) => url.split('/').at(-1) ?? '');
  }

  async attributes(): Promise<Record<string, string>> {
    const command = new GetQueueAttributesCommand({ QueueUrl: this.#url(QUEUE), AttributeNames: ['All'] });
    const { Attributes: { MessageRetentionPeriod = '', VisibilityTimeout = '' } = {} } = await this.#admin.send(command);
    return { MessageRetentionPeriod, VisibilityTimeout };
  }

  async tags(): Promise<Record<string, string>> {
    return (await this.#admin.send(new ListQueueTagsCommand({ QueueUrl: this.#url(QUEUE) }))).Tags ?? {};
  }

  /** By hand, past the product. */
  async create(attributes: Record<string, string>): Promise<void> {
    await this.#admin.send(new CreateQueueCommand({ QueueName: QUEUE, Attributes: attributes }));
  }

  async change(attributes: Record<string, string>): Promise<void> {
    await this.#admin.send(new SetQueueAttributesCommand({ QueueUrl: this.#url(QUEUE), Attributes: attributes }));
  }

  async delete(name = QUEUE): Promise<void> {
    await this.#admin.send(new DeleteQueueCommand({ QueueUrl: this.#url(name) }));
  }

  #url(name: string): string {
    return `${process.env['AWS_ENDPOINT_URL_SQS']}/000000000000/${name}`;
  }
}

const SILENT = { info: () => undefined, warn: () => undefined };
const NOTHING = () => Promise.resolve(undefined);
