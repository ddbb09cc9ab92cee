/** The letters that are hidden from others for us, with what gives each back: receipt handles are long, so they are kept packed. */

/** Bytes of a block; the handles of about three thousand letters of SQS. */
const BLOCK_BYTES = 1_048_576;

interface Place {
  readonly block: number;
  readonly from: number;
  readonly to: number;
  readonly encoding: 'base64' | 'utf8';
  /** What SQS counted when we received it. */
  readonly receiveCount: number | undefined;
}

/** What holding a letter came to: `again` where it was held already, `elsewhere` where somebody else has received it in between. */
export type Held = 'new' | 'again' | 'elsewhere';

export class HeldLetters {
  readonly #blocks: Buffer[] = [];
  #used = 0;
  readonly #places = new Map<string, Place>();

  get count(): number {
    return this.#places.size;
  }

  /** The newest handle of a letter counts. */
  hold(messageId: string, receiptHandle: string, receiveCount: number | undefined): Held {
    const before = this.#places.get(messageId);
    this.#places.set(messageId, this.#pack(receiptHandle, receiveCount));
    if (before === undefined) return 'new';
    return (receiveCount ?? 0) - (before.receiveCount ?? 0) > 1 ? 'elsewhere' : 'again';
  }

  /** The handles, so many at a time; each is handed out once. */
  *take(count: number): Generator<string[]> {
    let some: string[] = [];
    for (const [messageId, place] of this.#places) {
      this.#places.delete(messageId);
      some.push((this.#blocks[place.block] as Buffer).toString(place.encoding, place.from, place.to));
      if (some.length < count) continue;
      yield some;
      some = [];
    }
    if (some.length > 0) yield some;
  }

  #pack(handle: string, receiveCount: number | undefined): Place {
    // Those of SQS are base64, which takes a quarter less when it is decoded.
    const decoded = Buffer.from(handle, 'base64');
    const encoding = decoded.toString('base64') === handle ? 'base64' : 'utf8';
    const bytes = encoding === 'base64' ? decoded : Buffer.from(handle);
    if (this.#blocks.length === 0 || this.#used + bytes.length > BLOCK_BYTES) {
      this.#blocks.push(Buffer.alloc(Math.max(BLOCK_BYTES, bytes.length)));
      this.#used = 0;
    }
    const from = this.#used;
    const block = this.#blocks.length - 1;
    bytes.copy(this.#blocks[block] as Buffer, from);
    this.#used += bytes.length;
    return { block, from, to: this.#used, encoding, receiveCount };
  }
}
