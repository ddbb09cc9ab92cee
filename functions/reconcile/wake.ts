/** How a run finds out about wake-ups: what its object waits for, and what its message came for. The rules are in core/wake-time.ts. */
import type { Reason } from '../../events/envelope.ts';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import type { Branch, Outcome } from '../core/outcome.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { decideWake, isStaleWakeUp, type Wake } from '../core/wake-time.ts';
import type { ObjectRun } from './fold.ts';
import { waitingOf } from './observed.ts';
import type { ObjectContext } from './run-context.ts';

/** What comes beside the message of the deletion: repairs, for as long as it is not done, and children as they go. */
const BESIDE_DELETION: ReadonlySet<Reason> = new Set<Reason>(['sweep', 'resync', 'child-changed', 'metadata-changed']);

/** What asks for the first run after the object was left alone. */
const AFTER_LEFT_ALONE: ReadonlySet<Reason> = new Set<Reason>(['resumed', 'selected']);
/** How far the clock of a run may be behind that of another one, in milliseconds. */
const SKEW_MS = 5_000;

/**
 * What this run stores and sends for the next one, `seconds` from now; undefined where there is to be none. A time that is about to come
 * is not kept after the object was left alone: its wake-up may have come by then, by a clock that is ahead of ours.
 */
export function wakeOf({ run, reconciler, object, now }: ObjectContext, seconds: number | undefined): Wake | undefined {
  const until = reconciler.resource.isDescribed ? undefined : waitingOf(object).until;
  const isOver = until !== undefined && until <= now.getTime() + SKEW_MS && [...run.reasons].some((reason) => AFTER_LEFT_ALONE.has(reason));
  return decideWake({ stored: isOver ? undefined : until, seconds, now, redelivered: mayHaveRun(run) });
}

/**
 * True for a run that only came beside the message of the deletion. Where the object stores no time, it sends for none: each would
 * begin one more chain of wake-ups.
 */
export function isBesideDeletion({ reasons }: ObjectRun): boolean {
  return [...reasons].every((reason) => BESIDE_DELETION.has(reason));
}

/** The outcome of a run that did what it had to and is to be followed by one at `at`, of the object with this metadata. */
export function toBeWoken(at: Date, { uid, resourceVersion, generation }: Partial<ObjectMetadata>): Outcome {
  return { kind: 'requeue-after', notBefore: at, uid, resourceVersion, generation };
}

/**
 * True for a run that nothing but wake-ups asked for, none of which is the one that the object waits for: the chain goes on
 * elsewhere, or has ended. Never for a message that was received before: a run that died with it may have stored another time,
 * and written more than anybody knows. Nor where somebody else has written over the time: it may have been this one.
 */
export function isStaleRequeue(run: ObjectRun, object: KubernetesObject): boolean {
  const isRequeue = [...run.reasons].every((reason) => reason === 'requeue');
  const { until, isForeign } = waitingOf(object);
  return isRequeue && !run.redelivered && isStaleWakeUp(until, run.cameFor) && !isForeign;
}

/** Ends of a run after which the object still waits for its time. */
const LEFT_ALONE: ReadonlySet<Branch> = new Set<Branch>(['paused', 'not-selected']);

interface EndedRun {
  readonly run: Pick<ObjectRun, 'redelivered' | 'data'>;
  readonly report: { readonly outcome: Outcome; readonly context: ObjectContext | undefined };
}

/**
 * The wake-ups that a run has to send for beside whatever becomes of its message, because the object may wait for them and the
 * run that follows would trust that somebody has sent. At most two, and as a rule none:
 * - the one that it was about to store when it failed: the apply may have been done, and its answer lost
 * - where a run of this message died before: the one that is stored, as it read or last found it
 *
 * One that is not ahead needs no message: the run that follows stores another. One that is not stored after all is stale.
 *
 * A run that left its object alone comes to this too: whoever runs it after its pause trusts the stored time.
 */
export function lostWakeUps({ run, report: { outcome, context } }: EndedRun, now: Date): readonly Date[] {
  if (context === undefined || context.reconciler.resource.isDescribed || outcome.kind === 'requeue-after') return [];
  if (outcome.kind === 'finished' && !LEFT_ALONE.has(outcome.branch)) return [];
  const isFound = outcome.kind === 'overtaken' && outcome.uid !== undefined;
  const stored = isFound ? outcome.nextReconcileTime : waitingOf(context.object).until;
  const doubted = isFound ? undefined : context.progress.storing?.getTime();
  const times = new Set([doubted, mayHaveRun(run) ? stored : undefined]);
  return [...times].flatMap((time) => (time !== undefined && time > now.getTime() ? [new Date(time)] : []));
}

/** A message without a position is that of a run which died, sent on by one that could not read its object. */
function mayHaveRun({ redelivered, data }: Pick<ObjectRun, 'redelivered' | 'data'>): boolean {
  return redelivered || data.resourceVersion === undefined;
}
