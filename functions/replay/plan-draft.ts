/**
 * A plan while it is made. Each object is judged as soon as it was read, and of its state only where it lies on disk is remembered: the
 * conditions of a hundred thousand objects would take more room than everything else.
 */
import type { Reconciler } from '../core/reconciler.ts';
import type { LetterRecord, Target } from './letter-record.ts';
import { type LetterTable, RowGroups } from './letter-table.ts';
import type { ObjectState } from './object-state.ts';
import { kindFactsOf, reconcilerFor } from './read-objects.ts';
import { SpillFile } from './spill-file.ts';
import { judgeLetters, REPLAY_CLASSES, type Reading, type Verdict, verdictWithoutObject } from './verdict.ts';

/** Letters with one verdict: of one object, or of none. */
export interface DraftItem {
  /** One and the same for all items that have it. */
  readonly verdict: Verdict;
  readonly target: Target | undefined;
  readonly letterCount: number;
  /** Of their rows. */
  readonly last: number;
  /** Where the state lies, and how many bytes it has; 0 where there is none. */
  readonly statePlace: number;
  readonly stateBytes: number;
}

export class PlanDraft {
  /** Of all letters, whether or not they were read yet. */
  readonly objectCount: number;
  readonly #letters: LetterTable;
  readonly #reconcilers: readonly Reconciler[];
  readonly #verdicts = new Map<string, Verdict>();
  readonly #states = new SpillFile();
  readonly #items: DraftItem[] = [];
  readonly #rows = new RowGroups();
  /** The last row of the letters of an object that was not read yet. */
  readonly #unread = new Map<Target, number>();

  constructor(letters: LetterTable, reconcilers: readonly Reconciler[]) {
    this.#letters = letters;
    this.#reconcilers = reconcilers;
    const apart = new Map<string, { readonly verdict: Verdict; letterCount: number; last: number | undefined }>();
    for (let row = 0; row < letters.length; row += 1) {
      const letter = letters.at(row);
      const verdict = verdictWithoutObject(letter);
      if (verdict === undefined && letter.target !== undefined) {
        this.#unread.set(letter.target, this.#rows.add(row, this.#unread.get(letter.target)));
      } else if (verdict !== undefined) {
        const key = `${letter.kind} ${letter.code}`;
        const group = apart.get(key) ?? { verdict, letterCount: 0, last: undefined };
        group.letterCount += 1;
        group.last = this.#rows.add(row, group.last);
        apart.set(key, group);
      }
    }
    this.objectCount = this.#unread.size;
    for (const { verdict, letterCount, last = 0 } of apart.values()) this.#add(verdict, undefined, letterCount, last, undefined);
  }

  /** Objects that are to be read. */
  get targets(): Iterable<Target> {
    return this.#unread.keys();
  }

  /** To be called once for each of the {@link targets}. */
  judge(target: Target, reading: Reading): void {
    const last = this.#unread.get(target);
    if (last === undefined) return;
    this.#unread.delete(target);
    const state = reading.kind === 'found' ? reading.state : undefined;
    const kind = kindFactsOf(reconcilerFor(target, this.#reconcilers));
    const rows = [...this.#rows.rows(last)];
    // Letters without uid belong to the object that is there, or to whichever there was.
    for (const own of Map.groupBy(rows, (row) => this.#letters.at(row).uid ?? state?.uid).values()) {
      const verdict = judgeLetters(
        own.map((row) => this.#letters.at(row)),
        reading,
        kind,
      );
      let end: number | undefined;
      for (const row of own) end = this.#rows.add(row, end);
      this.#add(verdict, target, own.length, end as number, state);
    }
  }

  /** By class, then by reason and place. */
  items(): readonly DraftItem[] {
    return this.#items.sort(inOrder);
  }

  stateOf({ statePlace, stateBytes }: DraftItem): ObjectState | undefined {
    return stateBytes === 0 ? undefined : (JSON.parse(this.#states.read(statePlace, stateBytes).toString()) as ObjectState);
  }

  *lettersOf({ last }: DraftItem): Generator<LetterRecord> {
    for (const row of this.#rows.rows(last)) yield this.#letters.at(row);
  }

  close(): void {
    this.#states.close();
  }

  #add(verdict: Verdict, target: Target | undefined, letterCount: number, last: number, state: ObjectState | undefined): void {
    const bytes = Buffer.from(state === undefined ? '' : JSON.stringify(state));
    const statePlace = this.#states.append(bytes);
    this.#items.push({ verdict: this.#one(verdict), target, letterCount, last, statePlace, stateBytes: bytes.length });
  }

  #one(verdict: Verdict): Verdict {
    const key = `${verdict.class} ${verdict.reason}`;
    const known = this.#verdicts.get(key) ?? verdict;
    this.#verdicts.set(key, known);
    return known;
  }
}

function inOrder(a: DraftItem, b: DraftItem): number {
  return (
    REPLAY_CLASSES.indexOf(a.verdict.class) - REPLAY_CLASSES.indexOf(b.verdict.class) ||
    compare(a.verdict.reason, b.verdict.reason) ||
    compare(a.target?.cluster, b.target?.cluster) ||
    compare(a.target?.kind, b.target?.kind) ||
    compare(a.target?.namespace, b.target?.namespace) ||
    compare(a.target?.name, b.target?.name)
  );
}

function compare(a = '', b = ''): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
