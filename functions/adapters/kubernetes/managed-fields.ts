/**
 * Cuts managedFields out of JSON before it is parsed. They are most of what a row weighs, hardly two objects have the same keys
 * in them, and V8 keeps every key that it parses in its old generation until a full collection: parsing them costs more than
 * all the rest, in time and in memory.
 */

const KEY = Buffer.from('"managedFields":[');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/**
 * Takes the bytes of JSON texts as they arrive, in pieces of any size, and gives them back with every `"managedFields":[...]`
 * emptied to `"managedFields":[]`. Exact for JSON without spaces around that key, which is how API servers write it; with
 * spaces it is left in. Nothing within a text can look like the key, since a quote in there comes after a backslash.
 */
export class ManagedFieldsCut {
  /** How many bytes of KEY the input so far ends with. */
  #matched = 0;
  #lastByte = 0;
  /** Square brackets that are open within the array; 0 outside of one. */
  #depth = 0;
  #isInText = false;
  /** Within a text of the array: the byte before was a backslash that takes the next one's meaning away. */
  #isEscaped = false;

  /** @param chunk is written over: what is returned is its beginning */
  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    const lastByte = chunk[chunk.length - 1] as number;
    let read = 0;
    let written = 0;
    while (read < chunk.length) {
      const begin = this.#depth === 0 ? read : this.#findEnd(chunk, read);
      const end = this.#depth === 0 ? this.#findKey(chunk, begin) : chunk.length;
      if (begin !== written) chunk.copyWithin(written, begin, end);
      written += end - begin;
      read = end;
    }
    this.#lastByte = lastByte;
    return chunk.subarray(0, written);
  }

  /** Where the next array begins, or the end of the chunk. */
  #findKey(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#matched > 0) {
      // The chunk before ended with a part of the key.
      while (at < chunk.length && this.#matched < KEY.length && chunk[at] === KEY[this.#matched]) {
        at += 1;
        this.#matched += 1;
      }
      if (this.#matched === KEY.length) return this.#open(at);
      if (at === chunk.length) return at;
      this.#matched = 0;
    }
    for (let found = chunk.indexOf(KEY, at); found >= 0; found = chunk.indexOf(KEY, found + 1)) {
      if (!this.#isEscapedAt(chunk, found)) return this.#open(found + KEY.length);
    }
    this.#matched = this.#partAtEnd(chunk, at);
    return chunk.length;
  }

  #open(at: number): number {
    this.#matched = 0;
    this.#depth = 1;
    return at;
  }

  /** How many bytes of KEY the chunk ends with. */
  #partAtEnd(chunk: Buffer, from: number): number {
    const quote = chunk.lastIndexOf(QUOTE);
    for (const at of [chunk.lastIndexOf(QUOTE, quote - 1), quote]) {
      if (at < from || at < chunk.length - KEY.length + 1 || this.#isEscapedAt(chunk, at)) continue;
      if (KEY.compare(chunk, at, chunk.length, 0, chunk.length - at) === 0) return chunk.length - at;
    }
    return 0;
  }

  #isEscapedAt(chunk: Buffer, at: number): boolean {
    return (at === 0 ? this.#lastByte : chunk[at - 1]) === BACKSLASH;
  }

  /** Where the last bracket of the array is, which is kept; the end of the chunk if it is not there. */
  #findEnd(chunk: Buffer, from: number): number {
    let depth = this.#depth;
    let isInText = this.#isInText;
    let isEscaped = this.#isEscaped;
    let at = from;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN) depth += 1;
      else if (byte === CLOSE) {
        depth -= 1;
        if (depth === 0) break;
      }
    }
    this.#depth = depth;
    this.#isInText = isInText;
    this.#isEscaped = isEscaped;
    return at;
  }
}
