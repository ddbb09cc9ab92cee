/** From news of a child to a mark on its owner: who the owner is, and whether it wants to know. */
import type { DirtyMarks } from '../../events/dirty-marks.ts';
import { REASONS } from '../../events/envelope.ts';
import type { Sight } from '../../events/known-objects.ts';

/** A kind with a reconciler that owns the kind of the children. */
export interface OwnerKind {
  /** Columns of the children that wake an owner of this kind. */
  readonly wakeOnColumns: readonly string[];
  readonly marks: DirtyMarks;
  /** True once all its objects are known. */
  hasListed(): boolean;
  find(uid: string): Sight | undefined;
}

/**
 * Why the owner is not woken.
 * - `owner-not-listed`: not known yet; it is woken once its kind was listed, if it is there
 * - `owner-unknown`: gone, or of a kind that does not own such children
 * - `owner-deleting`: its children go with it
 * - `owner-paused`: nothing is done until the annotation goes, and then it runs anyway
 * - `owner-filtered`: its author's filter holds it back; it runs when that is over
 * - `column-not-named`: another kind's reconciler asked for that column
 */
export const OWNER_SKIP_REASONS = [
  'owner-not-listed',
  'owner-unknown',
  'owner-deleting',
  'owner-paused',
  'owner-filtered',
  'column-not-named',
] as const;
type OwnerSkipReason = (typeof OWNER_SKIP_REASONS)[number];

export type WakeVerdict = { readonly kind: 'pass' } | { readonly kind: 'skip'; readonly reason: OwnerSkipReason };

/** Events of one owner's children are gathered so long, in milliseconds: a change of it touches them all within moments. */
const CHILD_HOLD_MS = 1_000;

/** Owners that may wait for a first list, which never comes where the kind is not served. Those given up are left to the resync. */
export const WAITING_MAX = 10_000;

/** The owners that the children of one kind may have. */
export class Owners {
  readonly #kinds: readonly OwnerKind[];
  readonly #now: () => number;
  /** uid -> the columns that changed, or undefined for other news: of owners that may turn up in a first list. */
  readonly #waiting = new Map<string, readonly string[] | undefined>();

  constructor(kinds: readonly OwnerKind[], now: () => number) {
    this.#kinds = kinds;
    this.#now = now;
  }

  /** Every column that any of them asks for, once. */
  get columns(): readonly string[] {
    return [...new Set(this.#kinds.flatMap(({ wakeOnColumns }) => wakeOnColumns))];
  }

  /** Marks the owner, unless there is a reason not to. @param columns that changed; undefined for any other news */
  wake(uid: string, columns: readonly string[] | undefined): WakeVerdict {
    for (const kind of this.#kinds) {
      const owner = kind.find(uid);
      if (owner === undefined) continue;
      if (owner.isDeleting) return skip('owner-deleting');
      if (owner.isPaused) return skip('owner-paused');
      if (owner.isFiltered) return skip('owner-filtered');
      if (columns !== undefined && !columns.some((column) => kind.wakeOnColumns.includes(column))) return skip('column-not-named');
      mark(kind.marks, uid, owner, this.#now());
      return { kind: 'pass' };
    }
    if (this.#kinds.every((kind) => kind.hasListed())) return skip('owner-unknown');
    const before = this.#waiting.get(uid);
    const isAny = columns === undefined || (this.#waiting.has(uid) && before === undefined);
    // Put at the end, so that the first is the one without news for the longest time.
    this.#waiting.delete(uid);
    this.#waiting.set(uid, isAny ? undefined : [...new Set([...(before ?? []), ...columns])]);
    if (this.#waiting.size > WAITING_MAX) this.#giveUpOldest();
    return skip('owner-not-listed');
  }

  /** One of the kinds was listed: whoever waited for that is woken now. */
  listed(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [uid, columns] of waiting) this.wake(uid, columns);
  }

  #giveUpOldest(): void {
    for (const uid of this.#waiting.keys()) {
      this.#waiting.delete(uid);
      return;
    }
  }
}

function mark(marks: DirtyMarks, uid: string, owner: Sight, nowMs: number): void {
  const { namespace, name, resourceVersion, generation } = owner;
  const address = namespace === undefined ? { name } : { namespace, name };
  const reason = 'child-changed';
  marks.mark({ uid, ...address, resourceVersion, generation, reason, ...REASONS[reason], firstSeenAtMs: nowMs }, nowMs + CHILD_HOLD_MS);
}

function skip(reason: OwnerSkipReason): WakeVerdict {
  return { kind: 'skip', reason };
}
