/** The product's own client at the embedded server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterName } from '../../../events/resource.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import { collectionPath, objectPath } from '../../../functions/adapters/kubernetes/paths.ts';
import { startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { crdOf, plains, things } from '../kubernetes-client/kinds.ts';
import { describeKubernetesClient } from '../kubernetes-client/suite.ts';
import { Wire } from './wire.ts';

describeKubernetesClient('the client at the embedded API server', async () => {
  const server = await startApiServer();
  const wire = new Wire(server);
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-embedded-'));
  const path = join(dir, 'kubeconfig.yaml');
  writeFileSync(path, server.kubeconfig());
  const done = async (method: string, to: string, body?: unknown, type?: string): Promise<void> => {
    const answer = await wire.send(method, to, { body, ...(type === undefined ? {} : { type }) });
    assert.ok(answer.status < 300, answer.text);
  };
  for (const kind of [things, plains]) await done('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crdOf(kind));
  const client = createKubernetesClient({ cluster: clusterName('embedded'), kubeConfig: { kind: 'file', path } });
  return {
    client,
    create: async (type, at, fields = {}) => {
      const metadata = { ...(fields['metadata'] as object | undefined), name: at.name };
      await done('POST', collectionPath(type, at.namespace), {
        apiVersion: `${type.group}/${type.version}`,
        kind: type.kind,
        ...fields,
        metadata,
      });
    },
    edit: (type, at, patch, subresource) => done('PATCH', objectPath(type, at, {}, subresource), patch, 'application/merge-patch+json'),
    delete: (type, at) => done('DELETE', objectPath(type, at)),
    close: async () => {
      client.close();
      wire.close();
      await server.stop();
      rmSync(dir, { recursive: true });
    },
  };
});
