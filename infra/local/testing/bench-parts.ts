/** What a bench is made of: clusters, the watcher, queues, the function, and the pipeline that moves them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterName, groupKind } from '../../../events/resource.ts';
import { type ClusterEntry, connectCluster } from '../../../functions/adapters/clusters.ts';
import { openCredentials } from '../../../functions/adapters/kubernetes/credentials.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import { createTransport, type Transport } from '../../../functions/adapters/kubernetes/transport.ts';
import type { ReconcileConfig } from '../../../functions/core/config.ts';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { checkReconcilers, type Reconciler } from '../../../functions/core/reconciler.ts';
import { startApiServer } from '../api-server/api-server.ts';
import { Activity } from './activity.ts';
import { BenchError } from './bench-error.ts';
import { type BenchOptions, configOf } from './bench-options.ts';
import { Effects } from './effects.ts';
import { FunctionProcess } from './function-process.ts';
import { Pipeline } from './pipeline.ts';
import { Recorder } from './recorder.ts';
import { TEST_MANAGER, TestCluster } from './test-cluster.ts';
import { TestQueues } from './test-queues.ts';
import { VirtualClock } from './virtual-clock.ts';
import { Watching } from './watching.ts';

const START = new Date('2026-01-01T00:00:00Z');
const HANG_MS = 5_000;

export class BenchParts {
  readonly reconcilers: readonly Reconciler[];
  readonly clusters: TestCluster[] = [];
  readonly clock: VirtualClock;
  readonly queues: TestQueues;
  readonly recorder: Recorder;
  readonly effects = new Effects();
  readonly pipeline: Pipeline;
  readonly #config: ReconcileConfig;
  readonly #activity = new Activity();
  readonly #dir = mkdtempSync(join(tmpdir(), 'dogwatch-testing-'));
  readonly #entries: ClusterEntry[] = [];
  readonly #transports: Transport[] = [];
  readonly #clients = new Map<ClusterEntry['name'], KubernetesClient>();
  #watching: Watching;
  #process: FunctionProcess | undefined;
  #isClosed = false;

  private constructor({ reconcilers, now = START, hangMs = HANG_MS, onLog }: BenchOptions, config: ReconcileConfig) {
    this.reconcilers = reconcilers;
    this.#config = config;
    this.clock = new VirtualClock(now);
    this.queues = new TestQueues(this.clock, config.functionTimeoutSeconds);
    this.recorder = new Recorder(onLog);
    this.pipeline = new Pipeline({
      ...{ clusters: this.clusters, queues: this.queues, clock: this.clock, activity: this.#activity, hangMs },
      outcomes: this.recorder.outcomes,
      watching: () => this.#watching,
      process: () => this.livingProcess(),
      onDeath: (message) => this.recorder.died(message),
      checkOpen: () => this.checkOpen(),
    });
    this.#watching = this.#createWatching();
  }

  /** Clusters are up, CRDs applied; nothing is watched yet. */
  static async start(options: BenchOptions): Promise<BenchParts> {
    const { clusters = ['test'], reconcilers, crds = [] } = options;
    if (clusters.length === 0) throw new BenchError('no-cluster', 'clusters is empty; name one, or leave it out');
    const twice = clusters.find((name, at) => clusters.indexOf(clusterName(name)) !== at);
    if (twice !== undefined) throw new BenchError('cluster-twice', `clusters names ${twice} twice; each needs a name of its own`);
    if (!Array.isArray(reconcilers)) {
      throw new BenchError('no-reconciler', 'reconcilers is no list; give what defineReconciler returned, in an array');
    }
    const noReconciler = reconcilers.findIndex((one) => typeof one?.resource?.kind !== 'string' || typeof one.reconcile !== 'function');
    if (noReconciler >= 0) {
      const text = `reconcilers[${noReconciler}] is no reconciler; give what defineReconciler returned, and look whether it is exported`;
      throw new BenchError('no-reconciler', text);
    }
    checkReconcilers(reconcilers);
    const parts = new BenchParts(options, configOf(options.settings));
    try {
      for (const name of clusters) {
        const cluster = await parts.#addCluster(name);
        for (const crd of crds) await (typeof crd === 'string' ? cluster.apply(crd) : cluster.apply(crd));
        for (const { resource } of reconcilers) if (!resource.isDescribed) await cluster.apply({ ...customResourceDefinition(resource) });
        await refuseMissingKinds(cluster, reconcilers);
      }
      await parts.restartWatcher();
      return parts;
    } catch (error) {
      await parts.close();
      throw error;
    }
  }

  /** @throws BenchError `closed` */
  checkOpen(): void {
    if (this.#isClosed) throw new BenchError('closed', 'the bench is closed; await what is asked of it before the test ends');
  }

  /** The function's process: another one after a death. */
  livingProcess(): FunctionProcess {
    if (!this.#process?.isAlive) this.#process = this.#createProcess();
    return this.#process;
  }

  /** The process that the function has now; undefined while it works on nothing. */
  get workingProcess(): FunctionProcess | undefined {
    return this.pipeline.isInvoking ? this.#process : undefined;
  }

  async restartWatcher(): Promise<void> {
    await this.#watching.kill();
    this.#watching = this.#createWatching();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watching.kill();
    for (const client of this.#clients.values()) client.close();
    for (const transport of this.#transports) transport.close();
    await Promise.all(this.clusters.map(({ server }) => server.stop()));
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #addCluster(name: string): Promise<TestCluster> {
    const server = await startApiServer({
      tls: false,
      now: () => this.clock.now(),
      onWrite: (write) => this.recorder.wrote(name, write),
    });
    const path = join(this.#dir, `${name}.kubeconfig`);
    writeFileSync(path, server.kubeconfig(name), { mode: 0o600 });
    const access = { kind: 'file', path, context: undefined } as const;
    const entry: ClusterEntry = { name: clusterName(name), access, where: `cluster ${name}` };
    const transport = createTransport({ credentials: openCredentials(access), userAgent: TEST_MANAGER });
    const cluster = new TestCluster({ name, server, transport, activity: this.#activity, checkOpen: () => this.checkOpen() });
    this.clusters.push(cluster);
    this.#entries.push(entry);
    this.#transports.push(transport);
    this.#clients.set(entry.name, connectCluster(entry));
    return cluster;
  }

  #createWatching(): Watching {
    return new Watching({
      ...{ clusters: this.#entries, connect: connectCluster, reconcilers: this.reconcilers, config: this.#config },
      ...{ queues: this.queues, clock: this.clock, activity: this.#activity, log: this.recorder.log },
    });
  }

  #createProcess(): FunctionProcess {
    return new FunctionProcess({
      ...{ clusters: this.#clients, reconcilers: this.reconcilers, config: this.#config, queues: this.queues },
      ...{ clock: this.clock, activity: this.#activity, effects: this.effects, log: this.recorder.log },
    });
  }
}

async function refuseMissingKinds(cluster: TestCluster, reconcilers: readonly Reconciler[]): Promise<void> {
  const needed = reconcilers.flatMap(({ resource, owns, reads }) =>
    [resource, ...owns, ...reads].map((type) => ({ by: resource.kind, name: groupKind(type) })),
  );
  const [missing] = await cluster.missingKinds(needed.map(({ name }) => name));
  if (missing === undefined) return;
  const by = needed.find(({ name }) => name === missing)?.by;
  const text = `the reconciler of ${by} is for, owns or reads ${missing}, which the embedded API server does not have`;
  throw new BenchError('kind-not-served', `${text}; give its CustomResourceDefinition in crds`);
}
