/** A whole watcher over fake clusters, in virtual time, with a registry that a test may change. */
import assert from 'node:assert/strict';
import type { ResourceType } from '../../../events/resource.ts';
import { clusterName } from '../../../events/resource.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { WatchedReconciler } from '../../../functions/watcher/cells.ts';
import type { RegisteredCluster } from '../../../functions/watcher/registry-watch.ts';
import { startWatcher, type Watcher, type WatcherOptions } from '../../../functions/watcher/watcher.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeQueue, SENT } from '../../fakes/queue.ts';
import { COLUMNS, FakeLog, tenants, UPKEEP } from './scene.ts';

export const queueUrls = { live: 'https://sqs.test/live', bulk: 'https://sqs.test/bulk' };
export const projects: ResourceType = { ...tenants, kind: 'Project', plural: 'projects' };

const running: WatcherScene[] = [];

/** Ends every watcher that a test started, also of one that failed: its health server would keep the process alive. */
export async function stopAll(): Promise<void> {
  for (const { queue, watcher } of running.splice(0)) {
    queue.answer = () => SENT;
    queue.release();
    await watcher.stop();
  }
}

export class WatcherScene {
  readonly clock = new FakeClock();
  readonly queue = new FakeQueue();
  readonly log = new FakeLog();
  readonly clusters = new Map<string, FakeCluster>();
  /** What the registry says from now on. */
  registered: RegisteredCluster[];
  /** What reading the registry throws. */
  registryFault: Error | undefined;
  /** What connecting a cluster throws, by its name. */
  readonly connectFaults = new Map<string, Error>();
  /** Clients that were made and closed, by cluster: `east`, `-east`. */
  readonly clients: string[] = [];
  watcher!: Watcher;

  constructor(...names: string[]) {
    this.registered = names.map((name) => this.addCluster(name));
  }

  /** A cluster, and how a registry would have it. */
  addCluster(name: string, path = `/etc/${name}.yaml`): RegisteredCluster {
    if (!this.clusters.has(name)) {
      const cluster = new FakeCluster({ name, now: () => this.clock.now() });
      for (const type of [tenants, projects]) cluster.serve(type, COLUMNS);
      this.clusters.set(name, cluster);
    }
    const access = { kind: 'file', path, context: undefined } as const;
    return { entry: { name: clusterName(name), access, where: `clusters.yml (${name})` }, server: `https://${name}` };
  }

  cluster(name: string): FakeCluster {
    const found = this.clusters.get(name);
    assert.ok(found !== undefined);
    return found;
  }

  /** @param kinds watched by reconcilers of revision 1 without any declaration; or those reconcilers */
  async start(
    kinds: readonly (ResourceType | WatchedReconciler)[] = [tenants],
    config: Partial<WatcherOptions['config']> = {},
  ): Promise<void> {
    this.watcher = await startWatcher({
      config: {
        queueUrls,
        httpAddress: { host: '127.0.0.1', port: 0 },
        watchTimeoutSeconds: 300,
        watchGraceSeconds: 15,
        probeSeconds: 300,
        ...UPKEEP,
        heartbeatSeconds: 3_600,
        ...config,
      },
      clusters: this.registered.map((cluster) => ({ ...cluster, client: this.#connect(cluster.entry.name) })),
      registry: {
        read: async () => {
          if (this.registryFault !== undefined) throw this.registryFault;
          return this.registered;
        },
        connect: ({ name }) => this.#connect(name),
      },
      reconcilers: kinds.map((kind) => ('resource' in kind ? kind : { resource: kind as never, revision: 1 })),
      queue: this.queue,
      clock: this.clock,
      log: this.log,
    });
    running.push(this);
    await this.clock.settle();
  }

  /** Sent so far, as `east Tenant created name`. */
  sent(): string[] {
    return this.queue.envelopes().map(({ data }) => `${data.cluster} ${data.kind} ${data.reason} ${data.name}`);
  }

  /** As `east Tenant.platform.example streaming`. */
  phases(): string[] {
    return this.watcher.statuses().map(({ cluster, kind, phase }) => `${cluster} ${kind} ${phase}`);
  }

  async get(path: string): Promise<{ status: number; text: string }> {
    const { host, port } = this.watcher.address;
    const answer = await fetch(`http://${host}:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  #connect(name: string): KubernetesClient {
    const fault = this.connectFaults.get(name);
    if (fault !== undefined) throw fault;
    this.clients.push(name);
    return Object.assign(Object.create(this.cluster(name).client) as KubernetesClient, { close: () => this.clients.push(`-${name}`) });
  }
}
