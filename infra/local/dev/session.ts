/**
 * A development run: everything that Dogwatch needs and is, on this machine. Clusters from one source or another, embedded queues, the
 * built watcher and the built function, which is swapped when the code changes. It tells what happens as events; what is wrong with the
 * code, a manifest or one cluster is told and the rest goes on.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Environment, readConfig, readSetting } from '../../../functions/core/config.ts';
import type { ListenAddress } from '../../../functions/core/settings.ts';
import { startHealthServer } from '../../../functions/watcher/health.ts';
import { findFreePorts } from '../free-ports.ts';
import { removeWhenOrphaned } from '../orphan-guard.ts';
import { onParentExit } from '../parent-exit.ts';
import { functionEnvironment } from '../run-function.ts';
import { shellWord } from '../shell-word.ts';
import { readCells } from './cell-levels.ts';
import { onCodeChange } from './code-changes.ts';
import { createCodeLoop } from './code-loop.ts';
import { createCodeUser } from './code-user.ts';
import type { Crd } from './crd-calls.ts';
import { createCrdKeeper } from './crd-keeper.ts';
import { type ClusterSource, type DevCluster, type DevClusters, writeRegistry } from './dev-clusters.ts';
import { type DevQueues, startDevQueues } from './dev-queues.ts';
import type { DevEvent } from './dev-state.ts';
import type { EmbeddedCluster } from './embedded-clusters.ts';
import { firstSteps } from './first-steps.ts';
import { runSources } from './function-sources.ts';
import { type Appliers, applyFile, applySamples } from './manifest-files.ts';
import { ReplaceableFunction } from './replaceable-function.ts';
import { sessionClusters } from './session-clusters.ts';
import { createWatcherProcess } from './watcher-process.ts';

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
const ROOT = resolve(import.meta.dirname, '../../..');
const SETTINGS = /^(DOGWATCH_|POWERTOOLS_)|^LOG_LEVEL$/;
/** What is meant for hours on AWS is to be seen within half a minute here. */
const SHORT_RETRIES = { DOGWATCH_MAX_ATTEMPTS: '4' };
const LEVELS_MS = 1_000;
/** How often it is looked whether somebody has changed the CRDs. */
const CRDS_MS = 3_000;
/** What may still be running when a run ends gets so long. */
const STOP_SECONDS = 1.2;

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
    return runSession(options, { dir, clusters, queues, env, timeoutSeconds });
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

