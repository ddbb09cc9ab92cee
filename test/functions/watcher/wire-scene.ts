/** A whole watcher over clusters that are served over HTTPS: the product's own client, a fake queue, time that hurries. */
import assert from 'node:assert/strict';
import { clusterName } from '../../../events/resource.ts';
import type { Clock } from '../../../functions/adapters/clock.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { startWatcher, type Watcher, type WatcherOptions } from '../../../functions/watcher/watcher.ts';
import { hurriedClock } from '../../fakes/hurried-clock.ts';
import { FakeQueue } from '../../fakes/queue.ts';
import { CLUSTER_TIME, ServedCluster } from '../../fakes/served-cluster.ts';
import { until } from '../../until.ts';
import { COLUMNS, FakeLog, tenants, UPKEEP } from './scene.ts';

/** How much faster the watcher's time passes than ours. */
const HURRY = 50;

export class WireScene {
  readonly #settings: Partial<WatcherOptions['config']>;
  readonly clock: Clock;
  readonly queue = new FakeQueue();
  readonly served = new Map<string, ServedCluster>();
  readonly clients = new Map<string, KubernetesClient>();
  watcher: Watcher | undefined;

  /**
   * @param settings  those that differ
   * @param clockIsOffMs how far the watcher's clock is ahead of the clusters'
   */
  constructor(settings: Partial<WatcherOptions['config']> = {}, clockIsOffMs = 0) {
    this.#settings = settings;
    this.clock = hurriedClock(HURRY, new Date(CLUSTER_TIME.getTime() + clockIsOffMs));
  }

  async add(name: string): Promise<ServedCluster> {
    const served = await ServedCluster.start(name, [tenants], COLUMNS);
    this.served.set(name, served);
    this.connect(name, served.stub.kubeconfig());
    return served;
  }

  connect(name: string, path: string): void {
    const timeouts = { connectMs: 200, totalMs: 200, watchHeadersMs: 200 };
    this.clients.set(name, createKubernetesClient({ cluster: clusterName(name), kubeConfig: { kind: 'file', path }, timeouts }));
  }

  async start(): Promise<void> {
    const clusters = [...this.clients].map(([name, client]) => {
      const access = { kind: 'file', path: `/etc/${name}.yaml`, context: undefined } as const;
      return { entry: { name: clusterName(name), access, where: name }, server: undefined, client };
    });
    const never = 1_000_000_000;
    this.watcher = await startWatcher({
      config: {
        queueUrls: { live: 'https://sqs.test/live', bulk: 'https://sqs.test/bulk' },
        httpAddress: { host: '127.0.0.1', port: 0 },
        watchTimeoutSeconds: 300,
        watchGraceSeconds: 15,
        probeSeconds: 15,
        ...UPKEEP,
        healAfterSeconds: never,
        resyncSeconds: never,
        heartbeatSeconds: never,
        ...this.#settings,
      },
      clusters,
      registry: { read: async () => clusters.map(({ client: _, ...cluster }) => cluster), connect: () => assert.fail('nothing new') },
      reconcilers: [{ resource: tenants as never, revision: 1 }],
      queue: this.queue,
      clock: this.clock,
      log: new FakeLog(),
    });
  }

  async stop(): Promise<void> {
    await this.watcher?.stop();
    for (const served of this.served.values()) await served.close();
  }

  /** Sent of one cluster so far, as `created name`, in alphabetical order. */
  sent(cluster: string): string[] {
    const found = this.queue.envelopes().filter(({ data }) => data.cluster === cluster);
    return found.map(({ data }) => `${data.reason} ${data.name}`).sort();
  }

  status(cluster: string): CellStatus | undefined {
    return this.watcher?.statuses().find((cell) => cell.cluster === cluster);
  }

  allStream(): boolean {
    return this.watcher?.statuses().every(({ phase }) => phase === 'streaming') ?? false;
  }

  requestCount(cluster: string): number {
    return this.clients.get(cluster)?.requestCount ?? 0;
  }

  /** Something happens in a cluster that is well, and is sent. */
  async works(cluster: string, name: string): Promise<void> {
    this.served.get(cluster)?.cluster.create(tenants, { name });
    await until(`${name} is sent`, () => this.sent(cluster).some((sent) => sent.endsWith(` ${name}`)));
  }
}
