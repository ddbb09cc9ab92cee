/**
 * Conditions of a status, in the form of metav1.Condition. Their times and generations are the framework's, so that they are
 * right once: `lastTransitionTime` moves only when `status` changes.
 */
import { isJsonObject } from './plain-json.ts';
import type { PlannedCondition } from './reconciler.ts';

/** A condition as it stands in a status. `observedGeneration` is the generation that it speaks about. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** ISO 8601 in UTC, whole seconds. */
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** Written by the framework while an object waits in the dead-letter queue; no Plan may say it (kstatus knows the word). */
export const STALLED = 'Stalled';
export const READY = 'Ready';

export const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const;

// Patterns and lengths of metav1.Condition (k8s.io/apimachinery 0.36, pkg/apis/meta/v1/types.go).
const TYPE = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const TYPE_MAX = 316;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_MAX = 1024;
const MESSAGE_MAX = 32_768;

/** What is wrong with an author's condition, as `field` and `problem`; undefined for one that may be written. */
export function conditionProblem(condition: unknown): { readonly field: string; readonly problem: string } | undefined {
  if (!isJsonObject(condition)) return { field: '', problem: 'is not an object' };
  const { type, status, reason, message, ...others } = condition;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { field: unknown, problem: 'is not a field of a planned condition' };
  if (typeof type !== 'string' || type.length > TYPE_MAX || !TYPE.test(type)) {
    return { field: 'type', problem: `is not a condition type (CamelCase, or domain/CamelCase, at most ${TYPE_MAX} characters)` };
  }
  if (type === STALLED) return { field: 'type', problem: 'is Stalled, which only the framework writes' };
  if (!CONDITION_STATUSES.some((known) => known === status)) return { field: 'status', problem: 'is not True, False or Unknown' };
  if (typeof reason !== 'string' || reason.length > REASON_MAX || !REASON.test(reason)) {
    return { field: 'reason', problem: `is not a CamelCase word of at most ${REASON_MAX} characters` };
  }
  if (message !== undefined && (typeof message !== 'string' || message.length > MESSAGE_MAX)) {
    return { field: 'message', problem: `is not a text of at most ${MESSAGE_MAX} characters` };
  }
  return undefined;
}

/** The conditions in a status that has any, or none; items that are no objects with a type are left out. */
export function conditionsIn(status: Readonly<Record<string, unknown>>): readonly Partial<Condition>[] {
  const conditions = status['conditions'];
  return Array.isArray(conditions) ? conditions.filter((item) => isJsonObject(item) && typeof item['type'] === 'string') : [];
}

/** When and for which generation a condition is written. */
export interface ConditionStamp {
  readonly generation: number;
  readonly now: Date;
}

/** The condition as it is written: `previous` gives its time, unless its status was another one. */
export function stampCondition(planned: PlannedCondition, previous: readonly Partial<Condition>[], stamp: ConditionStamp): Condition {
  const before = previous.find((condition) => condition.type === planned.type);
  const isKept = before?.status === planned.status && typeof before.lastTransitionTime === 'string';
  return {
    type: planned.type,
    status: planned.status,
    reason: planned.reason,
    message: planned.message ?? '',
    lastTransitionTime: isKept ? (before.lastTransitionTime as string) : wholeSeconds(stamp.now),
    observedGeneration: stamp.generation,
  };
}

/** By type, so that the order in which a Plan names them, or the server keeps them, changes nothing. */
export function sortConditions<T extends { readonly type?: string }>(conditions: readonly T[]): T[] {
  return conditions.toSorted((a, b) => ((a.type ?? '') < (b.type ?? '') ? -1 : 1));
}

/** metav1.Time has whole seconds; anything finer would be cut by typed clients and then differ from what we wrote. */
function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
