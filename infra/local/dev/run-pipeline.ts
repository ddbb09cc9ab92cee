/** Runs the code between clusters and queues that are there: function, watcher, and what is told of them. */
import { rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig, readSetting } from '../../../functions/core/config.ts';
import { functionEnvironment } from '../run-function.ts';
import { readCells } from './cell-levels.ts';
import { followCode } from './code-follower.ts';
import { createCodeUser } from './code-user.ts';
import type { Crd } from './crd-calls.ts';
import { createCrdKeeper } from './crd-keeper.ts';
import { type DevCluster, type DevClusters, writeRegistry } from './dev-clusters.ts';
import type { DevQueues } from './dev-queues.ts';
import { writeEnvFile } from './env-file.ts';
import { firstSteps } from './first-steps.ts';
import { runSources } from './function-sources.ts';
import { applyFile, applySamples } from './manifest-files.ts';
import { ReplaceableFunction } from './replaceable-function.ts';
import type { DevOptions, DevPipeline, DevSession } from './session.ts';
import { sessionClusters } from './session-clusters.ts';
import { createWatcherProcess } from './watcher-process.ts';

/** What a run has before any code. */
export interface Surroundings<Cluster extends DevCluster> {
  readonly dir: string;
  readonly clusters: DevClusters<Cluster>;
  readonly queues: DevQueues;
  /** Of the watcher and, but for the credentials, of the function. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

const LEVELS_MS = 1_000;
/** How often it is looked whether somebody has changed the CRDs. */
const CRDS_MS = 3_000;
/** What may still be running when a run ends gets so long. */
const STOP_SECONDS = 1.2;

/** Returns at once; stopping it ends the surroundings too. */
export function runPipeline<Cluster extends DevCluster>(
  { emit, manifests, reconcilers, isCodeFixed = false }: Omit<DevOptions<Cluster>, 'clusters' | 'env'>,
  { dir, clusters, queues, env, timeoutSeconds }: Surroundings<Cluster>,
): DevSession<Cluster> {
  const stopping = new AbortController();
  const { promise: failed, resolve: fail } = Promise.withResolvers<unknown>();
  const { promise: ready, resolve: setReady } = Promise.withResolvers<DevPipeline<Cluster>>();
  const members = sessionClusters(clusters.all, emit, (left) => writeRegistry(dir, left));
  const crds = createCrdKeeper(members.kept, emit);
  const runningCode = new ReplaceableFunction(timeoutSeconds * 1000);
  const watcherAddress = `http://${env['DOGWATCH_HTTP_ADDRESS']}`;
  const watcher = createWatcherProcess({
    env,
    logPath: join(dir, 'watcher.log'),
    onEnd: (text) => emit({ kind: 'notice', level: 'error', text }),
    onRefusal: fail,
  });
  let hasBegun = false;
  let sourcesEnd: Promise<void> | undefined;

  async function useCrds(wanted: readonly Crd[]): Promise<void> {
    await members.admit(wanted).catch((error: unknown) => {
      if (!hasBegun) fail(error); // later the code before goes on
      throw error;
    });
    await crds.use(wanted);
  }

  /** When the first code is in use. */
  async function begin(kinds: ReadonlySet<string>): Promise<void> {
    hasBegun = true;
    sourcesEnd = runSources(queues, runningCode, stopping, emit);
    sourcesEnd.catch(fail);
    await watcher.ready(stopping.signal);
    const all = members.all();
    const appliers = members.appliers();
    const own = all.flatMap(({ name, isOwn }) => (isOwn ? name : []));
    await applySamples(kinds, new Map([...appliers].filter(([name]) => own.includes(name))), emit);
    for (const file of manifests) await applyFile(file, appliers, emit);
    const maxAttempts = readSetting(env, 'maxAttempts');
    const envFile = writeEnvFile(dir, env, { ...clusters, all });
    const path = [clusters.programs, process.env['PATH']].filter((part) => part !== undefined).join(delimiter);
    const isOtherCode = reconcilers !== undefined;
    const steps = firstSteps({ clusters: all, kinds, isOtherCode, envFile, watcherAddress, path, maxAttempts });
    setReady({ clusters: all, appliers, queues, watcherAddress, dir, env, firstSteps: steps });
  }

  async function tellLevels(): Promise<void> {
    // Neither is there all the time: the next second tells.
    for (const event of await Promise.allSettled([queues.levels(), readCells(watcherAddress)])) {
      if (event.status === 'fulfilled' && !stopping.signal.aborted) emit(event.value);
    }
  }

  const use = createCodeUser({
    ...{ emit, runningCode, watcher, timeoutMs: timeoutSeconds * 1000, crds: { use: useCrds } },
    functionEnv: functionEnvironment(readConfig(env, 'reconcile'), env),
    firstUse: (kinds) => void begin(kinds).catch(fail),
  });
  const module = reconcilers === undefined ? undefined : resolve(reconcilers);
  const code = followCode({ dir, reconcilers: module, emit, use, isFixed: isCodeFixed });
  repeat(tellLevels, LEVELS_MS, stopping.signal).catch(fail);
  repeat(() => crds.look(), CRDS_MS, stopping.signal).catch(fail);
  return {
    ready,
    failed,
    async stop() {
      stopping.abort();
      const bound = sleep(STOP_SECONDS * 1000, undefined, { ref: false });
      await Promise.race([Promise.allSettled([sourcesEnd, watcher.stop(STOP_SECONDS), code.stop()]), bound]);
      await Promise.allSettled([watcher.stop(0), runningCode.stop()]);
      members.close();
      await Promise.allSettled([queues.stop(), clusters.stop()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Does it now, and again so long after each end of it. */
async function repeat(work: () => Promise<void>, pauseMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
