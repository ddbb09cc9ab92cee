/** A whole watcher over embedded API servers: the product's own client over real sockets, a fake queue, time that hurries. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { clusterName } from '../../../events/resource.ts';
import type { Clock } from '../../../functions/adapters/clock.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import { openCredentials } from '../../../functions/adapters/kubernetes/credentials.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import { createTransport } from '../../../functions/adapters/kubernetes/transport.ts';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { startWatcher, type Watcher, type WatcherOptions } from '../../../functions/watcher/watcher.ts';
import { type ApiServerOptions, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { Activity } from '../../../infra/local/testing/activity.ts';
import { TEST_MANAGER, TestCluster } from '../../../infra/local/testing/test-cluster.ts';
import { hurriedClock } from '../../fakes/hurried-clock.ts';
import { envelopeOf, FakeQueue } from '../../fakes/queue.ts';
import { until } from '../../until.ts';
import { FakeLog, UPKEEP } from './scene.ts';

/** How much faster the watcher's time passes than ours. */
const HURRY = 50;
/** What the clocks of all clusters show, for ever. */
const CLUSTER_TIME = new Date('2026-03-01T00:00:00Z');

export const PROBE_SECONDS = 15;

const tenants = defineResource({
  group: 'platform.example',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  scope: 'Cluster',
  spec: z.object({ size: z.number().optional(), note: z.string().optional() }),
  status: z.object({ phase: z.string().optional() }),
});
export const TENANT_CRD = customResourceDefinition(tenants);

/** Applies a Tenant. */
export function put(cluster: TestCluster, name: string, size = 1, metadata: object = {}) {
  return cluster.apply({ apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name, ...metadata }, spec: { size } });
}

/** Applies Tenants whose status says that all is done. */
export async function putSettled(cluster: TestCluster, names: readonly string[], metadata: object = {}): Promise<void> {
  for (const name of names) {
    await put(cluster, name, 1, metadata);
    await cluster.patchStatus('Tenant', name, { observedGeneration: 1 });
  }
}

export class WireScene {
  readonly #settings: Partial<WatcherOptions['config']>;
  readonly #dir = mkdtempSync(join(tmpdir(), 'dogwatch-wire-'));
  readonly #ends: (() => unknown)[] = [];
  readonly clock: Clock;
  readonly queue = new FakeQueue();
  readonly clusters = new Map<string, TestCluster>();
  readonly clients = new Map<string, KubernetesClient>();
  /** Path and query of the watches that the watcher asked for, of all clusters. */
  readonly watches: string[] = [];
  watcher: Watcher | undefined;
  readonly #told: EnvelopeData[] = [];

  /**
   * @param settings  those that differ
   * @param clockIsOffMs how far the watcher's clock is ahead of the clusters'
   */
  constructor(settings: Partial<WatcherOptions['config']> = {}, clockIsOffMs = 0) {
    this.#settings = settings;
    this.clock = hurriedClock(HURRY, new Date(CLUSTER_TIME.getTime() + clockIsOffMs));
  }

  /** A cluster that serves Tenants, and is watched. */
  async add(name: string, options: ApiServerOptions = {}): Promise<TestCluster> {
    const kubeconfig = await this.serve(name, options);
    const transport = createTransport({
      credentials: openCredentials({ kind: 'file', path: kubeconfig.path, context: undefined }),
      userAgent: TEST_MANAGER,
    });
    this.#ends.push(() => transport.close());
    const cluster = new TestCluster({ name, server: kubeconfig.server, transport, activity: new Activity(), checkOpen: () => {} });
    this.clusters.set(name, cluster);
    if (options.from === undefined) await cluster.apply({ ...TENANT_CRD });
    this.connect(name, kubeconfig.path);
    return cluster;
  }

  /** An API server, and the path of the kubeconfig for it. */
  async serve(name: string, options: ApiServerOptions = {}) {
    const server = await startApiServer({ now: () => CLUSTER_TIME, tls: false, ...options });
    this.#ends.push(() => server.stop());
    const noted = ({ isWatch, userAgent, url }: { isWatch: boolean; userAgent: string; url: string }): false => {
      if (isWatch && userAgent !== TEST_MANAGER) this.watches.push(url);
      return false;
    };
    server.faults.add({ kind: 'reset', where: noted });
    return { server, path: this.writeKubeconfig(name, server.kubeconfig(name)) };
  }

  writeKubeconfig(name: string, text: string): string {
    const path = join(this.#dir, `${name}.json`);
    writeFileSync(path, text);
    return path;
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
        probeSeconds: PROBE_SECONDS,
        ...UPKEEP,
        healAfterSeconds: never,
        resyncSeconds: never,
        heartbeatSeconds: never,
        ...this.#settings,
      },
      clusters,
      registry: { read: async () => clusters.map(({ client: _, ...cluster }) => cluster), connect: () => assert.fail('nothing new') },
      reconcilers: [{ resource: tenants, revision: 1 }],
      queue: this.queue,
      clock: this.clock,
      log: new FakeLog(),
    });
  }

  async stop(): Promise<void> {
    await this.watcher?.stop();
    for (const end of this.#ends) await end();
    rmSync(this.#dir, { recursive: true });
  }

  /** Sent of one cluster so far, as `created name`, in alphabetical order. */
  sent(cluster: string): string[] {
    // It is asked again and again by those who wait: each message is read once.
    for (const { message } of this.queue.accepted.slice(this.#told.length)) this.#told.push(envelopeOf(message).data);
    const found = this.#told.filter((data) => data.cluster === cluster);
    return found.map(({ reason, name }) => `${reason} ${name}`).sort();
  }

  status(cluster: string): CellStatus | undefined {
    return this.watcher?.statuses().find((cell) => cell.cluster === cluster);
  }

  /** Whether the watch of that cluster is open, or of each. */
  streams(cluster?: string): boolean {
    const cells = this.watcher?.statuses().filter((cell) => cluster === undefined || cell.cluster === cluster) ?? [];
    return cells.length > 0 && cells.every(({ phase }) => phase === 'streaming');
  }

  requestCount(cluster: string): number {
    return this.clients.get(cluster)?.requestCount ?? 0;
  }

  /** Something happens in a cluster that is well, and is sent. */
  async works(name: string, object: string): Promise<void> {
    const cluster = this.clusters.get(name);
    assert.ok(cluster !== undefined);
    await put(cluster, object);
    await until(`${object} is sent`, () => this.sent(name).some((sent) => sent.endsWith(` ${object}`)));
  }
}
