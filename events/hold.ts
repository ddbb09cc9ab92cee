/**
 * Backoff on the way in: how long an object that changes all the time is held before its next message.
 *
 * A mark that comes within {@link YOUNG_MS} of the object's last message is held 1, 2, 4 ... seconds up to the largest hold, and
 * what comes meanwhile folds into it; after {@link QUIET_MS} without either the next one is not held and the count begins anew. A
 * message counts from when it was handed to the outbox. Only the live lane is held: repairs have intervals of their own.
 * Deletions never are.
 *
 * Bounded: one entry an object that had a message of late; an object that keeps quiet is forgotten.
 */
import type { Mark } from './dirty-marks.ts';

/** A message younger than this makes the next one wait. */
const YOUNG_MS = 10_000;
/** After this long without a message or a hold, an object is forgotten. */
const QUIET_MS = 60_000;

interface Entry {
  /** When its last message was handed out, in milliseconds of the steady clock. */
  lastMs: number;
  /** Until when its next one is held, whether or not that has passed; 0 where nothing was held since the last. */
  heldUntilMs: number;
  /** Holds since it was quiet. */
  holdCount: number;
}

export class Hold {
  readonly #maxMs: number;
  readonly #now: () => number;
  /** Oldest message first: an entry goes to the end with every message. */
  readonly #entries = new Map<string, Entry>();

  /**
   * @param maxSeconds the longest hold
   * @param now        milliseconds of the steady clock
   */
  constructor(maxSeconds: number, now: () => number) {
    this.#maxMs = maxSeconds * 1000;
    this.#now = now;
  }

  /** Objects remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** From when on `mark` may be handed out, in milliseconds of the steady clock; 0 where it is not held. One hold between two messages. */
  untilMs({ uid, lane, reason }: Mark): number {
    if (lane === 'bulk' || isDeletion(reason)) return 0;
    const nowMs = this.#now();
    const entry = this.#entries.get(uid);
    if (entry === undefined || isQuiet(entry, nowMs)) {
      this.#entries.delete(uid);
      return 0;
    }
    if (entry.heldUntilMs > 0) return entry.heldUntilMs;
    if (nowMs - entry.lastMs >= YOUNG_MS) return 0;
    entry.heldUntilMs = nowMs + Math.min(1000 * 2 ** entry.holdCount, this.#maxMs);
    entry.holdCount += 1;
    return entry.heldUntilMs;
  }

  /** The mark is a message now. */
  handedOut({ uid, lane, reason }: Mark): void {
    if (lane === 'bulk' || isDeletion(reason)) {
      if (reason === 'deleted') this.#entries.delete(uid);
      return;
    }
    this.evict();
    const holdCount = this.#entries.get(uid)?.holdCount ?? 0;
    this.#entries.delete(uid);
    this.#entries.set(uid, { lastMs: this.#now(), heldUntilMs: 0, holdCount });
  }

  /** Forgets what has been quiet. */
  evict(): void {
    const nowMs = this.#now();
    for (const [uid, entry] of this.#entries) {
      if (!isQuiet(entry, nowMs)) return;
      this.#entries.delete(uid);
    }
  }
}

/** True for the start and the end of a deletion, which wait for nothing. */
export function isDeletion(reason: Mark['reason']): boolean {
  return reason === 'deleting' || reason === 'deleted';
}

function isQuiet({ lastMs, heldUntilMs }: Entry, nowMs: number): boolean {
  return nowMs - Math.max(lastMs, heldUntilMs) >= QUIET_MS;
}
