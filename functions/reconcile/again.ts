/** Reading again after somebody else has written: how often, and after what pause. */
import type { RunContext } from './run-context.ts';

/** How often one run reads again after foreign writes, all of its steps together, before it lets the queue wait. */
export const READ_AGAIN_MAX = 3;
/** Longest pause before a step is tried again, in milliseconds. */
const JITTER_MS = 20;

/** Waits a few milliseconds, by chance, so that writers who met do not meet again. */
export async function pauseBriefly({ clock, signal }: Pick<RunContext, 'clock' | 'signal'>): Promise<void> {
  await clock.sleep(1 + clock.random() * (JITTER_MS - 1), signal);
}
