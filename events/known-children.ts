/**
 * What the watcher remembers of the children of one kind in one cluster, one small record a uid, and which of their changes
 * wake the owner.
 *
 * Drift is seen from ownership: a foreign write that changes or removes a field of ours takes it out of our entry in
 * managedFields, while our own new values, status updates and foreign annotations leave the entry as it is. Nobody else can
 * add to it, so that an entry which only grew in the stream is an apply of our own, and no news.
 *
 * Judged and remembered apart: whoever cannot pass the news on does not remember it, and the next list tells it again.
 */
import type { OwnFields } from './observed-object.ts';
import { compareResourceVersions } from './resource-version.ts';

/** The projection of one child. */
export interface ObservedChild {
  readonly uid: string;
  readonly resourceVersion: string;
  /** What the owner label says: the uid of the owner. */
  readonly ownerUid: string;
  readonly isDeleting: boolean;
  /** Undefined where nothing of it is ours. */
  readonly ownFields: OwnFields | undefined;
  /** What the cells of the columns in `wakeOn` say, as one number a column; empty where none is named. */
  readonly cells: readonly number[];
  /** True where more than the label, which Kubernetes copies from one object to another, says that it is a child. */
  readonly isMarked: boolean;
}

/** A child that is gone, as far as anybody knows it. */
export interface RemovedChild {
  readonly uid: string;
  readonly ownerUid: string;
}

/**
 * Why a sight of a child wakes nobody.
 * - `first-sight`: nothing is known to compare it with
 * - `not-changed`: the same resourceVersion as before
 * - `older`: a replayed frame, older than what we know of this child
 * - `own-fields-unchanged`: what changed is not ours: status, foreign fields, or only the values that we apply
 * - `own-fields-grown`: our own apply took fields, new ones or ones that were taken from us
 * - `deleting`: being deleted already; it tells again when it is gone
 * - `not-ours`: it has our label and nothing else of ours
 */
export const CHILD_SKIP_REASONS = [
  'first-sight',
  'not-changed',
  'older',
  'own-fields-unchanged',
  'own-fields-grown',
  'deleting',
  'not-ours',
] as const;
type ChildSkipReason = (typeof CHILD_SKIP_REASONS)[number];

/**
 * What happened to a child that its owner has to know.
 * - `gone`: deleted, or without our label
 * - `deleting`: its deletion began
 * - `moved`: the label names another owner; the one before is woken. It may have been a stranger's label that its own owner has put
 *   right since: by the fields of our entry alone that cannot be told from an owner that takes another one's child over
 * - `own-fields`: somebody took fields from us, or we ourselves applied fewer or others
 * - `cells`: a column that the owner's reconciler named changed
 */
type ChildNews = 'gone' | 'deleting' | 'moved' | 'own-fields' | 'cells';

export type ChildVerdict =
  | {
      readonly kind: 'pass';
      readonly news: ChildNews;
      readonly ownerUid: string;
      /** For `cells`: which columns changed, by index. Empty for other news. */
      readonly columns: readonly number[];
    }
  | { readonly kind: 'skip'; readonly reason: ChildSkipReason };

/** Where a sight comes from. A list is the truth and may hide steps; a frame is one write. */
export type ChildPhase = 'list' | 'watch';

/** Fields are declared in one order, so that every record has the same hidden class. */
class KnownChild {
  resourceVersion!: string;
  ownerUid!: string;
  isDeleting!: boolean;
  /** -1 where nothing is ours: no digest is negative. */
  ownDigest!: number;
  ownCount!: number;
  cells!: readonly number[];
  /** Number of the newest list that contained it, or during which a frame showed it. */
  seenInList: number;

  constructor(child: ObservedChild, seenInList: number) {
    this.update(child);
    this.seenInList = seenInList;
  }

  /** Takes in a newer sight. */
  update(child: ObservedChild): void {
    this.resourceVersion = child.resourceVersion;
    this.ownerUid = child.ownerUid;
    this.isDeleting = child.isDeleting;
    this.ownDigest = child.ownFields?.digest ?? -1;
    this.ownCount = child.ownFields?.count ?? 0;
    this.cells = child.cells;
  }
}

