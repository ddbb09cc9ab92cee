/** What a user is told where a command cannot do its work. */
import { CommanderError } from 'commander';
import { ConfigError, DogwatchError } from '../core/errors.ts';
import type { ExitCode } from './main.ts';

/** The exit code of a failure, told in one line; undefined for one that nobody expected, of which nothing is told. */
export function exitCodeOf(error: unknown): ExitCode | undefined {
  if (error instanceof CommanderError) {
    if (error.code === 'dogwatch.badNumber') console.error(error.message);
    return error.exitCode === 0 ? 0 : 2;
  }
  if (error instanceof ConfigError) {
    console.error(`dogwatch: ${error.message}`);
    return 2;
  }
  if (!(error instanceof DogwatchError)) return undefined;
  const facts = Object.entries(error.facts).map(([name, value]) => `${name}=${value}`);
  console.error(`dogwatch: ${error.message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`);
  return 1;
}
