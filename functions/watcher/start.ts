/**
 * From an environment to a running watcher and to an exit code: what `dist/watcher.cjs` and `dogwatch watch` do. Everything
 * outside comes in as {@link StartAdapters}, so that a test can run the whole sequence.
 */
import { type Clock, systemClock } from '../adapters/clock.ts';
import { type ClusterEntry, connectCluster, readClusters } from '../adapters/clusters.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Queue } from '../adapters/queue-port.ts';
import { readCalmly, readRemoteText } from '../adapters/remote-text.ts';
import { createServerReader, type ServerReader } from '../adapters/server-reader.ts';
import { createLog, type Log } from '../adapters/telemetry.ts';
import { mapBounded } from '../core/bounded.ts';
import { type Environment, readConfig } from '../core/config.ts';
import { ConfigError, oneLine } from '../core/errors.ts';
import { checkReconcilers } from '../core/reconciler.ts';
import { reconcilers } from '../reconcilers/index.ts';
import type { RegisteredCluster } from './registry-watch.ts';
import { type StartingCluster, startWatcher, type WatcherOptions } from './watcher.ts';

/** Kubeconfigs that are read at once: a store of AWS throttles who asks for a hundred. */
const SERVERS_AT_ONCE = 10;

/** 0: stopped as asked; 1: ended by a fault of ours; 2: wrong configuration, before anything was started. */
export type WatcherExitCode = 0 | 1 | 2;

/** The process around the watcher. */
export interface Host {
  /**
   * Calls back for each request to stop (SIGTERM, SIGINT). The first counts and the others do nothing, for npm passes on a
   * Ctrl-C that the terminal has sent to every process of the group already. Stopping is bounded.
   */
  onStop(stop: () => void): void;
  /** Calls back for every error that nothing caught. */
  onFault(fault: (error: unknown) => void): void;
  /** Takes the callbacks away. */
  release(): void;
  writeError(line: string): void;
}

export interface StartAdapters {
  readonly readClusters: (reference: string) => Promise<readonly ClusterEntry[]>;
  /** The API server's address as the entry's kubeconfig has it now; undefined where that cannot be read. */
  readonly serverOf: ServerReader;
  readonly connectCluster: (entry: ClusterEntry) => KubernetesClient;
  readonly createQueue: () => Promise<Queue>;
  readonly reconcilers: WatcherOptions['reconcilers'];
  readonly clock: Clock;
  readonly createLog: () => Log;
  readonly host: Host;
}

/** Runs a watcher until it is asked to stop. Faults are told of and turned into the exit code; nothing is thrown. */
export async function runWatcher(env: Environment, adapters: Partial<StartAdapters> = {}): Promise<WatcherExitCode> {
  const all: StartAdapters = { ...realAdapters(), ...adapters };
  const { host } = all;
  const clusters: StartingCluster[] = [];
  const faults: ConfigError[] = [];
  let log: Log | undefined;
  try {
    const config = readConfig(env, 'watcher');
    const read = async (): Promise<RegisteredCluster[]> => {
      const entries = await all.readClusters(config.clusters);
      return mapBounded(entries, SERVERS_AT_ONCE, async (entry) => ({ entry, server: await all.serverOf(entry) }));
    };
    const end = Promise.withResolvers<void>();
    // Before anything is waited for: a registry in AWS may be long in coming.
    host.onStop(end.resolve);
    const registered = await Promise.race([read(), end.promise]);
    if (registered === undefined) return 0;
    for (const cluster of registered) clusters.push({ ...cluster, client: connectIfGood(cluster.entry, all.connectCluster, faults) });
    // One bad cluster stops no other, also not when the pod is moved; where there is none but bad ones, somebody should know at once.
    if (faults.length === clusters.length && faults[0] !== undefined) throw faults[0];
    const queue = await all.createQueue();
    log = all.createLog();
    let exitCode: WatcherExitCode = 0;
    const fail = (error: unknown): void => {
      exitCode = 1;
      log?.error('unexpected error; the watcher ends', { error });
      end.resolve();
    };
    host.onFault(fail);
    const watcher = await startWatcher({
      config,
      clusters,
      registry: { read, connect: all.connectCluster },
      reconcilers: checkReconcilers(all.reconcilers),
      queue,
      clock: all.clock,
      log,
    });
    watcher.done.catch(fail);
    await end.promise;
    await watcher.stop();
    return exitCode;
  } catch (error) {
    if (error instanceof ConfigError) {
      host.writeError(`dogwatch: ${oneLine(error.message)}`);
      return 2;
    }
    (log ?? all.createLog()).error('the watcher could not be started or stopped', { error });
    return 1;
  } finally {
    host.release();
    for (const { client } of clusters) client?.close();
  }
}

function connectIfGood(entry: ClusterEntry, connect: StartAdapters['connectCluster'], faults: ConfigError[]): KubernetesClient | undefined {
  try {
    return connect(entry);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error);
    return undefined;
  }
}

function realAdapters(): StartAdapters {
  // Asked for every five seconds, as files are; fetched once a minute.
  const readText = readCalmly(readRemoteText, () => systemClock.steadyMs());
  return {
    readClusters: (reference) => readClusters(reference, readText),
    serverOf: createServerReader(readText),
    connectCluster: (entry) => connectCluster(entry),
    // Apart, because the SDK costs more to load than everything else together; a wrong configuration is told without it.
    createQueue: async () => (await import('../adapters/sqs.ts')).createQueue(),
    reconcilers,
    clock: systemClock,
    createLog: () => createLog('watcher'),
    host: processHost(process),
  };
}

/** A process as a {@link Host}. */
export function processHost(target: NodeJS.Process): Host {
  const listeners: (readonly [event: string, listener: (error: unknown) => void])[] = [];
  const listen = (event: string, listener: (error: unknown) => void): void => {
    listeners.push([event, listener]);
    target.on(event, listener);
  };
  return {
    onStop(stop) {
      for (const signal of ['SIGTERM', 'SIGINT']) listen(signal, () => stop());
    },
    onFault(fault) {
      for (const event of ['unhandledRejection', 'uncaughtException']) listen(event, fault);
    },
    release() {
      for (const [event, listener] of listeners.splice(0)) target.off(event, listener);
    },
    writeError(line) {
      target.stderr.write(`${line}\n`);
    },
  };
}
