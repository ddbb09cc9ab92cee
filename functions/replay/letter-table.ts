/** The records of many letters, packed into columns: a record is made when it is asked for, and only then. */
import { PackedIds, withRoom } from './columns.ts';
import type { LetterRecord, Target } from './letter-record.ts';

/** Numbers of a letter, in the order of their column; NaN where one is not known. */
const NUMBERS = 6;

/** What many letters have in common. */
type Shared = Pick<LetterRecord, 'kind' | 'code' | 'cluster' | 'reason' | 'mustRun' | 'why'>;

export class LetterTable implements Iterable<LetterRecord> {
  readonly #messageIds = new PackedIds();
  readonly #uids = new PackedIds();
  #numbers = new Float64Array(0);
  readonly #targets: (Target | undefined)[] = [];
  readonly #shared: Shared[] = [];
  readonly #known = new Map<string, Shared>();

  get length(): number {
    return this.#shared.length;
  }

  /** The row of the letter, from 0 on. */
  add(letter: LetterRecord): number {
    const { messageId, kind, code, target, cluster, uid, generation, reason, mustRun, replayCount, why } = letter;
    const { firstSeenMs, deadLetteredMs, sentMs, receiveCount } = letter;
    const row = this.#messageIds.add(messageId);
    this.#uids.add(uid);
    this.#numbers = withRoom(this.#numbers, (row + 1) * NUMBERS);
    const numbers = [generation, replayCount, firstSeenMs, deadLetteredMs, sentMs, receiveCount];
    for (const [at, number = Number.NaN] of numbers.entries()) this.#numbers[row * NUMBERS + at] = number;
    this.#targets.push(target);
    this.#shared.push(this.#one({ kind, code, cluster, reason, mustRun, why }));
    return row;
  }

  at(row: number): LetterRecord {
    const number = (at: number): number | undefined => {
      const value = this.#numbers[row * NUMBERS + at] as number;
      return Number.isNaN(value) ? undefined : value;
    };
    const [generation, replayCount = 0, firstSeenMs, deadLetteredMs, sentMs, receiveCount] = Array.from({ length: NUMBERS }, (_, at) =>
      number(at),
    );
    const { kind, code, cluster, reason, mustRun, why } = this.#shared[row] as Shared;
    return {
      ...{ messageId: this.#messageIds.at(row) as string, kind, code, target: this.#targets[row], cluster, uid: this.#uids.at(row) },
      ...{ generation, reason, mustRun, replayCount, firstSeenMs, deadLetteredMs, sentMs, receiveCount, why },
    };
  }

  /** The objects that letters are about, each once. */
  targets(): Set<Target> {
    return new Set(this.#targets.filter((target) => target !== undefined));
  }

  *[Symbol.iterator](): Generator<LetterRecord> {
    for (let row = 0; row < this.length; row += 1) yield this.at(row);
  }

  #one(shared: Shared): Shared {
    const key = JSON.stringify(Object.values(shared));
    const known = this.#known.get(key) ?? shared;
    this.#known.set(key, known);
    return known;
  }
}

/** Rows of a table in groups, each in the order in which it grew: lists that are threaded through one column. */
export class RowGroups {
  /** The next row of the same group; that of the last is the first. */
  #next = new Uint32Array(0);

  /** The last row of the group with one more, of which `last` was the last one; a group of its own without. */
  add(row: number, last: number | undefined): number {
    this.#next = withRoom(this.#next, row);
    this.#next[row] = last === undefined ? row : (this.#next[last] as number);
    if (last !== undefined) this.#next[last] = row;
    return row;
  }

  *rows(last: number): Generator<number> {
    let row = last;
    do {
      row = this.#next[row] as number;
      yield row;
    } while (row !== last);
  }
}
