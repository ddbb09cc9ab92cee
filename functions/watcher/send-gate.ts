/**
 * When a lane may send: open, or one probe at a time while its queue takes nothing. One entry that is not taken says nothing of
 * the queue, nor do a few that failed while it took others: they wait by themselves, and the lane goes on.
 */
import { nextBackoffMs } from '../../events/watch-backoff.ts';

/** How much later than the lane's next probe the entries of a failed one are due: it begins with others, since these may be the cause. */
const OTHERS_FIRST_MS = 100;
/** More entries than these are not all at fault themselves. */
const CAUSES_MAX = 10;

/** By source and uid: two clusters may have one uid, after a restore for instance. */
interface GateEntry {
  readonly source: object;
  readonly mark: { readonly uid: string };
}

interface Failing {
  readonly delayMs: number;
  /** How often the lane had answered when the entry last failed. */
  readonly answerCount: number;
}

export class SendGate {
  /** The queue takes nothing, as far as we know: calls go one at a time. */
  isProbing = false;
  /** The last call that told us anything had none of its entries taken. */
  isSilent = false;
  /** No call of this lane before this time, in milliseconds of the steady clock. */
  notBeforeMs = 0;
  #pauseMs = 0;
  #failureCount = 0;
  #answerCount = 0;
  /** Entries that failed since the lane last answered; and those of them that had not failed before that. */
  #failedCount = 0;
  #newlyFailedCount = 0;
  /** Entries whose last send failed. */
  readonly #failing = new WeakMap<object, Map<string, Failing>>();

  /** To be drawn before a call: calls that fail together are one failure. */
  ticket(): number {
    return this.#failureCount;
  }

  /**
   * Not one entry was taken: pause, longer each time, from 250 ms to 30 s with decorrelated jitter.
   *
   * @param entries those of the call: the lane does not pause where it may be their own fault. Left out, it does
   */
  failed(ticket: number, nowMs: number, random: number, entries: readonly GateEntry[] = []): void {
    this.isSilent = true;
    if (!this.isProbing && entries.length > 0 && this.#isTheirFault(entries)) return;
    if (ticket !== this.#failureCount) return;
    this.#failureCount += 1;
    this.#pauseMs = nextBackoffMs(this.#pauseMs, undefined, random);
    this.isProbing = true;
    this.notBeforeMs = nowMs + this.#pauseMs;
  }

  /** The queue answers: no pause. */
  succeeded(): void {
    this.#answerCount += 1;
    this.reset();
  }

  /** Forgets the pause, as if the queue had answered. */
  reset(): void {
    this.isProbing = false;
    this.isSilent = false;
    this.notBeforeMs = 0;
    this.#pauseMs = 0;
    this.#failedCount = 0;
    this.#newlyFailedCount = 0;
  }

  /**
   * When an entry that was not taken may be sent again; after {@link failed} or {@link succeeded}. While the lane pauses, that is
   * enough, so that nothing has to wait once the queue is back. But where the lane goes on, or is known to have answered while the
   * entry failed, the entry has a delay of its own that grows like a pause.
   *
   * @param isBesideOthers others of its batch were taken
   */
  retryAtMs(source: object, uid: string, isBesideOthers: boolean, nowMs: number, random: number): number {
    const last = this.#failing.get(source)?.get(uid);
    const isAlone = isBesideOthers || !this.isProbing || (last !== undefined && last.answerCount !== this.#answerCount);
    const delayMs = isAlone ? nextBackoffMs(last?.delayMs ?? 0, undefined, random) : (last?.delayMs ?? 0);
    this.#failingOf(source).set(uid, { delayMs, answerCount: this.#answerCount });
    return Math.max(nowMs, this.notBeforeMs) + (isAlone ? delayMs : OTHERS_FIRST_MS);
  }

  /** Nothing more is to be sent for the entry: it was taken or refused, on whichever lane. */
  forget(source: object, uid: string): void {
    this.#failing.get(source)?.delete(uid);
  }

  /** Counts them, each once between two answers. */
  #isTheirFault(entries: readonly GateEntry[]): boolean {
    for (const { source, mark } of entries) {
      const last = this.#failing.get(source)?.get(mark.uid);
      if (last === undefined) this.#newlyFailedCount += 1;
      if (last?.answerCount !== this.#answerCount) this.#failedCount += 1;
    }
    return this.#newlyFailedCount <= 1 && this.#failedCount <= CAUSES_MAX;
  }

  #failingOf(source: object): Map<string, Failing> {
    let failing = this.#failing.get(source);
    if (failing === undefined) {
      failing = new Map();
      this.#failing.set(source, failing);
    }
    return failing;
  }
}
