/** The watcher on the bench: fleet and outbox as `startWatcher` makes them, without its HTTP side, its registry and its heartbeats. */
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import { groupKind } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../../functions/adapters/clusters.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import type { Config } from '../../../functions/core/config.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { createClusterCells } from '../../../functions/watcher/cells.ts';
import { Fleet } from '../../../functions/watcher/fleet.ts';
import { createOutbox, type Outbox } from '../../../functions/watcher/outbox.ts';
import type { Activity } from './activity.ts';
import { BenchError } from './bench-error.ts';
import { QUEUE_URLS, type TestQueues } from './test-queues.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { createWatchedClient, type OpenStream } from './watched-client.ts';

export interface WatchingOptions {
  readonly clusters: readonly ClusterEntry[];
  /** A new client of the cluster; whoever watches closes it. */
  readonly connect: (entry: ClusterEntry) => KubernetesClient;
  readonly reconcilers: readonly Reconciler[];
  readonly config: Config;
  readonly queues: TestQueues;
  readonly clock: VirtualClock;
  readonly activity: Activity;
  readonly log: Log;
}

export class Watching {
  readonly #fleet: Fleet;
  readonly #outbox: Outbox;
  readonly #sending = new AbortController();
  readonly #sent: Promise<void>;
  readonly #streams = new Map<string, Set<OpenStream>>();
  #fault: { readonly error: unknown } | undefined;

  constructor({ clusters, connect, reconcilers, config, queues, clock, activity, log }: WatchingOptions) {
    const own = clock.viewOf(this);
    const outbox = createOutbox({ queue: queues.clientOf('watcher'), queueUrls: QUEUE_URLS, clock: own, log });
    const createMarks = (): DirtyMarks => new DirtyMarks(() => outbox.wake());
    this.#outbox = outbox;
    this.#fleet = new Fleet({
      connect,
      createCells: (client) => createClusterCells({ client, reconcilers, createMarks, settings: config, clock: own, log }),
      kinds: reconcilers.map(({ resource }) => groupKind(resource)),
      outbox,
      clock: own,
      log,
    });
    const onFault = (error: unknown): void => {
      this.#fault ??= { error };
      activity.happened();
    };
    for (const entry of clusters) {
      const streams = new Set<OpenStream>();
      this.#streams.set(entry.name, streams);
      this.#fleet.start({ entry, server: undefined, client: createWatchedClient(connect(entry), activity, streams) });
    }
    this.#sent = outbox.run(this.#sending.signal).catch(onFault);
    this.#fleet.fault.catch(onFault);
  }

  /** Kinds whose watch of that cluster is open and behind `revision`. */
  behind(cluster: string, revision: number): string[] {
    return [...(this.#streams.get(cluster) ?? [])].flatMap(({ kind, position }) => (position < revision ? [kind] : []));
  }

  /** Cells that do not stream. */
  get recovering(): readonly CellStatus[] {
    return this.#fleet.statuses().filter(({ phase }) => phase !== 'streaming');
  }

  /** Objects whose message is held back or not yet sent. */
  get depth(): number {
    return this.#outbox.depth();
  }

  /** @throws BenchError for a fault of the watcher itself, which is one of Dogwatch */
  throwFault(): void {
    if (this.#fault === undefined) return;
    throw new BenchError('watcher-fault', 'the watcher ended with an error, which is a fault of Dogwatch; see its cause', {
      cause: this.#fault.error,
    });
  }

  /** It dies, with all that it remembers and has not sent. */
  async kill(): Promise<void> {
    this.#sending.abort();
    await this.#fleet.stop();
    await this.#sent;
  }
}
