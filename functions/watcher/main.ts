/** The entry of `dist/watcher.cjs`: starts when it is loaded. */
import { setFlagsFromString } from 'node:v8';
import { runWatcher } from './start.ts';

// V8 lets garbage grow to a multiple of what lives before it collects, and a list is almost all garbage: without this, the second
// list of 100,000 objects peaks at 229 MB instead of 137 (`npm run bench`), for half the CPU time of a list. Here and not among the
// flags of a container, so that it holds wherever the watcher runs.
setFlagsFromString('--optimize-for-size');

// Whoever read our output is gone: an error of it, told there, would be the next one.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));
// Left by exit and not by running out of work: a call that hangs must not keep a stopped watcher alive.
runWatcher(process.env).then((code) => process.exit(code), fail);

function fail(error: unknown): never {
  process.stderr.write(`dogwatch: unexpected error: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(1);
}
