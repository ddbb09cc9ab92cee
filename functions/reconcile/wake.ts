/** How a run finds out about wake-ups: what its object waits for, and what its message came for. The rules are in core/wake-time.ts. */
import type { ObjectMetadata } from '../../events/observed-object.ts';
import type { Outcome } from '../core/outcome.ts';
import { decideWake, isStaleWakeUp, type Wake } from '../core/wake-time.ts';
import type { ObjectRun } from './fold.ts';
import { observedOf } from './observed.ts';
import type { ObjectContext } from './run-context.ts';

/**
 * What this run stores and sends for the next one, `seconds` from now; undefined where there is to be none. A kind that is not
 * ours stores nothing, so that each run sends for itself.
 */
export function wakeOf({ run, reconciler, object, now }: ObjectContext, seconds: number | undefined): Wake | undefined {
  const stored = reconciler.resource.isDescribed ? undefined : observedOf(object).nextReconcileTime;
  return decideWake({ stored, seconds, now, redelivered: run.redelivered });
}

/** The outcome of a run that did what it had to and is to be followed by one at `at`, of the object with this metadata. */
export function toBeWoken(at: Date, { uid, resourceVersion, generation }: Partial<ObjectMetadata>): Outcome {
  return { kind: 'requeue-after', notBefore: at, uid, resourceVersion, generation };
}

/**
 * True for a run that nothing but wake-ups asked for, none of which is the one that the object waits for: the chain goes on
 * elsewhere, or has ended. Never for a message that was received before: a run that died with it may have stored another time,
 * and written more than anybody knows.
 */
export function isStaleRequeue(run: ObjectRun, nextReconcileTime: number | undefined): boolean {
  const isRequeue = [...run.reasons].every((reason) => reason === 'requeue');
  return isRequeue && !run.redelivered && isStaleWakeUp(nextReconcileTime, run.cameFor);
}

interface EndedRun {
  readonly run: Pick<ObjectRun, 'redelivered'>;
  readonly report: { readonly outcome: Outcome; readonly context: ObjectContext | undefined };
}

/**
 * The wake-up that a run has to send for beside whatever becomes of its message: its message was received before, and it did not
 * come to the point of sending itself, but the object waits for a time that is ahead. A run that died may have stored it and not
 * sent for it, and the runs that follow are new ones, which would trust it.
 */
export function lostWakeUp({ run, report }: EndedRun, now: Date): Date | undefined {
  const { outcome, context } = report;
  if (!run.redelivered || context === undefined || context.reconciler.resource.isDescribed || outcome.kind === 'requeue-after')
    return undefined;
  const stored =
    outcome.kind === 'overtaken' && outcome.uid !== undefined ? outcome.nextReconcileTime : observedOf(context.object).nextReconcileTime;
  return stored !== undefined && stored > now.getTime() ? new Date(stored) : undefined;
}
