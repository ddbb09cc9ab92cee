/**
 * A clock whose time moves only when a test says so. Random numbers, ids and traces are the same in every run. The wall clock and
 * the steady one agree until a test sets the former.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../functions/adapters/clock.ts';

/** The longest that anything finishes in, in milliseconds of virtual time. */
const FINISH_MS = 3_600_000;

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export interface FakeClockOptions {
  /** What the clock shows at first. */
  readonly start?: Date;
  /** Each in [0, 1); repeated for ever. 0.5 if left out. */
  readonly randoms?: readonly number[];
}

export class FakeClock implements Clock {
  #nowMs: number;
  #wallIsOffMs = 0;
  #uuidCount = 0;
  #traceCount = 0;
  #randomCount = 0;
  readonly #randoms: readonly number[];
  readonly #sleepers = new Set<Sleeper>();

  constructor({ start = new Date('2026-03-01T00:00:00.000Z'), randoms = [0.5] }: FakeClockOptions = {}) {
    this.#nowMs = start.getTime();
    this.#randoms = randoms;
  }

  now(): Date {
    return new Date(this.#nowMs + this.#wallIsOffMs);
  }

  steadyMs(): number {
    return this.#nowMs;
  }

  /** Somebody sets the wall clock forward by so many milliseconds, or back where it is less than 0. No time passes. */
  setForward(ms: number): void {
    this.#wallIsOffMs += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const sleeper: Sleeper = { atMs: this.#nowMs + Math.max(0, ms), wake: end };
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', end);
    return promise;
  }

  random(): number {
    this.#randomCount += 1;
    return this.#randoms[(this.#randomCount - 1) % this.#randoms.length] as number;
  }

  uuid(): string {
    this.#uuidCount += 1;
    return `00000000-0000-4000-8000-${this.#uuidCount.toString(16).padStart(12, '0')}`;
  }

  traceparent(): string {
    this.#traceCount += 1;
    const count = this.#traceCount.toString(16);
    return `00-${count.padStart(32, '0')}-${count.padStart(16, '0')}-01`;
  }

  /** Sleeps that have not ended. */
  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  /** Milliseconds until the next sleep ends; undefined where nobody sleeps. */
  get nextInMs(): number | undefined {
    const times = [...this.#sleepers].map((sleeper) => sleeper.atMs);
    return times.length === 0 ? undefined : Math.min(...times) - this.#nowMs;
  }

  /** Lets everything run that waits for no time. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) await turn();
  }

  /** Moves time on by `ms`: sleeps end one after the other, in order, and what they start is done before the next ends. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.settle();
    for (;;) {
      const due = [...this.#sleepers].filter((sleeper) => sleeper.atMs <= untilMs);
      const next = due.reduce<Sleeper | undefined>((a, b) => (a === undefined || b.atMs < a.atMs ? b : a), undefined);
      if (next === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await this.settle();
    }
    this.#nowMs = untilMs;
  }

  /** Moves time on, sleep by sleep, until `isTrue`. @throws Error if it is not within `limitMs` */
  async advanceUntil(isTrue: () => boolean, limitMs: number): Promise<void> {
    const untilMs = this.#nowMs + limitMs;
    await this.settle();
    while (!isTrue()) {
      const next = this.nextInMs;
      if (next === undefined || this.#nowMs + next > untilMs) throw new Error(`not true within ${limitMs} ms of virtual time`);
      await this.advance(next);
    }
  }

  /** What `work` comes to; time moves on whenever nothing else does. @throws Error if it is not over within an hour of virtual time */
  async finish<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    await this.advanceUntil(() => isOver, FINISH_MS);
    return work;
  }
}
