import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ControlPlane, startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { describeApiServer } from '../contracts/kubernetes/suite.ts';

describeApiServer('kube-apiserver', async () => {
  const plane = await startControlPlane({ name: 'wire contract' });
  const ca = readFileSync(plane.caFile, 'utf8');
  return { url: plane.url, token: plane.token, ca, stop: () => plane.stop(), forgetHistory: () => compact(plane) };
});

/** Has etcd forget all revisions but its newest, and notes it where the API server notes its own compactions and looks for those of others. */
async function compact({ etcdUrl }: ControlPlane): Promise<void> {
  const call = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return (JSON.parse(text) as { header: { revision: string } }).header.revision;
  };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const revision = await call('range', { key: base64('none') });
  await call('compaction', { revision, physical: true });
  await call('put', { key: base64('compact_rev_key'), value: base64(revision) });
}
