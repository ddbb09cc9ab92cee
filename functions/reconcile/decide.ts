/** Step 2 of a run: is there anything to do? */
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import { isSettled } from '../../events/predicate.ts';
import type { Branch } from '../core/outcome.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import type { ObjectRun } from './fold.ts';
import { observedOf } from './observed.ts';
import { isDoneUnobserved } from './status-fields.ts';
import { isStaleRequeue } from './wake.ts';

/**
 * The branch that ends the run here, or undefined where the object is to be reconciled. A kind without finalizer has
 * nothing to do for an object that is being deleted: its children go with their owner. One outside the selection keeps them as
 * they are: to the watcher it looked deleted, or its message was sent before it left.
 *
 * @throws TerminalError `status-field-missing`
 */
export function endsHere(run: ObjectRun, object: KubernetesObject | undefined, reconciler: Reconciler): Branch | undefined {
  if (object === undefined) return 'gone';
  const { generation, deletionTimestamp } = object.metadata;
  if (isPaused(object)) return 'paused';
  if (deletionTimestamp !== undefined) return 'deleting';
  if (!reconciler.watch.selects(object)) return 'not-selected';
  if (!reconciler.resource.isDescribed && isStaleRequeue(run, object)) return 'requeue-stale';
  if (run.data.mustRun) return undefined;
  if (isRetry(run) && generation !== undefined && (run.data.generation ?? generation) < generation) return 'retry-superseded';
  // Whoever wrote this status did not speak of our work.
  if (reconciler.resource.isDescribed) return undefined;
  const { observedGeneration, observedRevision } = observedOf(object);
  const isDone = isSettled({ generation, observedGeneration, observedRevision }, reconciler.revision) || isDoneUnobserved(object);
  return isDone ? 'settled' : undefined;
}

/** True where somebody asks that the object be left alone. */
export function isPaused({ metadata: { annotations } }: Pick<KubernetesObject, 'metadata'>): boolean {
  return annotations !== undefined && Object.hasOwn(annotations, PAUSED_ANNOTATION);
}

/** True where no record but retries asked for this run: the budget of a newer generation belongs to that one's own message. */
function isRetry(run: ObjectRun): boolean {
  return [...run.reasons].every((reason) => reason === 'retry');
}
