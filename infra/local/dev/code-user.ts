/** Puts built code to use: kinds first, then the function, which must know a kind before messages of it come, then the watcher. */
import { rmSync } from 'node:fs';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { InvocationResult } from '../function-host/invocation.ts';
import { createPool, type Pool } from '../function-host/pool.ts';
import type { Code } from './code.ts';
import type { DevEvent } from './dev-state.ts';
import { eventOfLine } from './function-lines.ts';
import { LANE_CONCURRENCY } from './function-sources.ts';
import type { ManifestObject } from './manifest.ts';
import { type Appliers, applyToAll, nameOf } from './manifest-files.ts';
import type { ReplaceableFunction } from './replaceable-function.ts';
import type { WatcherProcess } from './watcher-process.ts';

export interface CodeUserOptions {
  readonly emit: (event: DevEvent) => void;
  readonly appliers: Appliers;
  readonly runningCode: ReplaceableFunction;
  readonly watcher: WatcherProcess;
  readonly functionEnv: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Called once, when the first code is in use, with the kinds that it defines: `<apiVersion> <kind>`. */
  readonly firstUse: (kinds: ReadonlySet<string>) => void;
}

/**
 * The function that does it. Code that is as the code in use changes nothing.
 *
 * @throws ConfigError of one line where the function does not start, or a cluster refuses a CRD; the code before goes on
 */
export function createCodeUser(options: CodeUserOptions): (code: Code) => Promise<void> {
  const { runningCode, watcher, firstUse } = options;
  let functionCode: Code | undefined;
  let watcherCode: Code | undefined;

  /** The folders of builds that nobody runs. */
  const discard = (...codes: readonly (Code | undefined)[]): void => {
    for (const code of codes)
      if (code !== undefined && code !== functionCode && code !== watcherCode) rmSync(code.dir, { recursive: true, force: true });
  };

  return async (code) => {
    const before = { function: functionCode, watcher: watcherCode };
    if (before.function?.digests.function !== code.digests.function) {
      const next = await startCode(code, options).catch((error: unknown) => {
        discard(code);
        throw error;
      });
      functionCode = code;
      void runningCode.replace(next).then(() => discard(before.function, before.watcher));
    }
    if (before.watcher?.digests.watcher !== code.digests.watcher) {
      watcherCode = code;
      await watcher.run(code.dir);
    }
    discard(code);
    if (before.function === undefined) firstUse(kindsOf(code.crds));
  };
}

/** Starts it, one process of it too, so that the next message finds that warm, and has its kinds served. @throws ConfigError */
async function startCode(code: Code, { emit, functionEnv, timeoutMs, appliers }: CodeUserOptions): Promise<Pool> {
  const pool = createPool({
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
    await applyCrds(code.crds as readonly ManifestObject[], appliers);
    return pool;
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

function describeFault(answer: InvocationResult): string {
  return answer.kind === 'error' ? `${answer.error.errorType}: ${answer.error.errorMessage}`.replace(/\s*\n\s*/g, ' ') : answer.kind;
}

/** @throws ConfigError `crd-refused` */
async function applyCrds(crds: readonly ManifestObject[], appliers: Appliers): Promise<void> {
  for (const crd of crds) {
    for (const [text, clusters] of await applyToAll(crd, appliers))
      throw new ConfigError('crd-refused', `${nameOf(crd)} is refused by ${clusters.join(' and ')}: ${text}`);
  }
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly name: string }[];
}

function kindsOf(crds: Code['crds']): Set<string> {
  return new Set(
    crds.flatMap(({ spec }) => {
      const { group, names, versions } = spec as CrdSpec;
      return versions.map(({ name }) => `${group}/${name} ${names.kind}`);
    }),
  );
}
