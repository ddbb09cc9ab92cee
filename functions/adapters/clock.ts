/** Time and randomness, the only place that touches them. Tests pass their own {@link Clock}. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Clock {
  /** The wall clock, which somebody may set: only for what is told to others, and for what is compared with what others tell. */
  now(): Date;
  /**
   * Whole milliseconds for everything that is waited for or measured: as the wall clock had it when the process started, and from
   * then on without its jumps. Never goes back.
   */
  steadyMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
  /** Unique identifier of a send. */
  uuid(): string;
  /** A new W3C trace context. */
  traceparent(): string;
}

/** The longest time that a Node timer takes, in milliseconds (2^31 - 1, about 25 days); a longer one fires at once. */
const TIMER_MAX_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => new Date(),
  steadyMs: () => Math.floor(performance.timeOrigin + performance.now()),
  async sleep(ms, signal) {
    for (let leftMs = ms; leftMs > 0 && !signal?.aborted; leftMs -= TIMER_MAX_MS) await wait(Math.min(leftMs, TIMER_MAX_MS), signal);
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
  traceparent: () => `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
};

/** Node's own would make an error, with its stack, for each wait that is cut short: every run of the function has some. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** When a moment of the steady clock was, as the wall clock is set now: what is told of the past then fits what is told of the present. */
export function dateOf(steadyMs: number, clock: Pick<Clock, 'now' | 'steadyMs'>): Date {
  return new Date(clock.now().getTime() - (clock.steadyMs() - steadyMs));
}
