/** What the object's own status says of the last confirmed run. Anybody may have written it, so nothing about its shape is taken on trust. */
import { READY } from '../core/conditions.ts';
import { isJsonObject } from '../core/plain-json.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { ownStatusOf } from '../core/status.ts';
import { storedTime } from '../core/wake-time.ts';

export interface Observed {
  readonly observedGeneration: number | undefined;
  /** Absent in the cluster counts as 1. */
  readonly observedRevision: number;
  readonly childrenDigest: string | undefined;
  /** Status of condition Ready; undefined where there is none. */
  readonly ready: string | undefined;
}

/** The facts in `status`, each undefined (revision: 1) where it is absent or of another type. */
export function observedOf(object: KubernetesObject): Observed {
  const { status: read } = object;
  const status = isJsonObject(read) ? read : {};
  const { observedGeneration, observedRevision, childrenDigest } = status;
  return {
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    observedRevision: typeof observedRevision === 'number' ? observedRevision : 1,
    childrenDigest: typeof childrenDigest === 'string' ? childrenDigest : undefined,
    ready: readyOf(status)?.status,
  };
}

/** What an object of ours waits for. */
export interface Waiting {
  /** In Unix milliseconds; undefined for nothing. */
  readonly until: number | undefined;
  /** True where somebody else has written over the time: what it was, and whether there was one, is not known. */
  readonly isForeign: boolean;
}

/** The wake-up that the object waits for: a time that a run of ours has stored, since nobody has sent for any other. */
export function waitingOf(object: KubernetesObject): Waiting {
  const { status } = object;
  const own = ownStatusOf(object)['nextReconcileTime'];
  return { until: storedTime(own), isForeign: own === undefined && isJsonObject(status) && status['nextReconcileTime'] !== undefined };
}

/** Condition Ready of a status body, as far as it has the shape of one. */
export function readyOf(status: unknown): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions)) return undefined;
  const ready = conditions.filter(isJsonObject).find((condition) => condition['type'] === READY);
  if (ready === undefined || typeof ready['status'] !== 'string') return undefined;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { status: ready['status'], reason: text(ready['reason']), message: text(ready['message']) };
}
