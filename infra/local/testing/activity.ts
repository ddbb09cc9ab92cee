/** What is under way over real sockets: only once nothing is, virtual time may pass. */

export class Activity {
  readonly #underWay = new Set<{ readonly what: string }>();
  /** Moves on with everything that begins, ends or is handled. */
  version = 0;
  #changed = Promise.withResolvers<void>();

  /** The oldest of what has not ended; undefined where nothing is under way. */
  get oldest(): string | undefined {
    for (const { what } of this.#underWay) return what;
    return undefined;
  }

  /** What the call comes to; it counts as under way until then. @param what  for messages: `apply Greeting default/hello` */
  async track<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    const one = { what };
    this.#underWay.add(one);
    this.happened();
    try {
      return await call();
    } finally {
      this.#underWay.delete(one);
      this.happened();
    }
  }

  happened(): void {
    this.version += 1;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** True once anything has happened; false where nothing did for so many real milliseconds. */
  async next(limitMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), limitMs);
    void this.#changed.promise.then(() => resolve(true));
    const has = await promise;
    clearTimeout(timer);
    return has;
  }
}

/** Lets everything run that waits for no socket and no time. */
export async function drained(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
