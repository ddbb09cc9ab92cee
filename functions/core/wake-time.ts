/** When an object wants to be run again: `status.nextReconcileTime`, and `notBefore` of the message that carries it. */

/** The longest wait that a Plan may ask for, in seconds: ten years, so that every time is a date. */
export const REQUEUE_MAX_SECONDS = 10 * 366 * 86_400;

/** When a run at `now` wants to be woken: whole seconds, rounded up. Bounded to 1 second and {@link REQUEUE_MAX_SECONDS}. */
export function wakeTime(now: Date, seconds: number): Date {
  const wait = Math.min(Math.max(seconds || 1, 1), REQUEUE_MAX_SECONDS);
  return new Date(Math.ceil(now.getTime() / 1000 + wait) * 1000);
}

/** ISO 8601 in UTC without a fraction, rounded up: as Kubernetes writes times, and never early. */
export function wholeSeconds(time: Date): string {
  return new Date(Math.ceil(time.getTime() / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** The time that a stored text names, in Unix milliseconds; undefined for one that {@link wholeSeconds} would not have written. */
export function storedTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const time = new Date(text);
  return Number.isFinite(time.getTime()) && wholeSeconds(time) === text ? time.getTime() : undefined;
}

/** What a run does about the next one. `at`: the time to store. `isSent`: a message has to be sent for it. */
export interface Wake {
  readonly at: Date;
  readonly isSent: boolean;
}

export interface WakeQuestion {
  /** `status.nextReconcileTime` of the object as it was read: {@link storedTime}. */
  readonly stored: number | undefined;
  /** In how many seconds this run wants the next; undefined: never. */
  readonly seconds: number | undefined;
  readonly now: Date;
  /** A run of this message before may have stored a time and died before it sent for it. */
  readonly redelivered: boolean;
}

/**
 * What keeps one object at one chain of wake-ups, however many runs others cause in between. A stored time that is ahead, and
 * no later than wanted, is kept, and whoever stored it has sent for it, unless it was a run of this very message. Any other
 * time is stored anew, which makes the message of the old one stale ({@link isStaleWakeUp}).
 */
export function decideWake({ stored, seconds, now, redelivered }: WakeQuestion): Wake | undefined {
  if (seconds === undefined) return undefined;
  const wanted = wakeTime(now, seconds);
  const isKept = stored !== undefined && stored > now.getTime() && stored <= wanted.getTime();
  return isKept ? { at: new Date(stored), isSent: redelivered } : { at: wanted, isSent: true };
}

/**
 * True if an object that waits for `stored` (undefined: for nothing) waits for none of the times that wake-ups came for. One that
 * names no time (undefined) has been a dead letter in between, and is never stale.
 */
export function isStaleWakeUp(stored: number | undefined, cameFor: readonly (number | undefined)[]): boolean {
  return !cameFor.includes(stored) && !cameFor.includes(undefined);
}
