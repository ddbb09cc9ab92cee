/**
 * Bytes that are needed once more, much later: on disk and not in memory, in a file that has no name, so that it ends with the process
 * however that ends. Where there can be none, or the disk is full, they stay in memory.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes that are written at a time. A place is the number of such a block, and where in it: at most 4 GB can be addressed. */
const BLOCK_BYTES = 65_536;

export class SpillFile {
  /** Undefined where there is none, or is none any more. */
  #file: number | undefined;
  /** Of what is in memory: the last block, and those that could not be written. */
  readonly #blocks = new Map<number, Buffer>();
  #last = 0;
  #used = 0;
  #isFull = false;

  constructor(folder: string = tmpdir()) {
    try {
      const path = join(folder, `.dogwatch-${randomUUID()}.tmp`);
      this.#file = openSync(path, 'wx+', 0o600);
      rmSync(path, { force: true });
    } catch {
      // A folder that nobody may write to: more memory is taken, and nothing else is lost.
    }
    this.#blocks.set(0, Buffer.alloc(BLOCK_BYTES));
  }

  /** The place of the bytes, for {@link read}; below 2 to the 32nd. */
  append(bytes: Uint8Array): number {
    if (this.#used + bytes.length > BLOCK_BYTES) this.#nextBlock(bytes.length);
    (this.#blocks.get(this.#last) as Buffer).set(bytes, this.#used);
    const place = this.#last * BLOCK_BYTES + this.#used;
    this.#used += bytes.length;
    return place;
  }

  /** As many bytes as were appended there. @throws the error of the file system, where it does not give back what it took */
  read(place: number, length: number): Buffer {
    const number = Math.floor(place / BLOCK_BYTES);
    const block = this.#blocks.get(number);
    const from = place - number * BLOCK_BYTES;
    if (block !== undefined) return block.subarray(from, from + length);
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      const count = readSync(this.#file as number, bytes, at, length - at, place + at);
      if (count === 0) throw new Error('a temporary file has lost its end');
      at += count;
    }
    return bytes;
  }

  /** Nothing can be read any more. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#blocks.clear();
  }

  /** What is larger than a block gets one of its own, which stays in memory. */
  #nextBlock(length: number): void {
    const block = this.#blocks.get(this.#last) as Buffer;
    const isReused = block.length === BLOCK_BYTES && this.#write(block);
    if (isReused) this.#blocks.delete(this.#last);
    this.#last += 1;
    this.#used = 0;
    this.#blocks.set(this.#last, isReused && length <= BLOCK_BYTES ? block : Buffer.alloc(Math.max(length, BLOCK_BYTES)));
  }

  /** Whether it is in the file now. A disk that is full is not asked again. */
  #write(block: Buffer): boolean {
    if (this.#file === undefined || this.#isFull) return false;
    try {
      for (let at = 0; at < block.length; ) at += writeSync(this.#file, block, at, block.length - at, this.#last * BLOCK_BYTES + at);
      return true;
    } catch {
      this.#isFull = true;
      return false;
    }
  }
}
