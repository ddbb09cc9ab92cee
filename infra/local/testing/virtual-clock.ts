/** Time that passes only when the bench says so: a wait of 15 minutes costs nothing, and the same test takes the same steps. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../functions/adapters/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly owner: object;
  readonly wake: () => void;
}

export class VirtualClock {
  #nowMs: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start: Date) {
    this.#nowMs = start.getTime();
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  /** When the first of those who sleep is to be woken, of one owner or of all; undefined where nobody sleeps. */
  nextWakeMs(owner?: object): number | undefined {
    let nextMs: number | undefined;
    for (const sleeper of this.#sleepers) {
      if ((owner === undefined || sleeper.owner === owner) && (nextMs === undefined || sleeper.atMs < nextMs)) nextMs = sleeper.atMs;
    }
    return nextMs;
  }

  /** Goes to that time, never back, and wakes all who sleep until then. */
  passTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
    const due = [...this.#sleepers].filter(({ atMs }) => atMs <= this.#nowMs).sort((a, b) => a.atMs - b.atMs);
    for (const { wake } of due) wake();
  }

  /** Wakes all of one owner, whose process has died. */
  wakeAll(owner: object): void {
    for (const sleeper of [...this.#sleepers]) if (sleeper.owner === owner) sleeper.wake();
  }

  /**
   * The clock as one process sees it. Waits shorter than `atOnceMs` are over at once and time has passed: nobody else has to know of the
   * few milliseconds between two reads.
   */
  viewOf(owner: object, atOnceMs = 0): Clock {
    return {
      now: () => this.now(),
      steadyMs: () => this.#nowMs,
      sleep: (ms, signal) => {
        if (ms < atOnceMs) this.#nowMs += Math.max(0, Math.ceil(ms));
        return ms < atOnceMs ? Promise.resolve() : this.#sleep(ms, owner, signal);
      },
      random: () => 0.5,
      uuid: () => randomUUID(),
      traceparent: () => `00-${randomUUID().replaceAll('-', '')}-${randomUUID().replaceAll('-', '').slice(16)}-01`,
    };
  }

  #sleep(ms: number, owner: object, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const sleeper: Sleeper = { atMs: this.#nowMs + Math.ceil(ms), owner, wake };
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', wake, { once: true });
    return promise;
  }
}
