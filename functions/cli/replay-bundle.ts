/**
 * The entry of `dist/replay.cjs`: the commands of `dogwatch replay` where there is no checkout. Runs the words behind its name when it is
 * loaded. Exit codes are those of `dogwatch`.
 */
import { Command } from 'commander';
import { exitCodeOf } from './failure.ts';
import type { ExitCode } from './main.ts';
import { addReplayCommands, REPLAY_DESCRIPTION } from './replay.ts';

// Whoever read our output is gone: an error of it, told there, would be the next one.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));

const program = new Command('replay').description(REPLAY_DESCRIPTION).showHelpAfterError('(--help lists the commands)');
addReplayCommands(program, (code) => {
  process.exitCode = code;
});
for (const one of [program, ...program.commands]) one.exitOverride();
program.parseAsync().catch((error: unknown) => {
  const code: ExitCode | undefined = exitCodeOf(error);
  if (code === undefined) throw error;
  process.exitCode = code;
});
