/** Puts built code to use: kinds first, then the function, which must know a kind before messages of it come, then the watcher. */
import { rmSync } from 'node:fs';
import { ConfigError, oneLine } from '../../../functions/core/errors.ts';
import type { InvocationResult } from '../function-host/invocation.ts';
import { createPool, type Pool, type PoolOptions } from '../function-host/pool.ts';
import type { Code } from './code.ts';
import type { Crd } from './crd-calls.ts';
import type { CrdKeeper } from './crd-keeper.ts';
import type { DevEvent } from './dev-state.ts';
import { eventOfLine } from './function-lines.ts';
import { LANE_CONCURRENCY } from './function-sources.ts';
import type { ReplaceableFunction } from './replaceable-function.ts';
import type { WatcherProcess } from './watcher-process.ts';

export interface CodeUserOptions {
  readonly emit: (event: DevEvent) => void;
  readonly crds: Pick<CrdKeeper, 'use'>;
  readonly runningCode: Pick<ReplaceableFunction, 'replace'>;
  readonly watcher: Pick<WatcherProcess, 'run'>;
  readonly functionEnv: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of the function; tests bring one without processes. */
  readonly startPool?: (options: PoolOptions) => Pool;
  /** Called once, when the first code is in use, with the kinds that it defines: `<apiVersion> <kind>`. */
  readonly firstUse: (kinds: ReadonlySet<string>) => void;
}

/**
 * The function that does it. Code that is as the code in use starts nothing anew; its CRDs are applied again.
 *
 * @throws ConfigError of one line where the function does not start, or a cluster refuses a CRD; the code before goes on
 */
export function createCodeUser(options: CodeUserOptions): (code: Code) => Promise<void> {
  const { runningCode, watcher, firstUse } = options;
  let functionCode: Code | undefined;
  let watcherCode: Code | undefined;
  let isInUse = false;
  /** Replaced, with invocations that still run. */
  const ending = new Set<Code>();

  /** The folders of builds that nobody runs. */
  const discard = (...codes: readonly (Code | undefined)[]): void => {
    for (const code of codes)
      if (code !== undefined && code !== functionCode && code !== watcherCode && !ending.has(code))
        rmSync(code.dir, { recursive: true, force: true });
  };

  async function swap(code: Code): Promise<void> {
    const before = { function: functionCode, watcher: watcherCode };
    if (before.function?.digests.function === code.digests.function) {
      await options.crds.use(code.crds as readonly Crd[]);
    } else {
      const next = await startCode(code, options);
      functionCode = code;
      void replace(before.function, next);
    }
    if (before.watcher?.digests.watcher === code.digests.watcher) return;
    await watcher.run(code.dir);
    watcherCode = code;
    discard(before.watcher);
  }

  async function replace(old: Code | undefined, next: Pool): Promise<void> {
    if (old !== undefined) ending.add(old);
    await runningCode.replace(next);
    if (old !== undefined) ending.delete(old);
    discard(old);
  }

  return async (code) => {
    await swap(code).finally(() => discard(code));
    if (isInUse) return;
    isInUse = true;
    firstUse(kindsOf(code.crds));
  };
}

/** Starts it, one process of it too, so that the next message finds that warm, and has its kinds served. @throws ConfigError */
async function startCode(code: Code, { emit, functionEnv, timeoutMs, crds, startPool = createPool }: CodeUserOptions): Promise<Pool> {
  const pool = startPool({
    artifact: code.dir,
    maximumConcurrency: 2 * LANE_CONCURRENCY,
    timeoutMs,
    env: { ...functionEnv, NODE_OPTIONS: '--enable-source-maps' },
    log: (line) => {
      const event = eventOfLine(line);
      if (event !== undefined) emit(event);
    },
  });
  try {
    const answer = await pool.invoke({ Records: [] });
    if (answer.kind !== 'answer') throw new ConfigError('function-fault', `the function does not start: ${describeFault(answer)}`);
    await crds.use(code.crds as readonly Crd[]);
    return pool;
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

function describeFault(answer: InvocationResult): string {
  return answer.kind === 'error' ? oneLine(`${answer.error.errorType}: ${answer.error.errorMessage}`) : answer.kind;
}

function kindsOf(crds: Code['crds']): Set<string> {
  return new Set(
    (crds as readonly Crd[]).flatMap(({ spec: { group, names, versions } }) => {
      return versions.map(({ name }) => `${group}/${name} ${names.kind}`);
    }),
  );
}
