/**
 * The whole product on real parts: control planes, ElasticMQ, the built bundles, watcher and `dogwatch run` each in a
 * process of its own. One system a test file; everything in it ends with `stop`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../../infra/build.ts';
import { type Lab, startLab } from '../../infra/local/start-lab.ts';
import { type Api, connectApi, until } from './api.ts';
import { type Depth, measureDepth } from './depth.ts';
import { type RunningProcess, startProcess } from './process.ts';

/** Short settings, so that a killed function's record comes back within a test. */
export const FUNCTION_TIMEOUT_SECONDS = 5;

export interface System {
  readonly lab: Lab;
  /** The first cluster's API as its admin. */
  readonly api: Api;
  /** The API of any cluster of the system, as its admin. */
  apiOf(cluster: string): Api;
  readonly watcher: RunningProcess;
  readonly functionHost: RunningProcess;
  startWatcher(): Promise<RunningProcess>;
  startFunction(): Promise<RunningProcess>;
  /** kubectl against the first cluster; throws with its stderr when it fails. */
  kubectl(words: readonly string[], input?: string): Promise<string>;
  /** A metric of the running watcher, summed over its labels; 0 where it has none yet. */
  metric(name: string, labels?: string): Promise<number>;
  /** Body of /metrics. */
  metrics(): Promise<string>;
  /** Body of /readyz. */
  readyz(): Promise<string>;
  /** Builds what is started from now on with another list of reconcilers; a path from the project's root. */
  rebuild(reconcilers: string): Promise<void>;
  /** Changes the environment of what is started from now on. */
  override(env: Readonly<Record<string, string>>): void;
  /** Applies the CRDs of the project's reconcilers to every cluster. */
  applyCrds(): Promise<void>;
  depth(queue: 'live' | 'bulk' | 'dead-letters'): Promise<Depth>;
  /** Resolves when nothing is pending, in flight or delayed in the work queues. */
  drained(withinMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly clusters?: readonly string[];
  /** Builds with another list of reconcilers; a path from the project's root. */
  readonly reconcilers?: string;
  /** Neither process is started; the test starts what it wants. */
  readonly idle?: boolean;
  /** Additional environment of both processes. */
  readonly env?: Readonly<Record<string, string>>;
  readonly visibilitySeconds?: number;
  readonly maxReceiveCount?: number;
  /** Default: {@link FUNCTION_TIMEOUT_SECONDS}. */
  readonly functionTimeoutSeconds?: number;
  /** YAML of CRDs to apply instead of those of the project's own reconcilers; empty for none. */
  readonly crds?: string;
}

/** Starts a system. @throws whatever kept a part from starting, after stopping what had started */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const clusters = options.clusters ?? ['east'];
  const dist = mkdtempSync(join(tmpdir(), 'dogwatch-dist-'));
  await build({ out: dist, quiet: true, ...(options.reconcilers === undefined ? {} : { reconcilers: options.reconcilers }) });
  const lab = await startLab({
    clusters,
    auditLog: true,
    visibilitySeconds: options.visibilitySeconds ?? 30,
    maxReceiveCount: options.maxReceiveCount ?? 5,
  });
  const settings: Record<string, string> = {
    DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
    DOGWATCH_RECORD_DEADLINE_SECONDS: '3',
    // None while a test counts what is in a queue.
    DOGWATCH_HEARTBEAT_SECONDS: '3600',
    // Tests change an object as soon as it has settled, again and again; few of them are about being held for that.
    DOGWATCH_HOLD_MAX_SECONDS: '1',
    ...options.env,
  };
  const envOf = (user: string): Record<string, string> => ({ ...lab.envFor(user), ...settings });
  const plane = lab.clusters.get(clusters[0] ?? '');
  if (plane === undefined) throw new Error('a system needs a cluster');
  const apis = new Map([...lab.clusters].map(([name, one]) => [name, connectApi(one)]));
  const apiOf = (cluster: string): Api => {
    const found = apis.get(cluster);
    if (found === undefined) throw new Error(`the system has no cluster ${cluster}`);
    return found;
  };
  const running: RunningProcess[] = [];
  let watcher: RunningProcess | undefined;
  let functionHost: RunningProcess | undefined;
  let httpUrl = '';

  const system: System = {
    lab,
    api: apiOf(plane.name),
    apiOf,
    get watcher() {
      if (watcher === undefined) throw new Error('the watcher was not started');
      return watcher;
    },
    get functionHost() {
      if (functionHost === undefined) throw new Error('the function was not started');
      return functionHost;
    },
    async startWatcher() {
      watcher = startProcess([process.execPath, join(dist, 'watcher.cjs')], envOf('dogwatch-watcher'));
      running.push(watcher);
      const line = await watcher.line(/"address":"/);
      httpUrl = `http://${/"address":"([^"]+)"/.exec(line)?.[1]}`;
      return watcher;
    },
    async startFunction() {
      const timeout = String(options.functionTimeoutSeconds ?? FUNCTION_TIMEOUT_SECONDS);
      const words = ['run', '--timeout', timeout, '--artifact', join(dist, 'reconcile.zip')];
      functionHost = startProcess([process.execPath, 'functions/cli/bin.js', ...words], envOf('dogwatch-reconcile'));
      running.push(functionHost);
      await functionHost.line(/polling/);
      return functionHost;
    },
    async kubectl(words, input) {
      const done = await plane.kubectl([...words], input === undefined ? {} : { input });
      if (done.code !== 0) throw new Error(`kubectl ${words.join(' ')} failed: ${done.stderr}`);
      return done.stdout;
    },
    async metric(name, labels = '') {
      const lines = (await system.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return lines.filter((line) => line.includes(labels)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    async metrics() {
      return (await fetch(`${httpUrl}/metrics`)).text();
    },
    async readyz() {
      return (await fetch(`${httpUrl}/readyz`)).text();
    },
    async rebuild(reconcilers) {
      await build({ out: dist, quiet: true, reconcilers });
    },
    override(changed) {
      Object.assign(settings, changed);
    },
    applyCrds: () => applyCrds(envOf('admin'), clusters),
    depth: (queue) => measureDepth(lab, queue),
    async drained(withinMs = 60_000) {
      await until(
        'the work queues are empty',
        async () => {
          const [live, bulk] = await Promise.all([measureDepth(lab, 'live'), measureDepth(lab, 'bulk')]);
          return live.total + bulk.total === 0 || undefined;
        },
        withinMs,
      );
    },
    async stop() {
      await Promise.all(running.map((one) => one.stop()));
      for (const api of apis.values()) api.close();
      await lab.stop();
      rmSync(dist, { recursive: true, force: true });
    },
  };
  try {
    if (options.crds === undefined) await system.applyCrds();
    else if (options.crds !== '') await system.kubectl(['apply', '--server-side', '-f', '-'], options.crds);
    if (options.idle !== true) await Promise.all([system.startWatcher(), system.startFunction()]);
  } catch (error) {
    await system.stop();
    throw error;
  }
  return system;
}

async function applyCrds(env: Readonly<Record<string, string>>, clusters: readonly string[]): Promise<void> {
  for (const cluster of clusters) {
    const command = startProcess([process.execPath, 'functions/cli/bin.js', 'crds', '--apply', '--cluster', cluster], env);
    const code = await command.exited;
    if (code !== 0) throw new Error(`dogwatch crds --apply ended with ${code}:\n${command.lines.join('\n')}`);
  }
}
