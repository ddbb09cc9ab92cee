/** One version of the code, built into a folder of its own: what the function and the watcher run, and the kinds it defines. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeFault } from '../../../functions/cli/code-fault.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { build } from '../../build.ts';
import { loadDefinitions } from './load-definitions.ts';

export interface Code {
  /** Holds reconcile.cjs, watcher.cjs and what they load. */
  readonly dir: string;
  readonly crds: readonly Readonly<Record<string, unknown>>[];
  /** The same for the same code. */
  readonly digests: { readonly function: string; readonly watcher: string };
}

/**
 * Builds and loads it.
 *
 * @param dir  is made, and removed where the code is of no use
 * @throws ConfigError of one line, with file and line where they are known, for whatever is wrong with the code
 */
export async function buildCode(dir: string, reconcilers: string | undefined): Promise<Code> {
  mkdirSync(dir, { recursive: true });
  const builds = [
    build({ quiet: true, out: dir, ...(reconcilers === undefined ? {} : { reconcilers }) }),
    loadDefinitions({ reconcilers, dir }),
  ] as const;
  // Both are waited for, so that none still writes when the other's fault is told.
  const [built, loaded] = await Promise.allSettled(builds);
  if (built.status === 'rejected' || loaded.status === 'rejected') {
    rmSync(dir, { recursive: true, force: true });
    throw oneLine(built.status === 'rejected' ? built.reason : (loaded as PromiseRejectedResult).reason);
  }
  return { dir, crds: loaded.value, digests: { function: digestOf(dir, 'reconcile.zip'), watcher: digestOf(dir, 'watcher.cjs') } };
}

function oneLine(error: unknown): unknown {
  if (error instanceof ConfigError) return error;
  const text = codeFault(error);
  return text === undefined ? error : new ConfigError('code-fault', text, { cause: error });
}

function digestOf(dir: string, file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(dir, file)))
    .digest('hex');
}
