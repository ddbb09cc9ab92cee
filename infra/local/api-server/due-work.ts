/** Work that follows a write, done soon after it and once for everything that asks for it: what controllers do in a real cluster. */
export class DueWork {
  readonly #due = new Map<string, () => void>();
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Immediate | undefined;
  #isStopped = false;

  /** Errors of the work go to `onError`; the rest of it goes on. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Runs `work` after the current write is answered. The last of those with the same key counts. */
  add(key: string, work: () => void): void {
    if (this.#isStopped) return;
    this.#due.set(key, work);
    this.#timer ??= setImmediate(() => this.#run());
  }

  get isPending(): boolean {
    return this.#due.size > 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#due.clear();
    if (this.#timer !== undefined) clearImmediate(this.#timer);
  }

  #run(): void {
    this.#timer = undefined;
    const works = [...this.#due.values()];
    this.#due.clear();
    for (const work of works) {
      try {
        work();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
