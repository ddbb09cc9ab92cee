/** QueueClaim under watcher and function, on a real SQS protocol: wherever the function dies, there is one queue, and in the end none. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { CreateQueueCommand, DeleteQueueCommand, GetQueueAttributesCommand, ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { createLocalClient, type LocalQueues, localAwsEnv } from '../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';
import { type Bench, forEachCrash, type OutsideService, startBench, startOutsideService } from '../../../infra/local/testing/index.ts';

const CLAIM = { apiVersion: 'platform.example/v1', kind: 'QueueClaim', metadata: { name: 'jobs' }, spec: { visibilityTimeoutSeconds: 9 } };

/** Events and acknowledgements too are where the function dies in the example of infra/local/testing/README.md, which is a test. */
const MATTERS = /^sqs|status|^send|finalizer|generation-changed/;

describe('a QueueClaim that runs', () => {
  let local: LocalQueues;
  let admin: SQSClient;
  let sqs: OutsideService;
  before(async () => {
    local = await startLocalQueues({ queues: [] });
    admin = createLocalClient(local.endpoint);
    sqs = await startOutsideService({ name: 'sqs', to: local.endpoint });
    // For the client of the reconciler, which its process makes once.
    Object.assign(process.env, localAwsEnv(sqs.url));
  });
  afterEach(async () => {
    for (const QueueUrl of await urls()) await admin.send(new DeleteQueueCommand({ QueueUrl }));
  });
  after(async () => {
    admin.destroy();
    await sqs.close();
    await local.stop();
  });

  const urls = async (): Promise<string[]> => (await admin.send(new ListQueuesCommand({}))).QueueUrls ?? [];
  const queues = async (): Promise<string[]> => (await urls()).map((url) => url.split('/').at(-1) ?? '');
  const visibility = async (): Promise<string | undefined> => {
    const [QueueUrl] = await urls();
    const { Attributes } = await admin.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] }));
    return Attributes?.['VisibilityTimeout'];
  };

  /** From the claim to its end, with a change of it between; and a late run that acts when all seems to be over. */
  async function live(bench: Bench): Promise<void> {
    sqs.attach(bench);
    const { uid } = (await bench.apply(CLAIM)).metadata;
    await bench.settle();
    assert.deepEqual(await queues(), [`queueclaim-${uid}`]);
    const claim = await bench.get('QueueClaim', 'jobs');
    assert.deepEqual(claim?.metadata.finalizers, ['platform.example/queue']);
    assert.match(JSON.stringify(claim?.['status']), new RegExp(`"queueUrl":"[^"]*/queueclaim-${uid}"`));

    await bench.apply({ ...CLAIM, spec: { visibilityTimeoutSeconds: 11 } });
    await bench.settle();
    assert.deepEqual([await queues(), await visibility()], [[`queueclaim-${uid}`], '11']);

    await bench.delete('QueueClaim', 'jobs');
    await bench.advance(1);
    await admin.send(new CreateQueueCommand({ QueueName: `queueclaim-${uid}` })).catch(() => undefined);
    await bench.settle();
    assert.deepEqual([await bench.get('QueueClaim', 'jobs'), await queues()], [undefined, []]);
    assert.deepEqual(bench.deadLetters, []);
  }

  it('has one queue, follows its spec, and leaves none, wherever the function dies (B50)', async () => {
    const { effects } = await forEachCrash({ reconcilers: [queueClaim], only: MATTERS }, live);
    for (const text of ['sqs CreateQueue', 'sqs SetQueueAttributes', 'sqs DeleteQueue', 'remove finalizer', 'send deleted'])
      assert.ok(
        effects.some((effect) => effect.startsWith(text)),
        text,
      );
  });

  it('keeps its queue through three conflicts on the status (B50)', async () => {
    await using bench = await startBench({ reconcilers: [queueClaim] });
    sqs.attach(bench);
    bench.faults.add({ kind: 'error', code: 409, times: 3, where: ({ url }) => url.includes('/status') });
    const { uid } = (await bench.apply(CLAIM)).metadata;
    await bench.settle();
    assert.deepEqual(await queues(), [`queueclaim-${uid}`]);
    assert.equal(bench.effectTexts.filter((text) => text === 'sqs CreateQueue').length, 1);
    assert.equal(bench.outcomes.at(-1)?.branch, 'reconciled');
  });
});
