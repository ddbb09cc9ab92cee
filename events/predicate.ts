/**
 * Which change of an object is worth a message: pass, or skip with the reason by name.
 *
 * By itself only four things pass: an object that is new and not settled, another generation, the start of a deletion, and the
 * setting or lifting of a pause. Labels, foreign annotations, finalizers and every status write leave them all alone, so that our
 * own writes never wake us. An author's filter (`filter.ts`) may let labels and annotations by name pass as well, and hold objects
 * back. A deletion is a rule of its own and never inferred from the generation: kinds without a
 * generation and restored objects would slip through.
 */
import { type Lane, REASONS, type Reason } from './envelope.ts';
import type { ObservedObject } from './observed-object.ts';
import { compareResourceVersions } from './resource-version.ts';

/**
 * Why nothing is sent.
 * - `settled`: the cluster says that this generation and revision are done
 * - `not-changed`: the same resourceVersion as before
 * - `same-generation`: labels, annotations, finalizers or status changed, the spec did not
 * - `older`: a replayed frame, older than what we know of this object
 * - `paused`: nothing is done until the annotation goes
 * - `stalled`: given up for this generation; its dead letter is the record
 * - `deleting`: being deleted, and either its message was sent or nothing of ours is left to do
 * - `filtered`: the author's filter does not admit it
 */
export const SKIP_REASONS = ['settled', 'not-changed', 'same-generation', 'older', 'paused', 'stalled', 'deleting', 'filtered'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export type Verdict =
  | { readonly kind: 'pass'; readonly reason: Reason; readonly mustRun: boolean; readonly lane: Lane }
  | { readonly kind: 'skip'; readonly reason: SkipReason };

/** Where a sight of an object comes from: a process's first list, a later list, or a frame of a watch. A list is the truth. */
export type Phase = 'first-list' | 'list' | 'watch';

/** What the filter has to know of a kind. */
export interface KindPolicy {
  /** The reconciler's revision: an object settled by another one is not settled. */
  readonly revision: number;
  /** Our finalizer, for kinds that have one. */
  readonly finalizer?: string | undefined;
  /** The API server shows a part of the kind only: an object that is new may have been here before. */
  readonly hasSelector?: boolean | undefined;
  /** Not ours: nothing that its status says is about us, and nothing ever shows that its work was done. */
  readonly isDescribed?: boolean | undefined;
}

/** `unknown` where no cells were asked for: nothing in the metadata says whether an object of ours is done. */
export type Settledness = 'settled' | 'unsettled' | 'unknown';

/** What is remembered of an object that was seen before. */
export interface Remembered {
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly isDeleting: boolean;
  readonly isPaused: boolean;
  readonly isFiltered?: boolean | undefined;
  readonly watchedDigest?: number | undefined;
  readonly settledness: Settledness;
  /** Remembered from before the cluster went back in time: neither its version nor a message sent for it counts. */
  readonly isStale: boolean;
}

/**
 * True where the work of this generation was done by this revision of the code. The watcher asks with the cells of a row,
 * the function with the status it has read. Equal, not "at least": after a restore or a copied status observedGeneration can
 * be ahead of the generation.
 *
 * @param status observedRevision absent counts as 1
 */
export function isSettled(
  status: {
    readonly generation?: number | undefined;
    readonly observedGeneration?: number | undefined;
    readonly observedRevision?: number | undefined;
  },
  revision: number,
): boolean {
  if (status.generation === undefined || status.observedGeneration !== status.generation) return false;
  return (status.observedRevision ?? 1) === revision;
}

/** How settled the row says an object is. A deletion is settled, for us, once our finalizer is off. */
export function settlednessOf(object: ObservedObject, policy: KindPolicy): Settledness {
  if (object.isDeleting) {
    const isHeldByUs = policy.finalizer !== undefined && object.finalizers.includes(policy.finalizer);
    return isHeldByUs ? 'unsettled' : 'settled';
  }
  if (object.status === undefined) return 'unknown';
  return isSettled({ ...object.status, generation: object.generation }, policy.revision) ? 'settled' : 'unsettled';
}

/** True for an object that was given up for the generation it has. */
export function isStalled(object: ObservedObject): boolean {
  const stalled = object.status?.stalledGeneration;
  return stalled !== undefined && stalled === object.generation;
}

/** Pass or skip, for a sight of an object. `before` is what was remembered of the same uid: a name is no identity. */
export function judge(before: Remembered | undefined, object: ObservedObject, phase: Phase, policy: KindPolicy): Verdict {
  const settledness = settlednessOf(object, policy);
  return before === undefined ? judgeNew(object, phase, settledness, policy) : judgeKnown(before, object, phase, settledness);
}

function judgeNew(object: ObservedObject, phase: Phase, settledness: Settledness, { hasSelector = false }: KindPolicy): Verdict {
  const isFirstList = phase === 'first-list';
  if (object.isDeleting) {
    if (!isFirstList) return pass('deleting');
    if (settledness === 'settled') return skip('deleting');
  } else if (object.isFiltered) {
    return skip('filtered');
  } else if (object.isPaused) {
    return skip('paused');
  } else if (settledness === 'settled') {
    // Settled before it was new: it had left the selection.
    return hasSelector && !isFirstList ? pass('selected') : skip('settled');
  }
  if (!isFirstList) return pass('created');
  return isStalled(object) ? skip('stalled') : pass('sweep');
}

function judgeKnown(before: Remembered, object: ObservedObject, phase: Phase, settledness: Settledness): Verdict {
  const isSame = object.resourceVersion === before.resourceVersion;
  const isOlder = compareResourceVersions(object.resourceVersion, before.resourceVersion) === -1;
  if (phase === 'watch' && !before.isStale) {
    if (isSame) return skip('not-changed');
    if (isOlder) return skip('older');
  }
  const isOtherGeneration = object.generation !== before.generation;
  if (object.isDeleting) {
    if (!before.isDeleting || isOtherGeneration) return pass('deleting');
    // The run of the deletion's message did nothing while it was paused.
    if (before.isPaused && !object.isPaused && settledness === 'unsettled') return pass('resumed');
  } else if (object.isFiltered) {
    return skip('filtered');
  } else if (object.isPaused !== before.isPaused) {
    return pass(object.isPaused ? 'paused' : 'resumed');
  } else if (object.isPaused) {
    return skip('paused');
  } else if (before.isFiltered) {
    return pass('selected');
  } else if (object.watchedDigest !== before.watchedDigest) {
    // Also beside another generation: one sight may show two writes, and a run that began between them settles the generation.
    return pass('metadata-changed');
  } else if (isOtherGeneration || before.isDeleting || (object.generation === undefined && !isSame)) {
    return settledness === 'settled' ? skip('settled') : pass('generation-changed');
  }
  // Nothing to react to, but a list may show that what was done is undone: its message was of a history that is gone, or
  // somebody took our status away. A watch frame that shows the latter waits for healing: two writers of one status
  // would else drive each other at full speed.
  const isUndone = before.isStale || isOlder || (before.settledness === 'settled' && settledness === 'unsettled');
  if (phase !== 'watch' && isUndone && settledness !== 'settled') return isStalled(object) ? skip('stalled') : pass('sweep');
  if (object.isDeleting) return skip('deleting');
  return skip(isSame ? 'not-changed' : 'same-generation');
}

function pass(reason: Reason): Verdict {
  return { kind: 'pass', reason, ...REASONS[reason] };
}

function skip(reason: SkipReason): Verdict {
  return { kind: 'skip', reason };
}
