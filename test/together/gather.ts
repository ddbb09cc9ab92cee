/** Many test files in one process, each as if it had it for itself: to start one and load the modules costs more than most files' tests. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';

/**
 * Registers the tests of the files, each file's under a suite that has its path for a name, so that hooks at the top level of
 * a file are for its tests only. Variables and folder of the process are put back behind each; the suite of a file that leaves
 * anything else changed fails.
 */
export function gather(root: string, paths: readonly string[]): void {
  const environment = process.env;
  const variables = { ...environment };
  const folder = process.cwd();
  for (const path of paths) {
    describe(path, () => {
      let found = stateOfProcess();
      before(() => {
        found = stateOfProcess();
      });
      // Not import(): what comes after a wait may be registered in a suite that is not this one.
      load(join(root, path));
      assertSame(found, `${path} changes the process when it is loaded`);
      after(() => {
        for (const name of Object.keys(environment)) if (!Object.hasOwn(variables, name)) delete environment[name];
        process.env = Object.assign(environment, variables);
        process.chdir(folder);
        assertSame(found, `${path} leaves the process changed`);
      });
    });
  }
}

const load = createRequire(import.meta.url);

type State = ReadonlyMap<string, unknown>;

/** Those that would hide another file's fault. */
const SIGNS = ['uncaughtException', 'unhandledRejection'];

/** What the tests of one file could spoil for those of the next. */
function stateOfProcess(): State {
  return new Map<string, unknown>([
    ...SIGNS.map((sign) => [`listeners of ${sign}`, process.listenerCount(sign)] as const),
    ['exit code', process.exitCode],
    ['Date', Date],
    ['Date.now', Date.now],
    ['performance.now', performance.now],
    ['setTimeout', setTimeout],
    ['setInterval', setInterval],
    ['setImmediate', setImmediate],
    ['fetch', fetch],
    ['AbortSignal.timeout', AbortSignal.timeout],
    ['console.log', console.log],
    ['console.error', console.error],
    ['stdout.write', process.stdout.write],
    ['stderr.write', process.stderr.write],
  ]);
}

function assertSame(found: State, message: string): void {
  const left = stateOfProcess();
  const changed = [...new Set([...found.keys(), ...left.keys()])].filter((what) => !Object.is(found.get(what), left.get(what)));
  if (changed.length > 0) throw new Error(`${message}: ${changed.join(', ')}`);
}
