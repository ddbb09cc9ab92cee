/** How many messages a queue of the lab holds. */
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Lab } from '../../infra/local/start-lab.ts';

export interface Depth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly total: number;
}

const NAMES = { live: 'dogwatch-work', bulk: 'dogwatch-bulk', 'dead-letters': 'dogwatch-dead-letters' } as const;

/** A client for the lab's queues. */
export function connectQueues(lab: Lab): SQSClient {
  return new SQSClient({
    endpoint: lab.queues.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

/** The URL of one of the lab's queues. */
export function queueUrlOf(lab: Lab, queue: keyof typeof NAMES): string {
  return lab.queues.queueUrl(NAMES[queue]);
}

/** Counts of one queue, as SQS reports them (exact on a local endpoint). */
export async function measureDepth(lab: Lab, queue: keyof typeof NAMES): Promise<Depth> {
  const client = connectQueues(lab);
  try {
    const answer = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: queueUrlOf(lab, queue),
        AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'],
      }),
    );
    const visible = Number(answer.Attributes?.['ApproximateNumberOfMessages']);
    const inFlight = Number(answer.Attributes?.['ApproximateNumberOfMessagesNotVisible']);
    const delayed = Number(answer.Attributes?.['ApproximateNumberOfMessagesDelayed']);
    return { visible, inFlight, delayed, total: visible + inFlight + delayed };
  } finally {
    client.destroy();
  }
}
