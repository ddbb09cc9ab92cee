import { DogwatchError } from '../../functions/core/errors.ts';

/** An error as one line: its message, and its facts in brackets where it has any. */
function oneLine(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' | ');
  if (!(error instanceof DogwatchError)) return message;
  const facts = Object.entries(error.facts).map(([name, value]) => `${name}: ${String(value)}`);
  return facts.length === 0 ? message : `${message} (${facts.join(', ')})`;
}

/** Prints the error and sets the exit code: one line and 2 for what its reader can put right, the stack and 1 for a fault of ours. */
export function exitWithOneLine(error: unknown): void {
  const isKnown = error instanceof DogwatchError;
  console.error(isKnown ? oneLine(error) : error);
  process.exitCode = isKnown ? 2 : 1;
}