interface Surroundings<Cluster extends DevCluster> {
  readonly dir: string;
  readonly clusters: DevClusters<Cluster>;
  readonly queues: DevQueues;
  /** Of the watcher and, but for the credentials, of the function. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

function runSession<Cluster extends DevCluster>(
  { emit, manifests, reconcilers, isCodeFixed = false }: DevOptions<Cluster>,
  { dir, clusters, queues, env, timeoutSeconds }: Surroundings<Cluster>,
): DevSession<Cluster> {
  const stopping = new AbortController();
  const { promise: failed, resolve: fail } = Promise.withResolvers<unknown>();
  const { promise: ready, resolve: setReady } = Promise.withResolvers<DevPipeline<Cluster>>();
  const members = sessionClusters(clusters.all, emit, (left) => writeRegistry(dir, left));
  const crds = createCrdKeeper(members.kept, emit);
  let hasBegun = false;
  const useCrds = async (wanted: readonly Crd[]): Promise<void> => {
    await members.admit(wanted).catch((error: unknown) => {
      if (!hasBegun) fail(error); // later the code before goes on
      throw error;
    });
    await crds.use(wanted);
  };
  const runningCode = new ReplaceableFunction(timeoutSeconds * 1000);
  const watcherAddress = `http://${env['DOGWATCH_HTTP_ADDRESS']}`;
  const watcher = createWatcherProcess({
    env,
    logPath: join(dir, 'watcher.log'),
    onEnd: (text) => emit({ kind: 'notice', level: 'error', text }),
    onRefusal: fail,
  });
  const module = reconcilers === undefined ? undefined : resolve(reconcilers);
  const codeUser = createCodeUser({
    emit,
    crds: { use: useCrds },
    runningCode,
    watcher,
    functionEnv: functionEnvironment(readConfig(env, 'reconcile'), env),
    timeoutMs: timeoutSeconds * 1000,
    firstUse: (kinds) => void begin(kinds).catch(fail),
  });
  const loop = createCodeLoop({ dir, reconcilers: module, emit, use: codeUser });
  const folders = { trees: [join(ROOT, 'functions'), join(ROOT, 'events')], folders: module === undefined ? [] : [dirname(module)] };
  const onChange = (file: string): void => {
    const near = relative(process.cwd(), file);
    emit({ kind: 'step', text: `${near.startsWith('..') ? file : near} changed` });
    loop.build();
  };
  const onUnwatched = (folder: string, reason: string): void => {
    const mend = reason === 'ENOSPC' ? ', and raise fs.inotify.max_user_watches' : '';
    emit({ kind: 'notice', level: 'warn', text: `changes in ${folder} are not noticed (${reason}): start again after one${mend}` });
  };
  const endWatching = isCodeFixed ? () => undefined : onCodeChange(folders, onChange, onUnwatched);
  let sourcesEnd: Promise<void> | undefined;

  async function begin(kinds: ReadonlySet<string>): Promise<void> {
    hasBegun = true;
    const all = members.all();
    const appliers = members.appliers();
    const ownAppliers = new Map([...appliers].filter(([name]) => all.some((cluster) => cluster.name === name && cluster.isOwn)));
    sourcesEnd = runSources(queues, runningCode, stopping, emit);
    sourcesEnd.catch(fail);
    await watcher.ready(stopping.signal);
    await applySamples(kinds, ownAppliers, emit);
    for (const file of manifests) await applyFile(file, appliers, emit);
    const maxAttempts = readSetting(env, 'maxAttempts');
    const envFile = writeEnvFile(dir, env, { ...clusters, all });
    const path = [clusters.programs, process.env['PATH']].filter((part) => part !== undefined).join(delimiter);
    const steps = firstSteps({ clusters: all, envFile, watcherAddress, path, maxAttempts });
    setReady({ clusters: all, appliers, queues, watcherAddress, env, firstSteps: steps });
  }

  async function tellLevels(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Neither is there all the time: the next second tells.
      for (const event of await Promise.allSettled([queues.levels(), readCells(watcherAddress)])) {
        if (event.status === 'fulfilled' && !stopping.signal.aborted) emit(event.value);
      }
      await sleep(LEVELS_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function keepCrds(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(CRDS_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) await crds.look();
    }
  }

  loop.build();
  tellLevels().catch(fail);
  keepCrds().catch(fail);
  return {
    ready,
    failed,
    async stop() {
      endWatching();
      stopping.abort();
      const bound = sleep(STOP_SECONDS * 1000, undefined, { ref: false });
      await Promise.race([Promise.allSettled([sourcesEnd, watcher.stop(STOP_SECONDS), loop.stop()]), bound]);
      await Promise.allSettled([watcher.stop(0), runningCode.stop()]);
      members.close();
      await Promise.allSettled([queues.stop(), clusters.stop()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What other terminals need for `dogwatch reconcile` and kubectl, as a file to source. */
function writeEnvFile(dir: string, env: Readonly<Record<string, string>>, { all, programs }: DevClusters): string {
  const { DOGWATCH_HTTP_ADDRESS: _, ...rest } = env;
  const path = join(dir, 'env');
  const kubeconfigs = new Set(all.map(({ kubeconfigPath }) => kubeconfigPath));
  const lines = Object.entries({ ...rest, KUBECONFIG: [...kubeconfigs].join(':') }).map(
    ([name, value]) => `export ${name}=${shellWord(value)}\n`,
  );
  if (programs !== undefined) lines.push(`export PATH=${shellWord(programs)}:"$PATH"\n`);
  writeFileSync(path, lines.join(''), { mode: 0o600 });
  return path;
}
