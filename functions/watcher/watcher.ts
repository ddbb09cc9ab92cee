/**
 * The watcher: a cell for each cluster and kind, one outbox, one health server. The cells know nothing of each other; all
 * that they share is the outbox, which is fair.
 */
import type { ClusterName } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Queue } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import type { Config } from '../core/config.ts';
import type { ListenAddress } from '../core/settings.ts';
import type { Cell, CellSettings } from './cell.ts';
import type { CellStatus } from './cell-status.ts';
import { createClusterCells, type WatchedReconciler } from './cells.ts';
import { startHealthServer } from './health.ts';
import { CountedMarks, createMetrics } from './metrics.ts';
import { createOutbox } from './outbox.ts';
import type { UpkeepSettings } from './upkeep.ts';

export interface WatcherOptions {
  readonly config: CellSettings & UpkeepSettings & Pick<Config, 'queueUrls' | 'httpAddress'>;
  readonly clusters: ReadonlyMap<ClusterName, KubernetesClient>;
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
   * Stops reading, sends what is still dirty, closes the health server. The clients stay open; they are the caller's.
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
  const { config, clusters, reconcilers, queue, clock, log } = options;
  const cells: Cell[] = [];
  const allMarks: CountedMarks[] = [];
  const statuses = (): readonly CellStatus[] => cells.map((cell) => cell.status());
  const metrics = createMetrics({ statuses, marks: allMarks, outboxDepth: () => outbox.depth(), nowMs: () => clock.now().getTime() });
  const outbox = createOutbox({ queue, queueUrls: config.queueUrls, clock, log, onResult: (_, { kind }) => metrics.countSend(kind) });
  const createMarks = (): CountedMarks => {
    const marks = new CountedMarks(() => outbox.wake());
    allMarks.push(marks);
    return marks;
  };
  for (const client of clusters.values()) {
    const ofCluster = createClusterCells({ client, reconcilers, createMarks, settings: config, clock, log });
    cells.push(...ofCluster.cells);
    for (const source of ofCluster.sources) outbox.add(source);
  }
  const health = await startHealthServer({ address: config.httpAddress, statuses, metrics, log });

  const reading = new AbortController();
  const sending = new AbortController();
  const cellRuns = cells.map((cell) => cell.run(reading.signal));
  const outboxRun = outbox.run(sending.signal);
  const stopped = Promise.withResolvers<void>();
  const fault = Promise.all([outboxRun, ...cellRuns]).then(() => stopped.promise);
  const done = Promise.race([stopped.promise, fault]);
  const { address } = health;
  log.info('watcher started', { address: `${address.host}:${address.port}`, clusters: clusters.size, cells: cells.length });
  if (cells.length === 0) log.warn('nothing to watch: the registry has no cluster, or there is no reconciler');

  const stop = async (): Promise<{ readonly left: number }> => {
    log.info('watcher stopping', { depth: outbox.depth() });
    reading.abort();
    await Promise.allSettled(cellRuns);
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
