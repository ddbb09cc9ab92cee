import { readFileSync } from 'node:fs';
import { startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { describeApiServer } from '../contracts/kubernetes/suite.ts';

describeApiServer('kube-apiserver', async () => {
  const plane = await startControlPlane({ name: 'wire contract' });
  return { url: plane.url, token: plane.token, ca: readFileSync(plane.caFile, 'utf8'), stop: () => plane.stop() };
});
