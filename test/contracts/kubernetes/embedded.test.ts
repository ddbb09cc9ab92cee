import { startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { describeApiServer } from './suite.ts';

describeApiServer('the embedded server', () => startApiServer());
