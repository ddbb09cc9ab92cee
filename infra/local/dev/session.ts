/**
 * A development run: everything that Dogwatch needs and is, on this machine. Clusters from one source or another, embedded queues, the
 * built watcher and the built function, which is swapped when the code changes. It tells what happens as events; what is wrong with the
 * code, a manifest or one cluster is told and the rest goes on.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readConfig, readSetting } from '../../../functions/core/config.ts';
import type { ListenAddress } from '../../../functions/core/settings.ts';
import { startHealthServer } from '../../../functions/watcher/health.ts';
import { findFreePorts } from '../free-ports.ts';
import { removeWhenOrphaned } from '../orphan-guard.ts';
import { onParentExit } from '../parent-exit.ts';
import { type ClusterSource, type DevCluster, type DevClusters, writeRegistry } from './dev-clusters.ts';
import { type DevQueues, startDevQueues } from './dev-queues.ts';
import type { DevEvent } from './dev-state.ts';
import type { EmbeddedCluster } from './embedded-clusters.ts';
import type { Appliers } from './manifest-files.ts';
import { runPipeline } from './run-pipeline.ts';

export interface DevOptions<Cluster extends DevCluster = DevCluster> {
  readonly clusters: ClusterSource<Cluster>;
  /** Settings of Dogwatch in it hold; where clusters, queues and AWS are is decided here. */
  readonly env: Environment;
  /** Manifests that are applied at the start, to every cluster. */
  readonly manifests: readonly string[];
  /** A module that exports `reconcilers` in place of functions/reconcilers/index.ts. */
  readonly reconcilers?: string;
  /** The code stays what it is at the start, whatever is saved. */
  readonly isCodeFixed?: boolean;
  readonly emit: (event: DevEvent) => void;
}

/** What a pipeline that runs is made of. */
export interface DevPipeline<Cluster extends DevCluster = EmbeddedCluster> {
  readonly clusters: readonly Cluster[];
  /** By the clusters' names. */
  readonly appliers: Appliers;
  readonly queues: DevQueues;
  /** Where its HTTP side is: `http://host:port`. */
  readonly watcherAddress: string;
  /** Of the run, and removed with it. */
  readonly dir: string;
  /** What the watcher is configured by. */
  readonly env: Readonly<Record<string, string>>;
  /** Lines for whoever wants to try something. */
  readonly firstSteps: readonly string[];
}

export interface DevSession<Cluster extends DevCluster = EmbeddedCluster> {
  /** Resolves when the first code is in use, the watcher is ready, and samples and manifests are applied: not before the code can be built. */
  readonly ready: Promise<DevPipeline<Cluster>>;
  /** Resolves with what the run cannot go on with. */
  readonly failed: Promise<unknown>;
  /** Ends everything within three seconds and removes what was written. */
  stop(): Promise<void>;
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const SETTINGS = /^(DOGWATCH_|POWERTOOLS_)|^LOG_LEVEL$/;
/** What is meant for hours on AWS is to be seen within half a minute here. */
const SHORT_RETRIES = { DOGWATCH_MAX_ATTEMPTS: '4' };

/** Resolves when clusters and queues are there; the rest follows. @throws ConfigError for a setting that is wrong, before anything is started */
export async function startDevSession<Cluster extends DevCluster>(options: DevOptions<Cluster>): Promise<DevSession<Cluster>> {
  const { emit } = options;
  const own = Object.entries(options.env).filter(([name, value]) => SETTINGS.test(name) && value !== undefined);
  const settings: Record<string, string> = { ...SHORT_RETRIES, ...Object.fromEntries(own) };
  const timeoutSeconds = readSetting(settings, 'functionTimeoutSeconds');
  const address = await findAddress(readSetting({ DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0', ...settings }, 'httpAddress'));

  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-dev-'));
  // Kept to the end of the process: a build that is under way when a run ends may write once more.
  const endGuard = removeWhenOrphaned(dir);
  onParentExit(() => {
    rmSync(dir, { recursive: true, force: true });
    endGuard();
  });
  let clusters: DevClusters<Cluster> | undefined;
  let queues: DevQueues | undefined;
  try {
    clusters = await options.clusters.start(dir, emit);
    queues = await startDevQueues(timeoutSeconds);
    const env = { ...settings, DOGWATCH_CLUSTERS: writeRegistry(dir, clusters.all), ...queues.env, DOGWATCH_HTTP_ADDRESS: address };
    readConfig(env, 'watcher');
    return runPipeline(options, { dir, clusters, queues, env, timeoutSeconds });
  } catch (error) {
    await Promise.allSettled([clusters?.stop(), queues?.stop()]);
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** Where the watcher can listen, every time that it is begun. @throws ConfigError where another process does */
async function findAddress({ host, port }: ListenAddress): Promise<string> {
  const [free] = port === 0 ? await findFreePorts(1) : [port];
  const address = { host, port: free ?? 0 };
  const metrics = { contentType: 'text/plain', text: async () => '' };
  await (await startHealthServer({ address, statuses: () => [], metrics, log: SILENT })).close();
  return `${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
