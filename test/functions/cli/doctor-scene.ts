/** A deployment on this machine for `dogwatch doctor`: queues of local-aws-sqs and a double of Lambda, both as serverless.yml makes them. */
import { CreateQueueCommand, GetQueueAttributesCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { ACCOUNT_ID, AWS_REGION, createLocalClient, localAwsEnv } from '../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';
import { LambdaStub, type StubbedFunction } from '../../fakes/lambda-stub.ts';

export const STACK = 'dogwatch-real';
export const FUNCTION = `${STACK}-reconcile`;
export const LANES = ['live', 'bulk', 'dead-letters'] as const;
type QueueLane = (typeof LANES)[number];

export interface DoctorScene {
  readonly lambda: LambdaStub;
  /** The function, to be changed. */
  readonly deployed: StubbedFunction;
  readonly sqs: SQSClient;
  /** Of region, credentials and the two endpoints. */
  readonly env: Readonly<Record<string, string>>;
  urlOf(lane: QueueLane): string;
  set(lane: QueueLane, attributes: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

export async function startDoctorScene(): Promise<DoctorScene> {
  const local = await startLocalQueues({ queues: [] });
  const lambda = await LambdaStub.start();
  const sqs = createLocalClient(local.endpoint);
  const urls = new Map<QueueLane, string>();
  const arnOf = (lane: QueueLane): string => `arn:aws:sqs:${AWS_REGION}:${ACCOUNT_ID}:${STACK}-${lane}`;
  const work = {
    VisibilityTimeout: '180',
    MessageRetentionPeriod: '345600',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf('dead-letters'), maxReceiveCount: 5 }),
  };
  const allow = { redrivePermission: 'byQueue', sourceQueueArns: [arnOf('live'), arnOf('bulk')] };
  const attributes: Record<QueueLane, Record<string, string>> = {
    'dead-letters': { MessageRetentionPeriod: '1209600', RedriveAllowPolicy: JSON.stringify(allow) },
    live: work,
    bulk: work,
  };
  for (const lane of [...LANES].reverse()) {
    const command = new CreateQueueCommand({ QueueName: `${STACK}-${lane}`, Attributes: attributes[lane] });
    urls.set(lane, (await sqs.send(command)).QueueUrl ?? '');
  }
  const urlOf = (lane: QueueLane): string => urls.get(lane) ?? '';
  const mapping = (lane: 'live' | 'bulk', maximum: number): Record<string, unknown> => ({
    UUID: `id-${lane}`,
    EventSourceArn: arnOf(lane),
    State: 'Enabled',
    BatchSize: 10,
    MaximumBatchingWindowInSeconds: 0,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: maximum },
  });
  const deployed: StubbedFunction = {
    configuration: {
      FunctionName: FUNCTION,
      FunctionArn: `arn:aws:lambda:${AWS_REGION}:${ACCOUNT_ID}:function:${FUNCTION}`,
      Runtime: 'nodejs24.x',
      Timeout: 30,
      State: 'Active',
      LastUpdateStatus: 'Successful',
      Environment: {
        Variables: {
          DOGWATCH_CLUSTERS: 'clusters.yml',
          DOGWATCH_QUEUE_URL: urlOf('live'),
          DOGWATCH_BULK_QUEUE_URL: urlOf('bulk'),
          DOGWATCH_DEAD_LETTER_QUEUE_URL: urlOf('dead-letters'),
          DOGWATCH_FUNCTION_TIMEOUT_SECONDS: '30',
        },
      },
    },
    recursionConfig: { RecursiveLoop: 'Allow' },
    concurrency: {},
    mappings: [mapping('live', 10), mapping('bulk', 5)],
  };
  lambda.functions.set(FUNCTION, deployed);
  return {
    lambda,
    deployed,
    sqs,
    env: { ...localAwsEnv(local.endpoint), AWS_ENDPOINT_URL_LAMBDA: lambda.url },
    urlOf,
    async set(lane, changed) {
      const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: urlOf(lane), AttributeNames: ['All'] }));
      const settable = ['VisibilityTimeout', 'MessageRetentionPeriod', 'RedrivePolicy', 'RedriveAllowPolicy'];
      const kept = Object.fromEntries(Object.entries(Attributes).filter(([name]) => settable.includes(name)));
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf(lane), Attributes: { ...kept, ...changed } }));
    },
    async stop() {
      sqs.destroy();
      await Promise.all([local.stop(), lambda.close()]);
    },
  };
}
