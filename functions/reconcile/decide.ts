/** Step 2 of a run: is there anything to do? */
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import { isSettled } from '../../events/predicate.ts';
import type { Branch } from '../core/outcome.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import type { ObjectRun } from './fold.ts';
import { observedOf } from './observed.ts';

/**
 * The branch that ends the run here, or undefined where the object is to be reconciled. A kind without finalizer has
 * nothing to do for an object that is being deleted: its children go with their owner.
 */
export function endsHere(run: ObjectRun, object: KubernetesObject | undefined, revision: number): Branch | undefined {
  if (object === undefined) return 'gone';
  const { generation, annotations, deletionTimestamp } = object.metadata;
  if (annotations !== undefined && Object.hasOwn(annotations, PAUSED_ANNOTATION)) return 'paused';
  if (deletionTimestamp !== undefined) return 'deleting';
  if (run.data.mustRun) return undefined;
  if (isRetry(run) && generation !== undefined && (run.data.generation ?? generation) < generation) return 'retry-superseded';
  const { observedGeneration, observedRevision } = observedOf(object);
  return isSettled({ generation, observedGeneration, observedRevision }, revision) ? 'settled' : undefined;
}

/** True where no record but retries asked for this run: the budget of a newer generation belongs to that one's own message. */
function isRetry(run: ObjectRun): boolean {
  return [...run.reasons].every((reason) => reason === 'retry');
}
