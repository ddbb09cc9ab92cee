/** Loads the reconcilers of one version of the code in a process of its own. */
import { fork } from 'node:child_process';
import { join, relative, resolve } from 'node:path';
import { build as esbuild } from 'esbuild';
import { ConfigError, oneLine } from '../../../functions/core/errors.ts';
import { replaceModule } from '../../build-plugins.ts';
import { plainEnv } from '../managed-process.ts';
import type { Definitions } from './definitions.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const RECONCILERS = join(ROOT, 'functions/reconcilers/index.ts');
const CORE = join(ROOT, 'functions/core/');

/** A module that is not loaded by then never is. */
const LOAD_MS = 10_000;

export interface LoadOptions {
  /** Absolute path of the module in place of functions/reconcilers/index.ts. */
  readonly reconcilers: string | undefined;
  /** Where the bundle goes. */
  readonly dir: string;
}

/**
 * The CRDs of all kinds that the reconcilers define.
 *
 * @throws ConfigError `code-fault` of one line with file and line where a module throws; esbuild's BuildFailure where it cannot be parsed
 */
export async function loadDefinitions({ reconcilers, dir }: LoadOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const outfile = join(dir, 'definitions.cjs');
  await esbuild({
    absWorkingDir: ROOT,
    entryPoints: [join(import.meta.dirname, 'definitions.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    sourcemap: 'linked',
    logLevel: 'silent',
    plugins: reconcilers === undefined ? [] : [replaceModule(RECONCILERS, reconcilers)],
  });
  const told = await run(outfile);
  if (told.kind === 'defined') return told.crds;
  throw new ConfigError('code-fault', `${placeOf(told.stack)}${oneLine(told.message)}`);
}

function run(program: string): Promise<Definitions> {
  return new Promise((resolve) => {
    const child = fork(program, {
      execArgv: ['--enable-source-maps'],
      env: { ...plainEnv(), NODE_PATH: join(ROOT, 'node_modules') },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: LOAD_MS,
      killSignal: 'SIGKILL',
    });
    child.once('message', (told) => resolve(told as Definitions));
    child.once('error', (error) => resolve({ kind: 'failed', message: error.message, stack: '' }));
    child.once('exit', (code, signal) => {
      const how = signal === null ? `ended with code ${code}` : `was not done after ${LOAD_MS / 1000} s`;
      resolve({ kind: 'failed', message: `the reconcilers cannot be loaded: the process that does it ${how}`, stack: '' });
    });
  });
}

/** `file:line: `, of the first line of the stack that is the author's: what threw may be a check of ours. */
function placeOf(stack: string): string {
  const frames = Array.from(stack.matchAll(/^ +at .*?\(?(?:file:\/\/)?(\/[^()\n]+?):(\d+):\d+\)?$/gm), ([, file = '', line]) => ({
    file,
    line,
  }));
  const own = frames.filter(({ file }) => !file.includes('/node_modules/'));
  const found = own.find(({ file }) => !file.startsWith(CORE)) ?? own[0];
  if (found === undefined) return '';
  const near = relative(process.cwd(), found.file);
  return `${near.startsWith('..') ? found.file : near}:${found.line}: `;
}
