/** An object as the API server has it, as facts to judge by. */
import { observeRow } from '../../../events/columns.ts';
import { FINALIZER_MANAGER } from '../../../events/labels.ts';
import type { ObjectMetadata } from '../../../events/observed-object.ts';
import { judge } from '../../../events/predicate.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '../../../events/selector.ts';
import { READY, STALLED } from '../../core/conditions.ts';
import { TerminalError } from '../../core/errors.ts';
import type { ObjectFacts } from '../../core/explain/facts.ts';
import { hasAtomicConditions } from '../../core/owned-fields.ts';
import { isJsonObject, objectAt } from '../../core/plain-json.ts';
import type { KubernetesObject, Reconciler } from '../../core/reconciler.ts';
import { waitingOf } from '../../reconcile/observed.ts';
import { isDoneUnobserved } from '../../reconcile/status-fields.ts';
import { stateOf } from '../../replay/object-state.ts';

/** What of it counts, by its reconciler. */
export function objectFactsOf(object: KubernetesObject, reconciler: Reconciler): ObjectFacts {
  const { uid, generation, observedGeneration, observedRevision, isSettled, isPaused, isHeld, conditions } = stateOf(object, reconciler);
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const { isDescribed } = reconciler.resource;
  const otherFinalizers = finalizers.filter((name) => name !== reconciler.finalization?.name);
  const former = formerFinalizers(object.metadata);
  return {
    ...{ uid, generation, observedGeneration, observedRevision, isSettled, isPaused, isHeld, conditions },
    deletingSinceMs: msOf(deletionTimestamp),
    otherFinalizers,
    formerFinalizers: otherFinalizers.filter((name) => former.includes(name)),
    outside: outsideOf(object, reconciler),
    atStart: atStartOf(object, reconciler),
    nextMs: isDescribed ? undefined : waitingOf(object).until,
    changedMs: changedMsOf(object.metadata),
    statusFault: isDescribed ? undefined : statusFaultOf(object),
  };
}

function msOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** By the API server's own account of who put what there. */
function formerFinalizers({ managedFields = [] }: ObjectMetadata): string[] {
  return managedFields
    .filter(({ manager }) => manager === FINALIZER_MANAGER)
    .flatMap(({ fieldsV1 }) => Object.keys(objectAt(fieldsV1, 'f:metadata', 'f:finalizers')))
    .flatMap((key) => (key.startsWith('v:"') ? [key.slice(3, -1)] : []));
}

/** The last write of whoever owns anything of the spec. It may have changed something else: the spec is as old or older. */
function changedMsOf({ managedFields = [], creationTimestamp }: ObjectMetadata): number | undefined {
  const ofSpec = managedFields.filter(({ subresource, fieldsV1 }) => subresource === undefined && isJsonObject(fieldsV1?.['f:spec']));
  const times = [creationTimestamp, ...ofSpec.map(({ time }) => time)].flatMap((text) => msOf(text) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function outsideOf(object: KubernetesObject, { watch }: Reconciler): string | undefined {
  const { metadata } = object;
  const { labelSelector, fieldSelector, filter } = watch;
  const labels = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector);
  if (labels?.kind === 'parsed' && !matchesLabels(labels.requirements, metadata.labels))
    return `its labels do not meet the selector of its reconciler, ${labelSelector}`;
  const fields = fieldSelector === undefined ? undefined : parseFieldSelector(fieldSelector);
  if (fields?.kind === 'parsed' && !matchesFields(fields.requirements, object))
    return `it does not meet the field selector of its reconciler, ${fieldSelector}`;
  if (filter !== undefined && !filter.admits(metadata)) return 'the predicate of its reconciler does not admit its labels and annotations';
  return undefined;
}

function atStartOf(object: KubernetesObject, { watch, resource, revision, finalization }: Reconciler): ObjectFacts['atStart'] {
  const { metadata, status: stored } = object;
  const status = isJsonObject(stored) ? stored : {};
  const whole = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : [];
  const of = (wanted: string): number | undefined => whole(conditions.find(({ type }) => type === wanted)?.['observedGeneration']);
  const cells = {
    observedGeneration: whole(status['observedGeneration']),
    attemptedGeneration: of(READY),
    observedRevision: whole(status['observedRevision']) ?? 1,
    stalledGeneration: of(STALLED),
    nextReconcileTime: undefined,
    ready: undefined,
  };
  const isFiltered = watch.filter !== undefined && !watch.filter.admits(metadata);
  const seen = { ...observeRow({ cells: [], metadata }, undefined), isFiltered, status: resource.isDescribed ? undefined : cells };
  const verdict = judge(undefined, seen, 'first-list', { revision, finalizer: finalization?.name, isDescribed: resource.isDescribed });
  return verdict.kind === 'pass' ? 'sent' : verdict.reason;
}

function statusFaultOf(object: KubernetesObject): string | undefined {
  if (hasAtomicConditions(object)) return 'status.conditions is one value in its CRD, and no list by type';
  try {
    return isDoneUnobserved(object) ? DROPPED : undefined;
  } catch (error) {
    if (error instanceof TerminalError) return DROPPED;
    throw error;
  }
}

const DROPPED = 'a run did its work, and the cluster dropped the status.observedGeneration that says so';
