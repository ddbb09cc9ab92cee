/** Time that passes only when everything that can happen now has happened, and then goes straight to the next thing that waits. */

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  readonly owner: object;
  readonly wake: () => void;
}

/** When every simulation begins. */
export const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

export class VirtualTime {
  nowMs = START_MS;
  /** Times that went by, for a measure of what a simulation costs. */
  stepCount = 0;
  /** Calls under way of processes that live. */
  callCount = 0;
  /** Effects that are yet to come. */
  effectCount = 0;
  readonly #sleepers = new Set<Sleeper>();
  #order = 0;
  #idCount = 0;

  /**
   * Resolves after `ms`, or at once when the signal aborts.
   *
   * @param owner see {@link forget}
   */
  sleep(ms: number, owner: object, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const sleeper: Sleeper = { atMs: this.nowMs + Math.max(0, Math.ceil(ms)), order: this.#order++, owner, wake: end };
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', end);
    return promise;
  }

  /** 1, 2, 3 ... for ids that are the same in every run. */
  nextId(): number {
    this.#idCount += 1;
    return this.#idCount;
  }

  /** Something that happens whoever has died meanwhile. A failure of it is nobody's to hear. */
  async effectIn(ms: number, effect: () => Promise<unknown>): Promise<void> {
    this.effectCount += 1;
    await this.sleep(ms, this);
    await effect().catch(() => undefined);
    this.effectCount -= 1;
  }

  /** What this owner waits for never comes. */
  forget(owner: object): void {
    for (const sleeper of this.#sleepers) if (sleeper.owner === owner) this.#sleepers.delete(sleeper);
  }

  /** Goes to the next thing that waits and lets it run as far as it comes. False where nothing waits until `untilMs`. */
  async step(untilMs: number): Promise<boolean> {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (next === undefined || sleeper.atMs < next.atMs || (sleeper.atMs === next.atMs && sleeper.order < next.order)) next = sleeper;
    }
    if (next === undefined || next.atMs > untilMs) return false;
    this.nowMs = Math.max(this.nowMs, next.atMs);
    this.stepCount += 1;
    next.wake();
    await drained();
    return true;
  }

  /** Lets time pass until it is `untilMs`, or until something is true if that comes first. Tells whether it came. */
  async runUntil(untilMs: number, isTrue: () => boolean = () => false): Promise<boolean> {
    await drained();
    while (!isTrue()) {
      if (await this.step(untilMs)) continue;
      this.nowMs = Math.max(this.nowMs, untilMs);
      return isTrue();
    }
    return true;
  }
}

/** Resolves when all that waits for no time has run: nothing in a simulation does any I/O, so that all of it are microtasks. */
function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
