/**
 * `replay plan` on ElasticMQ, beside what somebody would write by hand: receive ten letters, look at the object of each, delete it. The plan
 * is measured as a process from its start on, the loop without that and with its connections kept.
 */
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { connectCluster, readClusters } from '../../functions/adapters/clusters.ts';
import { mapBounded } from '../../functions/core/bounded.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import { startElasticMq } from '../../infra/local/elasticmq/elasticmq.ts';
import { createLocalClient } from '../../infra/local/local-queues.ts';
import { letterBody } from '../functions/replay/letters.ts';
import type { DevReport } from './dev-start.ts';
import { startScriptedLetters } from './letters-process.ts';
import { measurePlan, type PlanOrder, registryOf } from './replay-process.ts';
import { tableOf } from './report-table.ts';
import { nameOf, uidOf } from './tenant-texts.ts';

export interface SpeedOrder extends PlanOrder {
  /** How many times as fast as the loop the plan must be there. */
  readonly minRatio: number;
}

/**
 * ElasticMQ copies its whole queue for each message that becomes visible before its time: milliseconds of its only thread for each where
 * there are thousands, which SQS does not take. So the plan is what is held to a ratio, and the end is only told.
 */
const END_NOTE = 'letters are given back one by one, for each of which ElasticMQ copies its queue; SQS does not';

export async function measureReplaySpeed({ minRatio, ...order }: SpeedOrder): Promise<DevReport> {
  const { letters, objects } = order;
  const cluster = await startScriptedLetters(0, objects);
  const queues = await startElasticMq({ queues: [{ name: 'dead', visibilitySeconds: 600 }] });
  const sqs = createLocalClient(queues.endpoint);
  const queueUrl = queues.queueUrl('dead');
  try {
    await fill(sqs, queueUrl, order);
    const { planSeconds, endSeconds } = await measurePlan(order, { endpoint: queues.endpoint, queueUrl }, cluster);
    // On the same queue: what the plan did not give back would be missing here.
    const loopSeconds = await loop(sqs, queueUrl, cluster, letters);
    const ratio = loopSeconds / planSeconds;
    const table = tableOf([
      [`replay, ${letters} letters of ${objects} objects`, 'seconds'],
      ['a loop: receive, look, delete', loopSeconds],
      ['replay plan, until the plan is there', planSeconds],
      ['replay plan, until all letters are given back', endSeconds],
    ]);
    const text = `the plan is there ${ratio.toFixed(1)} times as fast as a loop is through`;
    return { text: `${table}\n${text}\n${END_NOTE}`, overruns: ratio >= minRatio ? [] : [`${text}; at least ${minRatio} is wanted`] };
  } finally {
    sqs.destroy();
    cluster.stop();
    await queues.stop();
  }
}

async function fill(sqs: SQSClient, QueueUrl: string, { letters, objects }: PlanOrder): Promise<void> {
  const tens = Array.from({ length: letters / 10 }, (_, ten) => ten);
  await mapBounded(tens, 8, async (ten) => {
    const Entries = Array.from({ length: 10 }, (_, at) => {
      const index = (ten * 10 + at) % objects;
      return { Id: String(at), MessageBody: letterBody({ name: nameOf(index), uid: uidOf('tenant', index) }) };
    });
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length > 0) throw new Error(`ElasticMQ did not take ${Failed.length} letters`);
  });
}

/** Seconds until every letter was deleted. */
async function loop(sqs: SQSClient, QueueUrl: string, cluster: Parameters<typeof registryOf>[0], letters: number): Promise<number> {
  const registry = registryOf(cluster);
  const [entry] = await readClusters(registry.path);
  if (entry === undefined) throw new Error('nothing to look at');
  const client = connectCluster(entry);
  const startMs = performance.now();
  for (let seen = 0; seen < letters; ) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) throw new Error(`only ${seen} of ${letters} letters can be received`);
    for (const { Body = '', ReceiptHandle } of Messages) {
      const { data } = JSON.parse(Body) as { data: { name: string } };
      await client.get(tenant.resource, { name: data.name });
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      seen += 1;
    }
  }
  const seconds = (performance.now() - startMs) / 1000;
  client.close();
  registry.drop();
  return seconds;
}
