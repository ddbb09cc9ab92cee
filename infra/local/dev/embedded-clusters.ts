/** Clusters of a development run that need nothing: embedded API servers, with a kubeconfig each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '../api-server/api-server.ts';
import type { ClusterSource, DevCluster } from './dev-clusters.ts';

export interface EmbeddedCluster extends DevCluster {
  readonly server: ApiServer;
}

/** One server for each name, which is its context's name too. */
export function embeddedClusters(names: readonly string[]): ClusterSource<EmbeddedCluster> {
  return {
    async start(dir, emit) {
      emit({ kind: 'step', text: `starting embedded clusters: ${names.join(', ')}` });
      const all: EmbeddedCluster[] = [];
      const stop = async (): Promise<void> => {
        await Promise.all(all.map(({ server }) => server.stop()));
      };
      try {
        for (const name of names) {
          const server = await startApiServer();
          const kubeconfigPath = join(dir, `${name}.kubeconfig`);
          all.push({ name, server, kubeconfigPath, context: name, isOwn: true });
          writeFileSync(kubeconfigPath, server.kubeconfig(name), { mode: 0o600 });
        }
        return { all, stop };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}
