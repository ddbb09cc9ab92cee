/** How long letters are hidden, and which of them one that was killed hides still. */
import type { Clock } from '../../adapters/clock.ts';
import type { QueueDescription } from '../../adapters/letter-queue-port.ts';
import type { Past } from './audit-text.ts';
import type { Item } from './items.ts';

/** What a killed apply leaves is hidden for no longer. */
const LEAST_SECONDS = 30;
const MOST_SECONDS = 300;
/** So many are kept hidden at the cost of about seven calls a second. */
const LETTERS_A_SECOND = 33;

/** Seconds that letters are hidden at a time: the fewer, the sooner they are back after a crash; the more, the fewer calls keep many hidden. */
export function visibilityFor({ visible, hidden }: QueueDescription['depth']): number {
  return Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, Math.ceil((visible + hidden) / LETTERS_A_SECOND)));
}

/** Counts, whenever it is called, the letters of the plan that an apply which was killed before now may hide still. */
export function hiddenLetters(
  { deleted, hiddenSeconds = 0 }: Pick<Past, 'deleted' | 'hiddenSeconds'>,
  byLetter: ReadonlyMap<string, Pick<Item, 'received'>>,
  clock: Pick<Clock, 'steadyMs'>,
): () => number {
  const untilMs = clock.steadyMs() + hiddenSeconds * 1000;
  return () => {
    if (clock.steadyMs() >= untilMs) return 0;
    return [...byLetter].filter(([messageId, { received }]) => !received.has(messageId) && !deleted.has(messageId)).length;
  };
}
