/**
 * The environments of one function: a free warm one first, a new one up to the maximum, else invocations wait their turn. Or they are
 * throttled, where a test wants to see what comes of that.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { ConfigError } from '../../../functions/core/errors.ts';
import { onParentExit } from '../parent-exit.ts';
import { Environment, type InvokeOptions } from './environment.ts';
import { FUNCTION_DEFAULTS, type FunctionSettings } from './function-settings.ts';
import type { InvocationResult } from './invocation.ts';
import { unpackZip } from './zip.ts';

export interface PoolOptions extends Partial<FunctionSettings> {
  /** A zip, which is unpacked to a folder of its own, or a folder, which is used as it is. */
  readonly artifact: string;
  /** Environments at the same time; 1 or more. */
  readonly maximumConcurrency: number;
  /**
   * As the setting of Lambda: while so many invocations run, another one does not wait its turn but is throttled. 0 or more; 0 throttles
   * all. Left out, or above `maximumConcurrency`: none is.
   */
  readonly reservedConcurrency?: number;
}

export interface Pool {
  readonly timeoutMs: number;
  readonly maximumConcurrency: number;
  /** Runs the function once. What goes wrong in it is a result; rejects only when the pool was stopped before its turn came, or there are no credentials. */
  invoke(event: unknown, options?: InvokeOptions): Promise<InvocationResult>;
  /** Ends every process and removes what was unpacked. Running invocations get an error: let them end first. */
  stop(): Promise<void>;
}

/** @throws ConfigError `bad-package` when the artifact is absent or cannot be unpacked */
export function createPool({
  artifact,
  maximumConcurrency,
  reservedConcurrency = Number.POSITIVE_INFINITY,
  ...options
}: PoolOptions): Pool {
  const settings: FunctionSettings = { ...FUNCTION_DEFAULTS, ...options };
  const code = openArtifact(artifact);
  const free: Environment[] = []; // the most recently used last
  const busy = new Set<Environment>();
  const waiting: { readonly take: () => void; readonly refuse: (reason: Error) => void }[] = [];
  let taken = 0;
  let isStopped = false;

  /** A place in the pool: at most `maximumConcurrency` are taken. */
  function takePlace(): Promise<void> | undefined {
    if (isStopped) throw stopped();
    if (taken === maximumConcurrency) return new Promise((take, refuse) => waiting.push({ take, refuse }));
    taken += 1;
    return undefined;
  }

  function leavePlace(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next.take();
  }

  async function takeEnvironment(): Promise<Environment> {
    if (free.length > 0) await turn(); // we may not have been told yet that a process has ended
    for (let warm = free.pop(); warm !== undefined; warm = free.pop()) {
      if (!warm.isOver && !warm.isExpiring) return warm;
      if (!warm.isOver) await warm.stop();
    }
    const cold = await Environment.start(settings, code.root);
    if (!isStopped) return cold;
    await cold.stop();
    throw stopped();
  }

  return {
    timeoutMs: settings.timeoutMs,
    maximumConcurrency,
    async invoke(event, invokeOptions) {
      if (!isStopped && taken >= reservedConcurrency)
        return { kind: 'throttled', reservedConcurrency, requestId: randomUUID(), coldStart: false, initMs: undefined, durationMs: 0 };
      await takePlace();
      try {
        const environment = await takeEnvironment();
        busy.add(environment);
        try {
          return await environment.invoke(event, invokeOptions);
        } finally {
          busy.delete(environment);
          if (isStopped) await environment.stop();
          else free.push(environment);
        }
      } finally {
        leavePlace();
      }
    },
    async stop() {
      isStopped = true;
      for (const { refuse } of waiting.splice(0)) refuse(stopped());
      await Promise.all([...free.splice(0), ...busy].map((environment) => environment.stop()));
      code.discard();
    },
  };
}

function stopped(): Error {
  return new Error('the pool was stopped');
}

function openArtifact(artifact: string): { readonly root: string; readonly discard: () => void } {
  const path = resolve(artifact);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new ConfigError('bad-package', `there is no package ${path}; build it first`, { facts: { file: path } });
  if (found.isDirectory()) return { root: path, discard: () => undefined };
  const root = mkdtempSync(join(tmpdir(), 'dogwatch-function-'));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  const forget = onParentExit(remove);
  const discard = (): void => {
    forget();
    remove();
  };
  try {
    unpackZip(path, root);
  } catch (error) {
    discard();
    throw error;
  }
  return { root, discard };
}
