import { startLocalQueues } from '../../../infra/local/queue.ts';
import { describeLetterQueue } from './suite.ts';

describeLetterQueue('local-aws-sqs', () => startLocalQueues({ queues: [] }));
