/** What the story does to a cluster, over the wire like anybody else; and, as only a double allows, its outage. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiVersionOf } from '../../../../events/resource.ts';
import { openCredentials } from '../../../../functions/adapters/kubernetes/credentials.ts';
import { isAbsent, parseStatus } from '../../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, JSON_TYPE, MERGE_PATCH, objectPath } from '../../../../functions/adapters/kubernetes/paths.ts';
import { createTransport, type TransportRequest } from '../../../../functions/adapters/kubernetes/transport.ts';
import { DogwatchError } from '../../../../functions/core/errors.ts';
import type { KubernetesObject } from '../../../../functions/core/reconciler.ts';
import { type ApiServer, startApiServer } from '../../api-server/api-server.ts';
import { type ClusterAccess, type StageCluster, type StageObject, StepFailure } from './story-step.ts';

const FIELD_MANAGER = 'dogwatch-demo';
/** Everything is on one machine, which may be busy with other things than the story. */
const PATIENCE_MS = 30_000;

/** How an object is named to a reader: `Tenant/acme in east`. */
export function nameIn(cluster: string, { type, at }: StageObject): string {
  return `${[type.kind, ...(at.namespace === undefined ? [] : [at.namespace]), at.name].join('/')} in ${cluster}`;
}

type OpenAccess = ClusterAccess & { close(): void };

function openAccess(cluster: string, kubeconfigPath: string, signal: AbortSignal): OpenAccess {
  const credentials = openCredentials({ kind: 'file', path: kubeconfigPath, context: undefined });
  const transport = createTransport({ credentials, userAgent: FIELD_MANAGER, timeouts: { connectMs: PATIENCE_MS, totalMs: PATIENCE_MS } });

  async function send(object: StageObject, request: Omit<TransportRequest, 'accept' | 'signal'>): Promise<string | undefined> {
    const answer = await transport.send({ ...request, accept: JSON_TYPE, signal }).catch((error: unknown) => {
      if (!(error instanceof DogwatchError)) throw error;
      throw new StepFailure(`${nameIn(cluster, object)}: ${request.method} failed: ${error.message}`, { cause: error });
    });
    if (answer.status < 300) return answer.text;
    if (isAbsent(answer)) return undefined;
    const message = parseStatus(answer.text)?.message ?? `the cluster answers ${answer.status}`;
    throw new StepFailure(`${nameIn(cluster, object)}: ${request.method} is refused: ${message}`);
  }

  return {
    async get(object) {
      const text = await send(object, { method: 'GET', path: objectPath(object.type, object.at) });
      return text === undefined ? undefined : (JSON.parse(text) as KubernetesObject);
    },
    async apply(object, spec) {
      const path = objectPath(object.type, object.at, { fieldManager: FIELD_MANAGER, force: true, fieldValidation: 'Strict' });
      const body = { ...identityOf(object), ...(spec === undefined ? {} : { spec }) };
      await send(object, { method: 'PATCH', path, contentType: APPLY_PATCH, body: JSON.stringify(body) });
    },
    async patch(object, { body, fieldManager }) {
      const path = objectPath(object.type, object.at, { fieldManager });
      await send(object, { method: 'PATCH', path, contentType: MERGE_PATCH, body: JSON.stringify(body) });
    },
    async applyStatus(object, { body, fieldManager }) {
      const path = objectPath(object.type, object.at, { fieldManager, force: true }, 'status');
      await send(object, {
        method: 'PATCH',
        path,
        contentType: APPLY_PATCH,
        body: JSON.stringify({ ...identityOf(object), status: body }),
      });
    },
    async remove(object) {
      await send(object, { method: 'DELETE', path: objectPath(object.type, object.at) });
    },
    close: () => transport.close(),
  };
}

function identityOf({ type, at }: StageObject): Readonly<Record<string, unknown>> {
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: at };
}

export interface EmbeddedCluster {
  readonly name: string;
  readonly server: ApiServer;
  readonly kubeconfigPath: string;
}

/** @param dir  where a kubeconfig may be written @param signal  ends what is under way */
export function openStageCluster(
  { name, server, kubeconfigPath }: EmbeddedCluster,
  dir: string,
  signal: AbortSignal,
): StageCluster & { close(): void } {
  return {
    ...openAccess(name, kubeconfigPath, signal),
    name,
    breakReadsOf({ type, at }) {
      const path = objectPath(type, at);
      return server.faults.add({ kind: 'reset', where: ({ method, url }) => method === 'GET' && url.split('?')[0] === path });
    },
    async whileDown(act) {
      await server.down();
      const other = await startApiServer({ from: server.snapshot() });
      const path = join(dir, `${name}-elsewhere.kubeconfig`);
      try {
        writeFileSync(path, other.kubeconfig(name), { mode: 0o600 });
        const elsewhere = openAccess(name, path, signal);
        await act(elsewhere).finally(() => elsewhere.close());
      } finally {
        await other.stop();
        rmSync(path, { force: true });
        // The run is ending: whoever ends it has the server stopped already, or does so next.
        if (!signal.aborted) await server.up({ from: other.snapshot() });
      }
    },
  };
}
