/** The cluster that a command is about, from the registry. */
import { type ClusterEntry, connectCluster, readClusters } from '../adapters/clusters.ts';
import { entryFault } from '../adapters/kubernetes/kube-config.ts';
import { parseContext, readContext } from '../adapters/kubernetes/kube-config-file.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { readRemoteText } from '../adapters/remote-text.ts';
import { type Environment, readSetting } from '../core/config.ts';
import { ConfigError, DogwatchError } from '../core/errors.ts';

/**
 * The entry of that name; without a name, the only one there is.
 *
 * @throws ConfigError `missing-variable`, `unknown-cluster`, `usage` where a name is needed, and what is wrong with the registry or this
 *         entry of it
 */
export async function findCluster(env: Environment, name: string | undefined): Promise<ClusterEntry> {
  const registry = readSetting(env, 'clusters');
  const entries = await readClusters(registry);
  const entry = entryOf(entries, registry, name);
  if (entry.access.kind === 'faulty') throw entryFault(entry.access.problem);
  return entry;
}

function entryOf(entries: readonly ClusterEntry[], registry: string, name: string | undefined): ClusterEntry {
  const known = entries.map((entry) => entry.name).join(', ');
  if (name === undefined) {
    const [only, ...others] = entries;
    if (only !== undefined && others.length === 0) return only;
    throw new ConfigError('usage', `${registry} has several clusters: say which with --cluster NAME; there are: ${known}`);
  }
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry !== undefined) return entry;
  throw new ConfigError('unknown-cluster', `${registry}: no cluster is named ${name}; there are: ${known}`);
}

/** What `work` comes to with a client of the cluster, which is closed then; what it throws names the cluster. */
export async function withCluster<Result>(entry: ClusterEntry, work: (client: KubernetesClient) => Promise<Result>): Promise<Result> {
  const client = connectCluster(entry);
  try {
    return await work(client);
  } catch (error) {
    // Which cluster it was is the first thing that whoever has many wants to know.
    if (error instanceof DogwatchError) error.message = `${client.cluster}: ${error.message}`;
    throw error;
  } finally {
    client.close();
  }
}

/** The namespace that kubectl would take there: that of the kubeconfig's context, else `default`. */
export async function defaultNamespace({ access }: ClusterEntry): Promise<string> {
  let context: { readonly namespace: string | undefined } | undefined;
  if (access.kind === 'file') context = readContext(access.path, access.context);
  if (access.kind === 'remote') context = parseContext(await readRemoteText(access.reference), access.reference, access.context);
  return context?.namespace ?? 'default';
}
