import { startElasticMq } from '../../infra/local/elasticmq/elasticmq.ts';
import { describeLetterQueue } from '../contracts/letter-queue/suite.ts';

describeLetterQueue('ElasticMQ', () => startElasticMq({ queues: [] }), {
  hidesSources: true,
  hidesRetention: true,
  refusesSecondDelete: true,
});
