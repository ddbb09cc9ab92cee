/** Facts of an object with which all is well, to be changed one at a time. */
import type { Condition } from '../../../../functions/core/conditions.ts';
import { describeResource } from '../../../../functions/core/described-resource.ts';
import type { CellView, FoundFacts, LetterFacts, ObjectFacts, Place, WatcherView } from '../../../../functions/core/explain/facts.ts';
import { notAsked } from '../../../../functions/core/explain/facts.ts';
import { defineReconciler } from '../../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { answered, cluster, told } from '../doctor/healthy.ts';

/** All times are told from here. */
export const NOW_MS = Date.UTC(2026, 2, 1, 12);
export const MINUTE_MS = 60_000;
export const agoMs = (minutes: number): number => NOW_MS - minutes * MINUTE_MS;
const instant = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

export const LIMITS = { healAfterSeconds: 600, silenceSeconds: 315 };

export const TENANT: Place = { cluster: 'east', type: tenant.resource, words: 'tenant/acme', namespace: undefined, name: 'acme' };
export const CLAIM: Place = { cluster: 'east', type: queueClaim.resource, words: 'queueclaim/jobs', namespace: 'team', name: 'jobs' };

/** A kind that is not ours, without a finalizer. */
const configMap = describeResource({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' });
export const described = defineReconciler({ resource: configMap, reconcile: async () => ({}) });

export function ready(over: Partial<Condition> = {}): Condition {
  return {
    ...{ type: 'Ready', status: 'True', reason: 'Reconciled', message: 'all is there' },
    ...{ lastTransitionTime: instant(agoMs(30)), observedGeneration: 3 },
    ...over,
  };
}

/** Ready=False for the generation that the object has, since so many minutes. */
export function notReady(reason: string, message = 'it said no', minutes = 30): Condition {
  return ready({ status: 'False', reason, message, lastTransitionTime: instant(agoMs(minutes)) });
}

export const STALLED: Condition = ready({ type: 'Stalled', reason: 'DeadLettered', message: 'given up' });

/** Settled and ready; generation 3. */
export function object(over: Partial<ObjectFacts> = {}): ObjectFacts {
  return {
    ...{ uid: 'u-1', generation: 3, observedGeneration: 3, observedRevision: 1, isSettled: true, isPaused: false, isHeld: false },
    ...{ conditions: [ready()], deletingSinceMs: undefined, otherFinalizers: [], formerFinalizers: [], outside: undefined },
    ...{ atStart: 'settled', nextMs: undefined, changedMs: agoMs(60), statusFault: undefined },
    ...over,
  };
}

/** Changed so many minutes ago, and nothing was heard of a run for that. */
export function unsettled(minutes: number | undefined, over: Partial<ObjectFacts> = {}): ObjectFacts {
  const changedMs = minutes === undefined ? undefined : agoMs(minutes);
  return object({
    observedGeneration: 2,
    isSettled: false,
    atStart: 'sent',
    conditions: [ready({ observedGeneration: 2 })],
    changedMs,
    ...over,
  });
}

export function letter(over: Partial<LetterFacts> = {}): LetterFacts {
  return {
    ...{ messageId: 'm-1', code: 'author-error', message: 'no quota', deadLetteredMs: agoMs(20), generation: 3 },
    ...{ needsRun: true, because: 'not reconciled for its generation' },
    ...over,
  };
}

export function cell(over: Partial<CellView> = {}): CellView {
  return {
    ...{ isStreaming: true, phase: 'streaming', error: undefined, lastEventAgeSeconds: 40 },
    ...{ knownCount: 12, unsettledCount: 1, oldestUnsettledSeconds: 1300, outboxCount: 0, refusedCount: 0 },
    ...over,
  };
}

/** A watcher that follows the kind, or the cluster without it, or something else. */
export function watching(over: Partial<CellView> | 'other-kinds' | 'other-clusters' = {}): FoundFacts['watcher'] {
  const view: WatcherView =
    typeof over === 'string' ? { hasCluster: over === 'other-kinds', cell: undefined } : { hasCluster: true, cell: cell(over) };
  return told(view);
}

/** All of a tenant; its cluster, its letters and its watcher have nothing to tell. */
export function found(over: Partial<FoundFacts> = {}): FoundFacts {
  return {
    ...{ kind: 'found', place: TENANT, nowMs: NOW_MS, limits: LIMITS, reconciler: tenant as unknown as FoundFacts['reconciler'] },
    ...{ object: object(), letters: told([]), cluster: cluster(), isNamespaceEnding: undefined },
    ...{ watcher: notAsked('nobody named it'), notes: [] },
    ...over,
  };
}

/** The same of a claim, a kind with a finalizer of ours, which it carries. */
export function claim(over: Partial<FoundFacts> = {}): FoundFacts {
  const reconciler = queueClaim as unknown as FoundFacts['reconciler'];
  return found({ place: CLAIM, reconciler, isNamespaceEnding: told(false), object: object({ isHeld: true }), ...over });
}

/** A claim that is being deleted for so many minutes; what its last run told was of the generation before. */
export function deletedClaim(minutes: number, over: Partial<ObjectFacts> = {}, facts: Partial<FoundFacts> = {}): FoundFacts {
  const one = unsettled(90, { isHeld: true, deletingSinceMs: agoMs(minutes), ...over });
  return claim({ object: one, ...facts });
}

/** A cluster where this identity may not do one thing that the function does. */
export function withoutStatusRight(): FoundFacts['cluster'] {
  const isAllowed = ({ resource }: { readonly resource: string }) => told(resource !== 'tenants/status');
  return cluster({ user: told('oncall'), rights: { watcher: answered('watcher'), reconcile: answered('reconcile', isAllowed) } });
}
