/**
 * For how long a run may still be under way that saw an object alive.
 */

/** For clocks that differ a little, and for a function that is a moment late in ending. */
const MARGIN_SECONDS = 5;

/**
 * After so many seconds every run is over that saw an object alive which is gone now: what is undone then stays undone.
 *
 * @param functionTimeoutSeconds at most 895, so that it is a delay that SQS takes
 */
export function lateRunsOverSeconds(functionTimeoutSeconds: number): number {
  return functionTimeoutSeconds + MARGIN_SECONDS;
}
