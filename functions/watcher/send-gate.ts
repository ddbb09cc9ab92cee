/** When a lane may send: open, or one probe at a time while its queue takes nothing. */
import { nextBackoffMs } from '../../events/watch-backoff.ts';

/** How much later than the lane's next probe the entries of a failed one are due: it begins with others, since these may be the cause. */
const OTHERS_FIRST_MS = 100;

interface Failing {
  readonly delayMs: number;
  /** How often the lane had answered when the entry last failed. */
  readonly answerCount: number;
}

export class SendGate {
  /** The last call that told us anything had none of its entries taken. */
  isProbing = false;
  /** No call of this lane before this time, in milliseconds of the steady clock. */
  notBeforeMs = 0;
  #pauseMs = 0;
  #failureCount = 0;
  #answerCount = 0;
  /** Entries whose last send failed, by source and uid: two clusters may have one uid, after a restore for instance. */
  readonly #failing = new WeakMap<object, Map<string, Failing>>();

  /** To be drawn before a call: calls that fail together are one failure. */
  ticket(): number {
    return this.#failureCount;
  }

  /** Not one entry was taken: pause, longer each time, from 250 ms to 30 s with decorrelated jitter. */
  failed(ticket: number, nowMs: number, random: number): void {
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
    this.notBeforeMs = 0;
    this.#pauseMs = 0;
  }

  /**
   * When an entry that was not taken may be sent again; after {@link failed} or {@link succeeded}. Where the lane has answered since the entry's last failure, the fault is the entry's own and its delay grows like a pause;
   * else the lane's pause is enough, so that nothing has to wait once the queue is back.
   *
   * @param isBesideOthers others of its batch were taken
   */
  retryAtMs(source: object, uid: string, isBesideOthers: boolean, nowMs: number, random: number): number {
    const last = this.#failing.get(source)?.get(uid);
    const isItsOwn = isBesideOthers || (last !== undefined && last.answerCount !== this.#answerCount);
    const delayMs = isItsOwn ? nextBackoffMs(last?.delayMs ?? 0, undefined, random) : (last?.delayMs ?? 0);
    this.#failingOf(source).set(uid, { delayMs, answerCount: this.#answerCount });
    return Math.max(nowMs, this.notBeforeMs) + (isItsOwn ? delayMs : OTHERS_FIRST_MS);
  }

  /** Nothing more is to be sent for the entry: it was taken or refused, on whichever lane. */
  forget(source: object, uid: string): void {
    this.#failing.get(source)?.delete(uid);
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
