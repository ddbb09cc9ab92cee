/**
 * When an object that stays unsettled is sent again. Its message, or what became of it, may be lost: a queue was purged, a
 * letter fell out of the dead-letter queue, a function died. The cluster still shows that the work is not done, so it is asked
 * for again, ever more seldom.
 *
 * | case | the first time after | doubling to |
 * |---|---|---|
 * | `never-attempted` for its generation | healAfterSeconds | 6 h |
 * | `attempted`: a failure is written, and its message may still be on its way | the age budget and 15 min | 24 h |
 * | `overdue`: settled, but the time at which it wanted to run again is past by 5 min | healAfterSeconds | 6 h |
 * | `unknown`: a kind of ours whose cells cannot be read | healAfterSeconds | 6 h, and then no more |
 *
 * Counted from the last message that the watcher sent for it, or from when it became unsettled where that is later. An unknown
 * object costs a message and a GET, which ends at once where it is settled; most are, and nothing will ever say so. So it is
 * asked after as long as its own message may have been lost, and then left to the resync.
 */

/** Seconds. */
export interface HealingSettings {
  readonly healAfterSeconds: number;
  /** The age budget of a message: until then it may still be tried. */
  readonly maxAgeSeconds: number;
}

export type HealingCase = 'never-attempted' | 'attempted' | 'overdue' | 'unknown';

/** How long after its time the message of an object that wanted to run again counts as lost, in seconds. */
export const OVERDUE_SECONDS = 300;

/** The longest interval, unless the first one is longer already. */
const SOON_MAX_SECONDS = 6 * 3600;
const ATTEMPTED_MAX_SECONDS = 24 * 3600;
/** For the last try of a message whose age budget ends: its wait of at most 900 s. */
const LAST_TRY_SECONDS = 900;

/**
 * How long the object waits before it is sent again; Infinity for never.
 *
 * @param healCount how often it was sent so since its last message of another kind; an integer of 0 or more
 */
export function healingIntervalSeconds(kind: HealingCase, healCount: number, settings: HealingSettings): number {
  const isAttempted = kind === 'attempted';
  const firstSeconds = isAttempted ? settings.maxAgeSeconds + LAST_TRY_SECONDS : settings.healAfterSeconds;
  const maxSeconds = Math.max(firstSeconds, isAttempted ? ATTEMPTED_MAX_SECONDS : SOON_MAX_SECONDS);
  const seconds = firstSeconds * 2 ** healCount;
  if (kind === 'unknown' && seconds > maxSeconds) return Infinity;
  return Math.min(seconds, maxSeconds);
}
