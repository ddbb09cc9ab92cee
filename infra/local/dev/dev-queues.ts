/** The queues of a development run, in this process, with the environment that leads to them. */
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Lane } from '../../../events/envelope.ts';
import { createLocalClient, localAwsEnv, type QueueSpec, type ReceiveQuirks } from '../local-queues.ts';
import { startLocalQueues } from '../queue.ts';
import type { DevEvent } from './dev-state.ts';

export interface DevQueues {
  readonly client: SQSClient;
  readonly quirks: ReceiveQuirks;
  readonly queueUrls: Readonly<Record<Lane, string>>;
  /** The queues and AWS, for whoever has to find them. */
  readonly env: Readonly<Record<string, string>>;
  /** How full they are now. @throws what the SDK throws */
  levels(): Promise<Extract<DevEvent, { kind: 'lanes' }>>;
  stop(): Promise<void>;
}

const NAMES = { live: 'dogwatch-work', bulk: 'dogwatch-bulk', deadLetters: 'dogwatch-dead-letters' } as const;
const LANES = ['live', 'bulk'] as const satisfies readonly Lane[];

/** As often as the README asks for on AWS. */
const MAX_RECEIVE_COUNT = 5;
/** The visibility is so many time-outs of the function. */
const VISIBILITY_TIMEOUTS = 6;

/** Starts them. @param timeoutSeconds  of the function */
export async function startDevQueues(timeoutSeconds: number): Promise<DevQueues> {
  const work = {
    visibilitySeconds: timeoutSeconds * VISIBILITY_TIMEOUTS,
    deadLetter: { name: NAMES.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
  };
  const specs: QueueSpec[] = [{ name: NAMES.deadLetters }, { name: NAMES.live, ...work }, { name: NAMES.bulk, ...work }];
  const queues = await startLocalQueues({ queues: specs });
  const client = createLocalClient(queues.endpoint);
  const urlOf = (name: keyof typeof NAMES): string => queues.queueUrl(NAMES[name]);
  return {
    client,
    quirks: queues.quirks,
    queueUrls: { live: urlOf('live'), bulk: urlOf('bulk') },
    env: {
      DOGWATCH_QUEUE_URL: urlOf('live'),
      DOGWATCH_BULK_QUEUE_URL: urlOf('bulk'),
      DOGWATCH_DEAD_LETTER_QUEUE_URL: urlOf('deadLetters'),
      ...localAwsEnv(queues.endpoint),
    },
    async levels() {
      const [dead, ...lanes] = await Promise.all([
        levelOf(client, urlOf('deadLetters')),
        ...LANES.map((lane) => levelOf(client, urlOf(lane))),
      ]);
      return {
        kind: 'lanes',
        lanes: LANES.map((name, index) => ({ name, ...(lanes[index] as Level) })),
        deadLetters: dead.ready + dead.inFlight,
      };
    },
    async stop() {
      client.destroy();
      await queues.stop();
    },
  };
}

interface Level {
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
}

const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'] as const;

/** local-aws-sqs counts what is in flight among the messages too, which SQS does not. */
async function levelOf(client: SQSClient, QueueUrl: string): Promise<Level> {
  const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] }));
  const [present = 0, inFlight = 0, delayed = 0] = COUNTS.map((name) => Number(Attributes[name] ?? 0));
  return { ready: Math.max(0, present - inFlight), delayed, inFlight };
}
