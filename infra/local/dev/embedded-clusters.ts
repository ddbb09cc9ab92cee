/** The clusters of a development run: embedded API servers, a kubeconfig each, and the registry that names them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { type ApiServer, startApiServer } from '../api-server/api-server.ts';

interface EmbeddedCluster {
  readonly name: string;
  readonly server: ApiServer;
  /** With one context, of the cluster's name. */
  readonly kubeconfigPath: string;
}

export interface EmbeddedClusters {
  readonly all: readonly EmbeddedCluster[];
  /** For DOGWATCH_CLUSTERS. */
  readonly registryPath: string;
  stop(): Promise<void>;
}

/** Starts one server for each name, and writes the files into `dir`, which exists. @throws what kept one from starting; the others are stopped */
export async function startEmbeddedClusters(names: readonly string[], dir: string): Promise<EmbeddedClusters> {
  const all: EmbeddedCluster[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(all.map(({ server }) => server.stop()));
  };
  try {
    for (const name of names) {
      const server = await startApiServer();
      const kubeconfigPath = join(dir, `${name}.kubeconfig`);
      all.push({ name, server, kubeconfigPath });
      writeFileSync(kubeconfigPath, server.kubeconfig(name), { mode: 0o600 });
    }
    const registryPath = join(dir, 'clusters.yml');
    writeFileSync(registryPath, dump({ clusters: names.map((name) => ({ name, kubeconfig: `./${name}.kubeconfig` })) }));
    return { all, registryPath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
