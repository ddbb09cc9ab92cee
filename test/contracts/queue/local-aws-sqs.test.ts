import { startLocalQueues } from '../../../infra/local/queue.ts';
import { LOCAL_AWS_SQS } from './exceptions.ts';
import { describeQueue } from './suite.ts';

describeQueue('local-aws-sqs', LOCAL_AWS_SQS, () => startLocalQueues({ queues: [] }));
