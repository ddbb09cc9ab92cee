/**
 * The clusters that are watched now. It follows the registry: what is new in it starts, what left it stops, and a cluster that is
 * reached in another way starts anew. All others go on undisturbed, on the sockets they have.
 *
 * Credentials are no reason to start anew: the client reads them again by itself.
 */
import type { ClusterName } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { ClusterEntry } from '../adapters/clusters.ts';
import { entryFault } from '../adapters/kubernetes/kube-config.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError, cutText } from '../core/errors.ts';
import type { CellStatus } from './cell-status.ts';
import type { ClusterCells } from './cells.ts';
import type { Outbox, OutboxSource } from './outbox.ts';
import type { RegisteredCluster } from './registry-watch.ts';

export interface FleetOptions {
  /** Throws a ConfigError where the entry's kubeconfig cannot be used. */
  readonly connect: (entry: ClusterEntry) => KubernetesClient;
  readonly createCells: (client: KubernetesClient) => ClusterCells;
  /** What each cluster is watched for, as a status names it: shown of a cluster that has no cells. */
  readonly kinds: readonly string[];
  readonly outbox: Pick<Outbox, 'add' | 'remove'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A cluster that could be connected. */
export interface ConnectedCluster extends RegisteredCluster {
  readonly client: KubernetesClient;
}

interface Running {
  readonly kind: 'running';
  readonly cluster: RegisteredCluster;
  readonly client: KubernetesClient;
  readonly cells: ClusterCells;
  readonly stopping: AbortController;
  /** Resolves when nothing of its cells is under way. */
  readonly ended: Promise<void>;
}

/** No client can be made of its entry. */
interface Failing {
  readonly kind: 'failing';
  readonly cluster: RegisteredCluster;
  readonly sinceMs: number;
  readonly code: string;
  readonly message: string;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #members = new Map<ClusterName, Running | Failing>();
  /** What is wrong with entries whose clusters are watched as they were before. */
  readonly #entryProblems = new Map<ClusterName, string>();
  /** Of cells that were told to stop. */
  readonly #endings = new Set<Promise<void>>();
  readonly #fault = Promise.withResolvers<never>();

  constructor(options: FleetOptions) {
    this.#options = options;
    // Kept for whoever asks; that nobody has asked yet is no unhandled rejection.
    this.#fault.promise.catch(() => undefined);
  }

  /** Rejects with the first fault of ours that ended a cell; never resolves. */
  get fault(): Promise<never> {
    return this.#fault.promise;
  }

