/** Clusters of a development run that are real control planes on this machine: etcd, kube-apiserver and kube-controller-manager. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { ClusterSource, DevCluster } from './dev-clusters.ts';

/** What one has resident soon after its start is about 500 MB; twice that is left for what it grows by. */
const BYTES_EACH = 1e9;

/** One for each name, which is its context's name too; where memory is short, only the first. */
export function realClusters(names: readonly string[], freeBytes = process.availableMemory()): ClusterSource {
  return {
    async start(dir, emit) {
      const [{ controlPlaneAssets }, { startControlPlane }] = await Promise.all([
        import('../control-plane/build.ts'),
        import('../control-plane/control-plane.ts'),
      ]);
      const used = freeBytes < names.length * BYTES_EACH ? names.slice(0, 1) : names;
      if (used.length < names.length)
        emit({
          kind: 'notice',
          level: 'warn',
          text: `memory is short (${Math.round(freeBytes / 1e6)} MB): there is only the cluster ${used[0]}`,
        });
      emit({
        kind: 'step',
        text: `starting real control planes: ${used.join(', ')} (the first time they are built with Go, which takes about four minutes)`,
      });
      const programs = await controlPlaneAssets().catch((error: unknown) => {
        throw error instanceof ConfigError ? new ConfigError(error.code, `--real: ${withFacts(error)}`, { cause: error }) : error;
      });
      const starting = used.map((name) => startControlPlane({ name, dir: madeDir(dir, name), keepState: false }));
      const started = await Promise.allSettled(starting);
      const stop = async (): Promise<void> => {
        await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)));
      };
      const failed = started.find((one) => one.status === 'rejected');
      if (failed !== undefined) {
        await stop();
        throw failed.reason;
      }
      const all = started.flatMap((one): DevCluster[] => {
        if (one.status === 'rejected') return [];
        const { name, kubeconfigPath } = one.value;
        return [{ name, kubeconfigPath: renamed(kubeconfigPath, join(dir, `${name}.kubeconfig`), name), context: name, isOwn: true }];
      });
      return { all, programs, stop };
    },
  };
}

function madeDir(dir: string, name: string): string {
  const path = join(dir, `control-plane-${name}`);
  mkdirSync(path, { recursive: true });
  return path;
}

function withFacts({ message, facts }: ConfigError): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name}: ${String(value)}`);
  return parts.length === 0 ? message : `${message} (${parts.join(', ')})`;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: unknown }[];
  readonly users: readonly { readonly user: unknown }[];
}

/** A copy with context, cluster and user of that name, since kubectl takes several files for one. Returns its path. */
function renamed(from: string, to: string, name: string): string {
  const { clusters, users } = load(readFileSync(from, 'utf8')) as Kubeconfig;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: clusters[0]?.cluster }],
    users: [{ name, user: users[0]?.user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  };
  writeFileSync(to, dump(config), { mode: 0o600 });
  return to;
}
