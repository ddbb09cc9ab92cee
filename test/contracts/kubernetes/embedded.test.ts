import { startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { describeApiServer } from './suite.ts';

describeApiServer('the embedded server', async () => {
  const { url, token, ca, faults, stop } = await startApiServer();
  return { url, token, ca, stop, forgetHistory: async () => faults.expireHistory() };
});
