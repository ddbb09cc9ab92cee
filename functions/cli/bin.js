#!/usr/bin/env node
/** The command's entry: checks Node before anything that an old one could not even parse is loaded. */
// Whoever read our output is gone: an error of it, told there, would be the next one.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));
// An error that nobody expected ends the process with its stack trace: it is a bug, not a user's mistake.
void import('../../infra/check-node.js')
  .then(() => import('./main.ts'))
  .then(({ main }) => main(process.argv.slice(2)))
  .then((code) => {
    process.exitCode = code;
  });
