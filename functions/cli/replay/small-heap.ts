/** What V8 is told where very many letters pass through a process. */
import { setFlagsFromString } from 'node:v8';

/**
 * Garbage is collected while there is little of it. V8 lets it grow to a multiple of what lives, and nearly all of what an answer of SQS or of
 * a cluster takes is garbage a moment later. The space for what is young, 32 MB by default, does not grow from its first 2 MB: its own flag,
 * --max-semi-space-size, counts at the start of a process only. Its compilers that optimize stay out: they take 20 MB, and what waits for
 * others is done as soon without them, for a fifth more CPU time.
 */
export function keepGarbageSmall(): void {
  for (const flag of ['--optimize-for-size', '--semi-space-growth-factor=1', '--no-maglev', '--no-turbofan']) setFlagsFromString(flag);
}
