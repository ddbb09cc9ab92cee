/** The test's own hands on the lab's queues: many messages sent, moved by SQS, and seen, apart from the product's code. */
import {
  ChangeMessageVisibilityBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { mapBounded } from '../../functions/core/bounded.ts';
import type { Lab } from '../../infra/local/start-lab.ts';
import { until } from './api.ts';
import { connectQueues, measureDepth, queueUrlOf } from './depth.ts';

type QueueName = 'live' | 'bulk' | 'dead-letters';

/** Calls at once. */
const PARALLEL = 6;
const BATCH = 10;

export interface NightQueues {
  send(queue: QueueName, bodies: readonly string[]): Promise<void>;
  /** Uses up the receives of what is in the queue, until `count` dead letters are there. To be called while no function runs. */
  moveBySqs(queue: QueueName, count: number): Promise<void>;
  /** Every dead letter there is, by message id; all are visible again afterwards. @throws Error where some are hidden */
  letters(): Promise<ReadonlyMap<string, string>>;
  /** Resolves when there are exactly so many, none of them hidden. */
  holds(count: number, withinMs?: number): Promise<void>;
  close(): void;
}

export function nightQueues(lab: Lab): NightQueues {
  const client = connectQueues(lab);
  return {
    async send(queue, bodies) {
      await mapBounded(batchesOf(bodies), PARALLEL, async (batch) => {
        const Entries = batch.map((MessageBody, at) => ({ Id: String(at), MessageBody, MessageGroupId: 'night' }));
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrlOf(lab, queue), Entries }));
        if (Failed.length > 0) throw new Error(`not sent: ${JSON.stringify(Failed)}`);
      });
    },
    async moveBySqs(queue, count) {
      await until(`SQS has moved ${count} messages`, async () => {
        await Promise.all(Array.from({ length: PARALLEL }, () => receive(client, queueUrlOf(lab, queue), 0)));
        return (await measureDepth(lab, 'dead-letters')).total >= count || undefined;
      });
    },
    async letters() {
      const QueueUrl = queueUrlOf(lab, 'dead-letters');
      const { visible, total } = await measureDepth(lab, 'dead-letters');
      if (visible !== total) throw new Error(`${total - visible} of ${total} letters are hidden`);
      const seen = new Map<string, Message>();
      while (seen.size < total) for (const message of await receive(client, QueueUrl, 30)) seen.set(message.MessageId ?? '', message);
      await mapBounded(batchesOf([...seen.values()]), PARALLEL, async (batch) => {
        const Entries = batch.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 }));
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
      });
      return new Map([...seen].map(([id, { Body = '' }]) => [id, Body]));
    },
    async holds(count, withinMs) {
      await until(
        `there are ${count} dead letters`,
        async () => {
          const { visible, total } = await measureDepth(lab, 'dead-letters');
          if (total > count) throw new Error(`${total} dead letters, and not ${count}`);
          return (visible === count && total === count) || undefined;
        },
        withinMs,
      );
    },
    close: () => client.destroy(),
  };
}

async function receive(client: SQSClient, QueueUrl: string, VisibilityTimeout: number): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: BATCH, VisibilityTimeout }));
  return Messages;
}

function batchesOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / BATCH) }, (_, at) => items.slice(at * BATCH, (at + 1) * BATCH));
}
