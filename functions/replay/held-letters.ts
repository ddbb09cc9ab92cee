/** The letters that are hidden from others for us, with what gives each back: receipt handles are long, so they are kept on disk. */
import { NumberedIds, withRoom } from './columns.ts';
import { SpillFile } from './spill-file.ts';

/** What holding a letter came to: `again` where it was held already, `elsewhere` where somebody else has received it in between. */
export type Held = 'new' | 'again' | 'elsewhere';

export class HeldLetters {
  readonly #handles = new SpillFile();
  readonly #ids = new NumberedIds();
  /** By the number of an id: the place of its handle, how many bytes that has, whether they are decoded base64, and what SQS counted. */
  #places = new Uint32Array(0);
  #lengths = new Uint32Array(0);
  #decoded = new Uint8Array(0);
  #receiveCounts = new Uint32Array(0);
  #takenCount = 0;
  #lostCount = 0;

  /** Letters that were taken and whose handle could not be read again: they come back by themselves. */
  get lostCount(): number {
    return this.#lostCount;
  }

  get count(): number {
    return this.#ids.count - this.#takenCount;
  }

  /** The newest handle of a letter counts. Not to be called any more once some are taken. */
  hold(messageId: string, receiptHandle: string, receiveCount: number | undefined): Held {
    const { number, isNew } = this.#ids.add(messageId);
    const countBefore = this.#receiveCounts[number] ?? 0;
    this.#keep(number, receiptHandle);
    this.#receiveCounts = withRoom(this.#receiveCounts, number);
    this.#receiveCounts[number] = receiveCount ?? 0;
    if (isNew) return 'new';
    return (receiveCount ?? 0) - countBefore > 1 ? 'elsewhere' : 'again';
  }

  /** The handles, so many at a time; each is handed out once. */
  *take(count: number): Generator<string[]> {
    while (this.count > 0) {
      const first = this.#takenCount;
      this.#takenCount = Math.min(first + count, this.#ids.count);
      const handles = Array.from({ length: this.#takenCount - first }, (_, at) => this.#handle(first + at));
      const known = handles.filter((handle) => handle !== undefined);
      this.#lostCount += handles.length - known.length;
      if (known.length > 0) yield known;
    }
    this.#handles.close();
  }

  /** Those of SQS are base64, which takes a quarter less when it is decoded. */
  #keep(number: number, handle: string): void {
    const decoded = Buffer.from(handle, 'base64');
    const isDecoded = decoded.toString('base64') === handle;
    const bytes = isDecoded ? decoded : Buffer.from(handle);
    this.#places = withRoom(this.#places, number);
    this.#lengths = withRoom(this.#lengths, number);
    this.#decoded = withRoom(this.#decoded, number);
    this.#places[number] = this.#handles.append(bytes);
    this.#lengths[number] = bytes.length;
    this.#decoded[number] = isDecoded ? 1 : 0;
  }

  #handle(number: number): string | undefined {
    try {
      const bytes = this.#handles.read(this.#places[number] as number, this.#lengths[number] as number);
      return bytes.toString(this.#decoded[number] === 1 ? 'base64' : 'utf8');
    } catch {
      return undefined; // a disk that fails: what it took from the others is given back all the same
    }
  }
}
