/** Time and randomness, the only place that touches them. Tests pass their own {@link Clock}. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

export interface Clock {
  now(): Date;
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
  async sleep(ms, signal) {
    try {
      for (let leftMs = ms; leftMs > 0 && !signal?.aborted; leftMs -= TIMER_MAX_MS) {
        await wait(Math.min(leftMs, TIMER_MAX_MS), undefined, signal === undefined ? {} : { signal });
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
  traceparent: () => `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
};
