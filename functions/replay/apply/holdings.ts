/** The letters that are hidden from others for us, with what gives each back, and until when. Times are milliseconds of the steady clock. */

interface Holding {
  readonly handle: string;
  untilMs: number;
}

export class Holdings {
  readonly #held = new Map<string, Holding>();

  get count(): number {
    return this.#held.size;
  }

  /** The newest handle of a letter counts. */
  hold(messageId: string, handle: string, untilMs: number): void {
    this.#held.set(messageId, { handle, untilMs });
  }

  drop(messageId: string): void {
    this.#held.delete(messageId);
  }

  handleOf(messageId: string): string | undefined {
    return this.#held.get(messageId)?.handle;
  }

  /** True where nobody else can receive the letter before that time. */
  isHeldUntil(messageId: string, ms: number): boolean {
    const holding = this.#held.get(messageId);
    return holding !== undefined && holding.untilMs >= ms;
  }

  /** The letters that are hidden until `beforeMs` at most. */
  endingBefore(beforeMs: number): string[] {
    return [...this.#held].filter(([, { untilMs }]) => untilMs < beforeMs).map(([messageId]) => messageId);
  }

  /** Only where the handle is still the one that was extended. */
  extend(messageId: string, handle: string, untilMs: number): void {
    const holding = this.#held.get(messageId);
    if (holding?.handle === handle) holding.untilMs = untilMs;
  }

  /** The letters whose time is over: they are no longer ours. */
  dropEnded(nowMs: number): string[] {
    const ended = this.endingBefore(nowMs);
    for (const messageId of ended) this.#held.delete(messageId);
    return ended;
  }

  /** All handles; nothing is held any more. */
  takeAll(): string[] {
    const handles = [...this.#held.values()].map(({ handle }) => handle);
    this.#held.clear();
    return handles;
  }
}
