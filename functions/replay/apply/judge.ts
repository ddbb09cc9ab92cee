/**
 * Whether an object that was sent is reconciled or fails again, from what it was right before the send and what it is now.
 *
 * A run that fails just as the one before may write nothing: then its letter that comes back, or the time-out, is what says so. And a run
 * that succeeds may write nothing where all was well before: then quiet for a while has to do.
 */
import { createHash } from 'node:crypto';
import { FIELD_MANAGER } from '../../../events/labels.ts';
import { READY, STALLED } from '../../core/conditions.ts';
import { codeOfReason } from '../../core/explain/failures.ts';
import type { KubernetesObject } from '../../core/reconciler.ts';
import type { Reading } from '../verdict.ts';

/** As much of an object as a verdict needs; small, since the audit keeps it. */
export type Sight =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'found';
      readonly uid: string;
      readonly isSettled: boolean;
      readonly isStalled: boolean;
      readonly isDeleting: boolean;
      /** Our finalizer is on it. */
      readonly isHeld: boolean;
      /** Paused, or not selected: a run does nothing. */
      readonly isIdle: boolean;
      /** Ready=False for its present generation, as a run that failed says it. */
      readonly isFailing: boolean;
      /**
       * The reason of a Ready=False that a run which failed may say, and one that succeeded as well: the generation was reconciled, and the
       * reason is none of ours but its author's.
       */
      readonly unreadyFor?: string;
      /** Of what our part of its status says. */
      readonly statusDigest: string;
      /** When we last wrote its status, by the API server's account; whole seconds. */
      readonly statusAt?: string;
    };

type Found = Extract<Sight, { kind: 'found' }>;

/** Seconds without a sign of failure after which an object counts as well that cannot show a success. */
export const QUIET_SECONDS = 20;

export interface JudgeFacts {
  /** The object that the message is about; undefined where it is about whatever has the name. */
  readonly uid: string | undefined;
  /** Its kind is not ours: nothing in its status is about us. */
  readonly isDescribed: boolean;
  /** Seconds since its send. */
  readonly ageSeconds: number;
  readonly timeoutSeconds: number;
}

/** `undefined`: wait. `timeout` is the only reason that more of time could have changed. */
export type Judgement = { readonly verdict: 'good' | 'quiet' | 'bad'; readonly reason: string } | undefined;

/** What was read, as what it is measured by. @param reading not `untold` */
export function sightOf(reading: Exclude<Reading, { kind: 'untold' }>, object: KubernetesObject | undefined): Sight {
  if (reading.kind === 'absent') return { kind: 'absent' };
  const {
    uid,
    generation,
    observedGeneration,
    observedRevision,
    isSettled,
    isStalled,
    isDeleting,
    isHeld,
    isPaused,
    isSelected,
    conditions,
  } = reading.state;
  const ours = conditions.filter(({ type }) => type === READY || type === STALLED);
  const ready = ours.find(({ type }) => type === READY);
  const isUnready = ready?.status === 'False' && ready.observedGeneration === generation;
  const { reason = '' } = ready ?? {};
  const wasDone = !isDeleting && generation !== undefined && observedGeneration === generation;
  const isInDoubt = isUnready && wasDone && codeOfReason(reason) === undefined;
  const statusAt = statusTimeOf(object);
  return {
    ...{ kind: 'found', uid, isSettled, isStalled, isDeleting, isHeld },
    isIdle: isPaused || (!isDeleting && !isSelected),
    isFailing: isUnready && !isInDoubt,
    ...(isInDoubt ? { unreadyFor: reason } : {}),
    statusDigest: createHash('sha256')
      .update(JSON.stringify([observedGeneration, observedRevision, ours]))
      .digest('hex')
      .slice(0, 16),
    ...(statusAt === undefined ? {} : { statusAt }),
  };
}

/** The verdict of an object that was sent when it was as `before` says; letters that come back are another matter. */
export function judgeSend(before: Sight, now: Sight, facts: JudgeFacts): Judgement {
  if (before.kind === 'absent' || (facts.uid !== undefined && before.uid !== facts.uid)) return quietAfterAWhile('nothing-shows', facts);
  if (now.kind === 'absent') return { verdict: 'good', reason: 'gone' };
  if (now.uid !== before.uid) return { verdict: 'good', reason: 'replaced' };
  const isWell = now.isSettled && !now.isStalled && !now.isDeleting;
  // An author may say that what is reconciled is not ready.
  if (isWell && !before.isSettled) return { verdict: 'good', reason: 'settled' };
  const isWritten = isWrittenSince(before, now);
  // Of a word of its author's it is known only by what the object was given up for.
  const isFailing = now.isFailing || (now.unreadyFor !== undefined && before.isStalled && before.unreadyFor === now.unreadyFor);
  if (!facts.isDescribed && isFailing && isWritten) return { verdict: 'bad', reason: 'failing' };
  if (now.isDeleting && !now.isHeld) return { verdict: 'good', reason: 'released' };
  if (isWell && (before.isStalled || isWritten))
    return now.unreadyFor === undefined ? { verdict: 'good', reason: 'settled' } : quietAfterAWhile('not-ready', facts);
  if (now.isIdle) return quietAfterAWhile('idle', facts);
  const showsNothing = facts.isDescribed || (before.isSettled && !before.isStalled);
  if (showsNothing && !now.isDeleting) return quietAfterAWhile('nothing-shows', facts);
  return facts.ageSeconds >= facts.timeoutSeconds ? { verdict: 'bad', reason: 'timeout' } : undefined;
}

function quietAfterAWhile(reason: string, { ageSeconds, timeoutSeconds }: JudgeFacts): Judgement {
  return ageSeconds >= Math.min(QUIET_SECONDS, timeoutSeconds) ? { verdict: 'quiet', reason } : undefined;
}

/** By content too: two writes in one second have one time. */
function isWrittenSince(before: Found, now: Found): boolean {
  return before.statusAt !== now.statusAt || before.statusDigest !== now.statusDigest;
}

function statusTimeOf(object: KubernetesObject | undefined): string | undefined {
  const writes = object?.metadata.managedFields ?? [];
  return writes.find(({ manager, subresource }) => manager === FIELD_MANAGER && subresource === 'status')?.time;
}