const NO_COLUMNS: readonly number[] = [];

export class KnownChildren {
  readonly #children = new Map<string, KnownChild>();
  #listNumber = 0;
  #isListing = false;

  /** Children remembered. */
  get size(): number {
    return this.#children.size;
  }

  /** Whether a sight of a child wakes its owner. Changes nothing: see {@link remember}. */
  judge(child: ObservedChild, phase: ChildPhase): ChildVerdict {
    const known = this.#children.get(child.uid);
    if (known === undefined) return skip(child.isMarked ? 'first-sight' : 'not-ours');
    if (phase === 'watch') {
      if (child.resourceVersion === known.resourceVersion) return skip('not-changed');
      if (isOlder(child, known)) return skip('older');
    }
    if (child.ownerUid !== known.ownerUid) return pass('moved', known);
    if (child.isDeleting) return known.isDeleting ? skip('deleting') : pass('deleting', known);
    const ownDigest = child.ownFields?.digest ?? -1;
    const isGrown = phase === 'watch' && (child.ownFields?.count ?? 0) > known.ownCount;
    if (ownDigest !== known.ownDigest && !isGrown) return pass('own-fields', known);
    const columns = changedCells(known.cells, child.cells);
    if (columns.length > 0) return { ...pass('cells', known), columns };
    if (ownDigest !== known.ownDigest) return skip('own-fields-grown');
    return skip(child.resourceVersion === known.resourceVersion ? 'not-changed' : 'own-fields-unchanged');
  }

  /** Takes a sight in. A frame that is older than what is known changes nothing, nor does a child that is not ours. */
  remember(child: ObservedChild, phase: ChildPhase): void {
    const known = this.#children.get(child.uid);
    if (known === undefined) {
      if (child.isMarked) this.#children.set(child.uid, new KnownChild(child, this.#listNumber));
      return;
    }
    known.seenInList = this.#listNumber;
    if (phase === 'watch' && isOlder(child, known)) return;
    known.update(child);
  }

  /** Whether the DELETED frame of a child wakes its owner: the one that we knew, or the one that the frame names. */
  judgeRemoved(child: ObservedChild): ChildVerdict {
    const known = this.#children.get(child.uid);
    if (known === undefined) return child.isMarked ? pass('gone', child) : skip('not-ours');
    return isOlder(child, known) ? skip('older') : pass('gone', known);
  }

  forget(uid: string): void {
    this.#children.delete(uid);
  }

  /** A list begins; one that had begun before is given up. */
  beginList(): void {
    this.#listNumber += 1;
    this.#isListing = true;
  }

  /** The list is complete: what it did not show. Each is still known until {@link forget}. Empty where no list had begun. */
  *endList(): Generator<RemovedChild, void, undefined> {
    if (!this.#isListing) return;
    this.#isListing = false;
    for (const [uid, known] of this.#children) {
      if (known.seenInList !== this.#listNumber) yield { uid, ownerUid: known.ownerUid };
    }
  }

  /** The list did not come to its end: what it did not show may well exist, so nothing is inferred. */
  abandonList(): void {
    this.#isListing = false;
  }
}

function isOlder(child: ObservedChild, known: KnownChild): boolean {
  return compareResourceVersions(child.resourceVersion, known.resourceVersion) === -1;
}

/** Indexes of the columns that differ. Cells that were not shown, as where the columns are gone for a while, are no change. */
function changedCells(before: readonly number[], after: readonly number[]): readonly number[] {
  if (before.length !== after.length) return NO_COLUMNS;
  return after.flatMap((cell, at) => (cell === before[at] ? [] : [at]));
}

function pass(news: ChildNews, { ownerUid }: { readonly ownerUid: string }): ChildVerdict & { readonly kind: 'pass' } {
  return { kind: 'pass', news, ownerUid, columns: NO_COLUMNS };
}

function skip(reason: ChildSkipReason): ChildVerdict {
  return { kind: 'skip', reason };
}
