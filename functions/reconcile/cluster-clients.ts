/**
 * The clients of the clusters in the registry. A registry that is a file came with the function and is read once; one in AWS is
 * read again every few minutes, so that a cluster is added without a deployment. One bad cluster never stops the rest.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterName } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import { type ClusterEntry, connectCluster, readClusters } from '../adapters/clusters.ts';
import { entryFault, type KubeConfigSource } from '../adapters/kubernetes/kube-config.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { parseReference } from '../adapters/remote-text.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError } from '../core/errors.ts';

export type ClusterClients = ReadonlyMap<ClusterName, KubernetesClient>;

/** How old a registry in AWS may be when an invocation begins, in milliseconds. */
export const REGISTRY_AGE_MS = 5 * 60_000;
/** How long an invocation waits for news of it: it goes on with what it had, and they are there for the next one. */
const NEWS_WITHIN_MS = 2_000;

export interface ClusterClientsOptions {
  /** As DOGWATCH_CLUSTERS names it. */
  readonly registry: string;
  readonly clock: Pick<Clock, 'now' | 'steadyMs' | 'sleep'>;
  readonly log: Log;
  readonly read?: (registry: string) => Promise<readonly ClusterEntry[]>;
}

interface Member {
  readonly access: KubeConfigSource;
  readonly client: KubernetesClient;
  /** What is wrong with its entry by now, where that was once good. */
  readonly problem?: string;
}

/**
 * Connects what the registry has, without a request to a cluster, and hands out the clients of the newest reading. To be called
 * when nothing is under way: the clients of clusters that left are closed then. A cluster whose entry is faulty, or whose kubeconfig
 * cannot be read, is logged; its client says so to each call, and finds a kubeconfig when it is mended. An entry that becomes faulty
 * names no other way: its cluster is reached as before.
 *
 * @throws ConfigError where the registry cannot be used, at first; a later reading that fails is logged, and changes nothing
 */
export async function openClusterClients(options: ClusterClientsOptions): Promise<() => Promise<ClusterClients>> {
  const { registry, clock, log, read = readClusters } = options;
  let members = connectAll(await read(registry), new Map(), log);
  if (parseReference(registry) === undefined) {
    const clients = clientsOf(members);
    return async () => clients;
  }
  let readAt = moment(clock);
  let news: readonly ClusterEntry[] | undefined;
  let told: string | undefined;

  async function look(): Promise<void> {
    try {
      news = await read(registry);
      if (told !== undefined) log.info('the cluster registry can be used again', { clusters: news.length });
      told = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const code = error instanceof ConfigError ? error.code : 'unclassified';
      if (told !== reason) log.error('the cluster registry cannot be used; the clusters stay as they are', { code, reason });
      told = reason;
    }
  }

  return async () => {
    if (ageMs(readAt, moment(clock)) >= REGISTRY_AGE_MS) {
      readAt = moment(clock);
      const waiting = new AbortController();
      await Promise.race([look(), clock.sleep(NEWS_WITHIN_MS, waiting.signal)]);
      waiting.abort();
    }
    if (news !== undefined) {
      const before = members;
      members = connectAll(news, before, log);
      news = undefined;
      for (const [name, { client }] of before) if (members.get(name)?.client !== client) client.close();
    }
    return clientsOf(members);
  };
}

interface Moment {
  readonly wallMs: number;
  readonly steadyMs: number;
}

function moment(clock: ClusterClientsOptions['clock']): Moment {
  return { wallMs: clock.now().getTime(), steadyMs: clock.steadyMs() };
}

/** By whichever clock says more: a frozen environment may stop one, and somebody may set the other. */
function ageMs(since: Moment, now: Moment): number {
  return Math.max(now.wallMs - since.wallMs, now.steadyMs - since.steadyMs);
}

function connectAll(entries: readonly ClusterEntry[], before: ReadonlyMap<ClusterName, Member>, log: Log): Map<ClusterName, Member> {
  return new Map(entries.map((entry) => [entry.name, memberOf(entry, before.get(entry.name), log)]));
}

function memberOf(entry: ClusterEntry, known: Member | undefined, log: Log): Member {
  const { name, access } = entry;
  if (known !== undefined && isDeepStrictEqual(known.access, access)) return { access, client: known.client };
  if (access.kind !== 'faulty' || known === undefined || known.access.kind === 'faulty') return { access, client: connect(entry, log) };
  const { code, message: reason } = entryFault(access.problem);
  if (known.problem !== reason)
    log.error('registry entry cannot be used; the cluster is reached as before', { cluster: name, code, reason });
  return { ...known, problem: reason };
}

function connect(entry: ClusterEntry, log: Log): KubernetesClient {
  try {
    return connectCluster(entry);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error('cluster cannot be connected; the others go on', { cluster: entry.name, code: error.code, reason: error.message });
    return connectCluster(entry, { isDeferred: true });
  }
}

function clientsOf(members: ReadonlyMap<ClusterName, Member>): ClusterClients {
  return new Map([...members].map(([name, { client }]) => [name, client]));
}
