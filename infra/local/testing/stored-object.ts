/** Objects as a cluster has them, and what tests most often ask of them. */
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object as stored; what the API server has checked is not checked again, so fields have no types. */
export interface StoredObject extends KubernetesObject {
  readonly spec?: Fields;
  readonly status?: Fields;
  /** Of a ConfigMap or Secret. */
  readonly data?: Readonly<Record<string, string>>;
}

/** A condition in a status. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

/** The condition of that type, such as `Ready` or `Stalled`; undefined where there is none. */
export function conditionOf(object: StoredObject | undefined, type: string): Condition | undefined {
  const conditions = object?.status?.['conditions'];
  return Array.isArray(conditions) ? (conditions as readonly Condition[]).find((condition) => condition.type === type) : undefined;
}
