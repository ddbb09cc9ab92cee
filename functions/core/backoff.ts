/** How long to wait after a failure. The one formula for everything that is sent again through a queue. */

/** The largest DelaySeconds that SQS takes (Amazon SQS developer guide, message timers). */
export const DELAY_MAX_SECONDS = 900;

export interface BackoffInput {
  /** 1 for the first failure; an integer of 1 or more, of any size. */
  readonly attempt: number;
  /** The longest first wait, in seconds; over 0. */
  readonly baseSeconds: number;
  /** The longest wait of all, in seconds; 1 to 900. */
  readonly capSeconds: number;
  /** A number in [0, 1); passed in, so that tests can fix it. */
  readonly random: number;
  /** What the server asked for (Retry-After), in seconds. The wait is never shorter, save for what SQS cannot do. */
  readonly floorSeconds?: number | undefined;
}

/**
 * Seconds to wait before attempt `attempt + 1`: equal jitter, a whole number from half of base * 2^(attempt - 1) to all of
 * it, within cap, and never less than floor.
 *
 * @returns whole seconds, 1 to 900
 * @throws RangeError if attempt is not an integer of 1 or more, or another number is out of its bounds
 */
export function backoffSeconds({ attempt, baseSeconds, capSeconds, random, floorSeconds = 0 }: BackoffInput): number {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError(`attempt ${attempt} is not an integer of 1 or more`);
  if (!(baseSeconds > 0)) throw new RangeError(`baseSeconds ${baseSeconds} is not over 0`);
  if (!(capSeconds >= 1 && capSeconds <= DELAY_MAX_SECONDS)) throw new RangeError(`capSeconds ${capSeconds} is not from 1 to 900`);
  if (!(random >= 0 && random < 1)) throw new RangeError(`random ${random} is not from 0 up to 1`);
  const longest = Math.min(capSeconds, baseSeconds * 2 ** (attempt - 1));
  const least = Math.max(1, Math.ceil(longest / 2));
  const most = Math.max(least, Math.floor(longest));
  const jittered = least + Math.floor(random * (most - least + 1));
  const floor = floorSeconds > 0 ? Math.ceil(floorSeconds) : 0;
  return Math.min(DELAY_MAX_SECONDS, Math.max(jittered, floor));
}
