/** The entry of `dist/watcher.cjs`: starts when it is loaded. */
import { runWatcher } from './start.ts';

// Left by exit and not by running out of work: a call that hangs must not keep a stopped watcher alive.
runWatcher(process.env).then((code) => process.exit(code), fail);

function fail(error: unknown): never {
  process.stderr.write(`dogwatch: unexpected error: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(1);
}
