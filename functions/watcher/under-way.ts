/**
 * What a cell has under way: calls, one stream, one timer. All of it can be cancelled at once, and what was cancelled never
 * reports back.
 */
import type { Clock } from '../adapters/clock.ts';

export class UnderWay {
  readonly #clock: Clock;
  #era = new AbortController();
  #timer = new AbortController();
  readonly #runs = new Set<Promise<void>>();
  readonly #fault = Promise.withResolvers<never>();

  constructor(clock: Clock) {
    this.#clock = clock;
    // A fault is kept for whoever asks; that nobody has asked yet is no unhandled rejection.
    this.#fault.promise.catch(() => undefined);
  }

  /** Rejects with the first error that work let through: a fault of ours, since work catches what the cluster does. */
  get fault(): Promise<never> {
    return this.#fault.promise;
  }

  /** Takes a fault from outside. */
  break(error: unknown): void {
    this.#fault.reject(error);
  }

  /** Runs work beside the rest, never before the caller has finished. Work checks the signal after every wait. */
  start(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.#era;
    this.#track(Promise.resolve().then(() => (signal.aborted ? undefined : work(signal))));
  }

  /** Sets the one timer there is; a new one replaces it. */
  wait(ms: number, then: () => void): void {
    this.#timer.abort();
    this.#timer = new AbortController();
    const { signal } = this.#timer;
    const run = async (): Promise<void> => {
      await this.#clock.sleep(ms, signal);
      if (!signal.aborted) then();
    };
    this.#track(run());
  }

  /** Ends calls, stream and timer. What is started afterwards is not touched. */
  cancel(): void {
    this.#era.abort();
    this.#timer.abort();
    this.#era = new AbortController();
  }

  /** Cancels, and resolves when nothing is left. Rejects with a fault, also one that came to light meanwhile. */
  async end(): Promise<void> {
    this.cancel();
    await Promise.all(this.#runs);
    await Promise.race([this.#fault.promise, Promise.resolve()]);
  }

  #track(work: Promise<void>): void {
    const run: Promise<void> = work.catch(this.#fault.reject).finally(() => this.#runs.delete(run));
    this.#runs.add(run);
  }
}
