/** Waiting that ends with a signal, also where what is waited for ignores it, and signals that end with the time. */
import type { Clock } from '../adapters/clock.ts';
import { TransientError } from '../core/errors.ts';

/**
 * What `work` comes to, or the signal's reason as a rejection if that comes first. The work itself is not stopped; what it
 * comes to afterwards is dropped.
 */
export function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

export interface Timer {
  readonly signal: AbortSignal;
  stop(): void;
}

const STOPPED = 'stopped';

/** A signal that is aborted with code `deadline` after `ms`, at once where nothing is left, unless stopped before. */
export function startTimer(clock: Pick<Clock, 'sleep'>, ms: number, why: string): Timer {
  const expired = new AbortController();
  const stopped = new AbortController();
  const expire = (): void => {
    if (!stopped.signal.aborted) expired.abort(new TransientError('deadline', `${why}: the record is left in the queue and tried again`));
  };
  if (ms > 0) void clock.sleep(ms, stopped.signal).then(expire);
  else expire();
  // With a reason of its own: an error would be made otherwise, with a stack that nobody reads.
  return { signal: expired.signal, stop: () => stopped.abort(STOPPED) };
}
