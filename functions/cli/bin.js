#!/usr/bin/env node
/** The command's entry: checks Node before anything that an old one could not even parse is loaded. */
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Whoever read our output is gone: an error of it, told there, would be the next one.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));
// An error that nobody expected ends the process with its stack trace: it is a bug, not a user's mistake.
void import('../../infra/check-node.js')
  // Halves the start. In the checkout, where nobody else may write: what lies in the cache is run.
  .then(() => module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url))))
  .then(() => import('./main.ts'))
  .then(({ main }) => main(process.argv.slice(2)))
  .then((code) => {
    process.exitCode = code;
  });
