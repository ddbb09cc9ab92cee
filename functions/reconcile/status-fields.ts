/**
 * A CRD that does not have the fields which the framework writes into status. An API server that drops `observedGeneration` would leave
 * every object unsettled for ever, and every message would have the work done again.
 */
import { conditionsIn, READY } from '../core/conditions.ts';
import { TerminalError } from '../core/errors.ts';
import { RUN_AGAIN } from '../core/outcome.ts';
import { ownedStatus } from '../core/owned-fields.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { reasonOf } from '../core/status.ts';
import { observedOf } from './observed.ts';

const CODE = 'status-field-missing';

function statusFieldMissing(): TerminalError {
  return new TerminalError(
    CODE,
    `the CustomResourceDefinition does not have status.observedGeneration or another field of ours: install what "dogwatch crds" prints, ${RUN_AGAIN}`,
  );
}

/** The error of a confirm, in words that say what to do where the API server refused a field of ours. */
export function asStatusFieldMissing(error: unknown): unknown {
  const isFinal = error instanceof TerminalError && error.code === 'final-server-error';
  return isFinal && String(error.facts['serverMessage']).includes('field not declared in schema') ? statusFieldMissing() : error;
}

/**
 * True where a run of ours did everything for this generation, but the field that says so is not kept, and that was reported.
 *
 * @throws TerminalError `status-field-missing` where it was not
 */
export function isDoneUnobserved(object: KubernetesObject): boolean {
  if (observedOf(object).observedGeneration !== undefined) return false;
  // By the account of the API server alone: a condition of somebody else says nothing of our work.
  const ready = conditionsIn(ownedStatus(object) ?? {}).find(({ type }) => type === READY);
  if (ready === undefined || ready.observedGeneration !== object.metadata.generation) return false;
  if (ready.status === 'True') throw statusFieldMissing();
  return ready.reason === reasonOf(CODE);
}
