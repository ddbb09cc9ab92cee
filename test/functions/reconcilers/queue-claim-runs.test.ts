/** QueueClaim under the function's protocol: where a run is cut off between the queue and the status that tells of it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { ConflictError, TransientError } from '../../../functions/core/errors.ts';
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { Harness } from '../reconcile/harness.ts';
import { dataOf, QUEUE_URLS, recordOf } from '../reconcile/records.ts';
import { sdkError } from './sqs-scene.ts';

const AT = { namespace: 'team', name: 'jobs' };

/** As much of SQS as a claim needs, without a wire: a run on virtual time cannot wait for one. */
class MemorySqs {
  readonly queues = new Map<string, Record<string, string>>();
  /** Every creation, by name. */
  readonly made: string[] = [];

  async send(command: { readonly constructor: { readonly name: string }; readonly input: Record<string, unknown> }): Promise<unknown> {
    const { QueueName, QueueUrl, Attributes } = command.input as {
      QueueName?: string;
      QueueUrl?: string;
      Attributes?: Record<string, string>;
    };
    const name = QueueName ?? QueueUrl?.split('/').at(-1) ?? '';
    const found = this.queues.get(name);
    if (command.constructor.name === 'CreateQueueCommand') {
      if (found === undefined) this.made.push(name);
      this.queues.set(name, { ...Attributes });
      return { QueueUrl: `https://sqs.example/1/${name}` };
    }
    if (found === undefined) throw sdkError('QueueDoesNotExist', 400);
    switch (command.constructor.name) {
      case 'GetQueueUrlCommand':
        return { QueueUrl: `https://sqs.example/1/${name}` };
      case 'GetQueueAttributesCommand':
        return { Attributes: found };
      case 'SetQueueAttributesCommand':
        return void Object.assign(found, Attributes);
      case 'DeleteQueueCommand':
        return void this.queues.delete(name);
      default:
        throw new Error(`no ${command.constructor.name} here`);
    }
  }
}

describe('a QueueClaim that runs', () => {
  let sqs: MemorySqs;
  let harness: Harness;
  beforeEach(() => {
    process.env['AWS_REGION'] = 'us-east-1';
    sqs = new MemorySqs();
    const { send } = { send: sqs.send.bind(sqs) };
    mock.method(SQSClient.prototype, 'send', send as unknown as SQSClient['send']);
    harness = new Harness();
    harness.others = [queueClaim];
    harness.east.create(queueClaim.resource, AT, { spec: { visibilityTimeoutSeconds: 9 } });
  });
  afterEach(() => mock.restoreAll());

  const claim = (): KubernetesObject | undefined => harness.east.object(queueClaim.resource, AT);
  const queueOf = (object: KubernetesObject | undefined): string => `queueclaim-${object?.metadata.uid}`;
  const deliver = async (over: Partial<EnvelopeData> = {}, receiveCount = '1'): Promise<unknown> => {
    const { uid, resourceVersion, generation } = claim()?.metadata ?? {};
    const data = { ...dataOf(), ...AT, kind: 'QueueClaim', plural: 'queueclaims', uid, resourceVersion, generation, ...over };
    await harness.invoke(recordOf(data as EnvelopeData, { receiveCount }));
    return harness.lastRun()['branch'];
  };

  const cuts = {
    'three conflicts on the status': { fault: { throw: new ConflictError('resource-version-conflict', 'moved') }, times: 3 },
    'a process that ends before the status': { fault: { hang: true }, times: 1 },
    'a status whose answer is lost': { fault: { lose: new TransientError('unreachable', 'reset') }, times: 1 },
  } as const;
  for (const [name, { fault, times }] of Object.entries(cuts)) {
    it(`has one queue at all times, through ${name}, and none once it is deleted (B50)`, async () => {
      harness.east.fault({ verb: 'applyStatus' }, fault, times);
      await deliver({ reason: 'created' });
      assert.deepEqual([...sqs.queues.keys()], [queueOf(claim())]);
      assert.equal(await deliver({ reason: 'created' }, '2'), 'reconciled');
      assert.deepEqual(sqs.made, [queueOf(claim())]);
      const object = claim();
      assert.ok(object);
      assert.equal((object['status'] as { queueUrl: string }).queueUrl, `https://sqs.example/1/${queueOf(object)}`);
      assert.deepEqual(object.metadata.finalizers, ['platform.example/queue']);

      const { uid, resourceVersion } = object.metadata;
      harness.east.delete(queueClaim.resource, AT);
      assert.equal(await deliver({ reason: 'deleting' }), 'finalized');
      assert.deepEqual([claim(), [...sqs.queues.keys()]], [undefined, []]);

      // A run that saw it alive comes to its effect only now; the message that was sent before the finalizer came off finds it.
      await sqs.send({ constructor: { name: 'CreateQueueCommand' }, input: { QueueName: `queueclaim-${uid}` } });
      const deleted = harness.queue.envelopes(QUEUE_URLS.live).find(({ data }) => data.reason === 'deleted');
      assert.equal(deleted?.data.uid, uid);
      assert.equal(await deliver({ ...deleted?.data, resourceVersion }), 'finalized');
      assert.deepEqual([...sqs.queues.keys()], []);
    });
  }
});
