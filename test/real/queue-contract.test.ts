import { startElasticMq } from '../../infra/local/elasticmq/elasticmq.ts';
import { ELASTICMQ } from '../contracts/queue/exceptions.ts';
import { describeQueue } from '../contracts/queue/suite.ts';

describeQueue('ElasticMQ', ELASTICMQ, () => startElasticMq({ queues: [] }));