  /** In the order of the registry's first mention. */
  get clusters(): readonly ClusterName[] {
    return [...this.#members.keys()];
  }

  /** What the cells of now mark. */
  get sources(): readonly OutboxSource[] {
    return [...this.#members.values()].flatMap((member) => (member.kind === 'running' ? member.cells.sources : []));
  }

  statuses(): readonly CellStatus[] {
    return [...this.#members.values()].flatMap((member) =>
      member.kind === 'running' ? member.cells.cells.map((cell) => cell.status()) : this.#statusesOf(member),
    );
  }

  /** Starts to watch a cluster that is connected already. Its client is closed with it. */
  start({ client, ...cluster }: ConnectedCluster): void {
    const { createCells, outbox } = this.#options;
    const cells = createCells(client);
    for (const source of cells.sources) outbox.add(source);
    const stopping = new AbortController();
    const ended = Promise.all(cells.cells.map((cell) => cell.run(stopping.signal))).then(() => client.close());
    ended.catch(this.#fault.reject);
    this.#members.set(cluster.entry.name, { kind: 'running', cluster, client, cells, stopping, ended });
  }

  /**
   * Makes the fleet what the registry says. Nothing is waited for: a cluster that is taken out sends nothing more from now on,
   * and its calls end by themselves. Where a cluster cannot be connected, the others go on; the next call tries again. An entry that
   * became faulty names no other way, so its cluster is watched as before.
   */
  apply(clusters: readonly RegisteredCluster[]): void {
    const names = new Set(clusters.map(({ entry }) => entry.name));
    for (const [name, member] of this.#members) {
      if (names.has(name)) continue;
      this.#stop(member);
      this.#members.delete(name);
      this.#entryProblems.delete(name);
      this.#options.log.info('cluster taken from the registry; it is watched no more', { cluster: name });
    }
    for (const cluster of clusters) this.#put(cluster);
  }

  /** Ends all reading; resolves when nothing is under way. What is dirty stays with the outbox. Apply nothing any more. */
  async stop(): Promise<void> {
    for (const member of this.#members.values()) if (member.kind === 'running') this.#end(member);
    await Promise.all(this.#endings);
  }

  #put(cluster: RegisteredCluster): void {
    const { log } = this.#options;
    const { name } = cluster.entry;
    const member = this.#members.get(name);
    if (member?.kind === 'running') {
      if (this.#hasFault(cluster.entry)) return;
      if (isSameAccess(member.cluster, cluster)) {
        // The server becomes known where it was not, and is not forgotten where it cannot be read now.
        this.#members.set(name, { ...member, cluster: { ...cluster, server: cluster.server ?? member.cluster.server } });
        return;
      }
      this.#stop(member);
      log.info('cluster is reached in another way; it is watched anew', { cluster: name });
    }
    const client = this.#connect(cluster, member?.kind === 'failing' ? member : undefined);
    if (client === undefined) return;
    this.start({ ...cluster, client });
    if (member?.kind === 'failing') log.info('cluster can be connected again', { cluster: name });
    else if (member === undefined) log.info('cluster added from the registry', { cluster: name });
  }

  /** Whether it is faulty; told of once for each reason, and once when it is mended. */
  #hasFault({ name, access }: ClusterEntry): boolean {
    const { log } = this.#options;
    if (access.kind !== 'faulty') {
      if (this.#entryProblems.delete(name)) log.info('registry entry can be used again', { cluster: name });
      return false;
    }
    const { code, message: reason } = entryFault(access.problem);
    if (this.#entryProblems.get(name) !== reason)
      log.error('registry entry cannot be used; the cluster is watched as before', { cluster: name, code, reason });
    this.#entryProblems.set(name, reason);
    return true;
  }

  #connect(cluster: RegisteredCluster, before: Failing | undefined): KubernetesClient | undefined {
    const { connect, clock, log } = this.#options;
    const { name } = cluster.entry;
    try {
      return connect(cluster.entry);
    } catch (error) {
      const message = cutText(error instanceof Error ? error.message : String(error));
      const code = error instanceof ConfigError ? error.code : 'unclassified';
      if (before?.message !== message) {
        const stack = error instanceof ConfigError ? {} : { error };
        log.error('cluster cannot be connected; the others go on', { cluster: name, code, reason: message, ...stack });
      }
      const sinceMs = before?.sinceMs ?? clock.now().getTime();
      this.#members.set(name, { kind: 'failing', cluster, sinceMs, code, message });
      return undefined;
    }
  }

  /** Nothing of it is sent any more. */
  #stop(member: Running | Failing): void {
    if (member.kind === 'failing') return;
    for (const source of member.cells.sources) this.#options.outbox.remove(source);
    this.#end(member);
  }

  #end({ stopping, ended }: Running): void {
    stopping.abort();
    // A fault is told by `fault`.
    const ending: Promise<void> = ended.catch(() => undefined).finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  #statusesOf({ cluster, sinceMs, code, message }: Failing): CellStatus[] {
    return this.#options.kinds.map((kind) => ({
      cluster: cluster.entry.name,
      kind,
      role: 'primary',
      phase: 'failing',
      sinceMs,
      lastEventMs: undefined,
      objectCount: 0,
      unsettledCount: 0,
      oldestUnsettledSeconds: 0,
      relistCount: 0,
      reconnectCount: 0,
      error: { code, message },
    }));
  }
}

function isSameAccess(one: RegisteredCluster, other: RegisteredCluster): boolean {
  const isSameServer = one.server === undefined || other.server === undefined || one.server === other.server;
  return isSameServer && JSON.stringify(one.entry.access) === JSON.stringify(other.entry.access);
}
