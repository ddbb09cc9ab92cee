/**
 * The watcher: a fleet of clusters with a cell for each kind, one outbox, one health server. The cells know nothing of each
 * other; all that they share is the outbox, which is fair.
 */
import { groupKind } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Queue } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import type { Config } from '../core/config.ts';
import type { ListenAddress } from '../core/settings.ts';
import type { CellSettings } from './cell.ts';
import type { CellStatus } from './cell-status.ts';
import { createClusterCells, type WatchedReconciler } from './cells.ts';
import { Fleet, type FleetOptions } from './fleet.ts';
import { startHealthServer } from './health.ts';
import { runHeartbeat } from './heartbeat.ts';
import { CountedMarks, createMetrics } from './metrics.ts';
import type { ObserverSettings } from './observer.ts';
import { createOutbox } from './outbox.ts';
import { type RegisteredCluster, type RegistryWatchOptions, watchRegistry } from './registry-watch.ts';

/** A cluster as the watcher starts with it; without a client it is failing, and is tried again. */
export interface StartingCluster extends RegisteredCluster {
  readonly client: KubernetesClient | undefined;
}

export interface WatcherOptions {
  readonly config: CellSettings & ObserverSettings & Pick<Config, 'queueUrls' | 'httpAddress' | 'heartbeatSeconds'>;
  /** Those of the registry now. The watcher closes the clients in the end. */
  readonly clusters: readonly StartingCluster[];
  /** Where the clusters come from, to be read again while running. */
  readonly registry: Pick<RegistryWatchOptions, 'read'> & Pick<FleetOptions, 'connect'>;
  readonly reconcilers: readonly WatchedReconciler[];
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Watcher {
  /** Where health and metrics are served. */
  readonly address: ListenAddress;
  readonly statuses: () => readonly CellStatus[];
  /** Resolves once stopped; rejects for a fault of ours, never for one of a cluster or of SQS. */
  readonly done: Promise<void>;
  /**
   * Stops reading, sends what is still dirty, closes clients and health server.
   * Calling it again changes nothing.
   *
   * @returns how many objects are left unsent; the next start finds them unsettled
   */
  stop(): Promise<{ readonly left: number }>;
}

/** How long a stopping watcher goes on sending. Kubernetes kills 30 s after SIGTERM by default; the rest is for ending. */
export const DRAIN_MS = 20_000;

/**
 * A watcher that is running.
 *
 * @throws ConfigError `http-address` where health cannot be served; nothing was started then
 */
export async function startWatcher(options: WatcherOptions): Promise<Watcher> {
  const { config, clusters, registry, reconcilers, queue, clock, log } = options;
  const metrics = createMetrics({
    statuses: () => fleet.statuses(),
    sources: () => fleet.sources,
    nowMs: () => clock.now().getTime(),
  });
  const outbox = createOutbox({
    queue,
    queueUrls: config.queueUrls,
    clock,
    log,
    onResult: (source, { kind }, lane) => metrics.countSend(source, lane, kind),
  });
  const createMarks = (): CountedMarks => new CountedMarks({ onDirty: () => outbox.wake(), onAdd: () => metrics.countAdd() });
  const fleet = new Fleet({
    connect: registry.connect,
    createCells: (client) => createClusterCells({ client, reconcilers, createMarks, settings: config, clock, log }),
    kinds: reconcilers.map(({ resource }) => groupKind(resource)),
    outbox,
    clock,
    log,
  });
  const statuses = (): readonly CellStatus[] => fleet.statuses();
  const health = await startHealthServer({ address: config.httpAddress, statuses, metrics, log });

  const reading = new AbortController();
  const sending = new AbortController();
  for (const { client, ...cluster } of clusters) if (client !== undefined) fleet.start({ ...cluster, client });
  if (clusters.some(({ client }) => client === undefined)) fleet.apply(clusters.map(({ entry, server }) => ({ entry, server })));
  const registryRun = watchRegistry({ read: registry.read, apply: (found) => fleet.apply(found), clock, log }, reading.signal);
  const beat = { statuses, queue, queueUrl: config.queueUrls.live, intervalSeconds: config.heartbeatSeconds, clock, log };
  const heartbeatRun = runHeartbeat(beat, reading.signal);
  const outboxRun = outbox.run(sending.signal);
  const stopped = Promise.withResolvers<void>();
  const fault = Promise.all([outboxRun, registryRun, heartbeatRun]).then(() => stopped.promise);
  const done = Promise.race([stopped.promise, fleet.fault, fault]);
  const { address } = health;
  log.info('watcher started', { address: `${address.host}:${address.port}`, clusters: clusters.length, cells: statuses().length });
  if (statuses().length === 0) log.warn('nothing to watch: the registry has no cluster, or there is no reconciler');

  const stop = async (): Promise<{ readonly left: number }> => {
    log.info('watcher stopping', { depth: outbox.depth() });
    reading.abort();
    await Promise.allSettled([registryRun, heartbeatRun, fleet.stop()]);
    sending.abort();
    // Not waited for: a call that hangs is counted by the drain, and must not outlast it.
    const left = await outbox.drain(DRAIN_MS);
    await health.close();
    if (left > 0) log.warn('watcher stopped with unsent objects; the next start sends them', { left });
    else log.info('watcher stopped', { left });
    stopped.resolve();
    return { left };
  };
  let stopping: ReturnType<typeof stop> | undefined;
  return {
    address,
    statuses,
    done,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
