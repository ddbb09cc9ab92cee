/** A bucket of tokens that fills at a rate, steady until another is set. Pure: time is an argument, in milliseconds of the steady clock. */

export interface BucketRate {
  /** Tokens that come in a second; a whole number of 1 or more. */
  readonly perSecond: number;
  /** Tokens that the bucket holds at most; it is full at first. */
  readonly capacity: number;
}

/** Thousandths of tokens are counted: what comes in a millisecond is then a whole number, and no rounding can lose any. */
const TOKEN = 1000;

export class TokenBucket {
  #perSecond: number;
  #capacity: number;
  #level: number;
  #atMs: number;

  /** @throws RangeError for a rate that never gives a token */
  constructor(rate: BucketRate, nowMs: number) {
    check(rate);
    this.#perSecond = rate.perSecond;
    this.#capacity = rate.capacity * TOKEN;
    this.#level = this.#capacity;
    this.#atMs = nowMs;
  }

  /** Fills at another rate from now on; keeps its tokens, as many as it then holds at most. @throws RangeError as for a new bucket */
  setRate(rate: BucketRate, nowMs: number): void {
    check(rate);
    this.available(nowMs);
    this.#perSecond = rate.perSecond;
    this.#capacity = rate.capacity * TOKEN;
    this.#level = Math.min(this.#capacity, this.#level);
  }

  /** Whole tokens in it. A clock that is set back gives none, and takes none away. */
  available(nowMs: number): number {
    const elapsedMs = Math.max(0, Math.floor(nowMs) - this.#atMs);
    this.#atMs = Math.floor(nowMs);
    this.#level = Math.min(this.#capacity, this.#level + elapsedMs * this.#perSecond);
    return Math.floor(this.#level / TOKEN);
  }

  /** Takes tokens out. @throws RangeError for more than are {@link available} */
  take(count: number, nowMs: number): void {
    const available = this.available(nowMs);
    if (count > available) throw new RangeError(`the bucket holds ${available} tokens, not ${count}`);
    this.#level -= count * TOKEN;
  }

  /** When it holds `count` tokens if none is taken; never before `nowMs`. `count` is at most its capacity. */
  whenMs(count: number, nowMs: number): number {
    this.available(nowMs);
    return nowMs + Math.ceil(Math.max(0, count * TOKEN - this.#level) / this.#perSecond);
  }
}

function check({ perSecond, capacity }: BucketRate): void {
  if (!Number.isInteger(perSecond) || perSecond < 1 || !Number.isInteger(capacity) || capacity < 1) {
    throw new RangeError(`a bucket needs whole numbers of 1 or more, not ${perSecond} a second and ${capacity} at most`);
  }
}
