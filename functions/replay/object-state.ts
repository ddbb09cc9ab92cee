/** An object as it is now, as far as a person or a plan needs it: never its spec, never its data. */

import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import { isSettled } from '../../events/predicate.ts';
import { type Condition, conditionsIn, READY, STALLED } from '../core/conditions.ts';
import { cutText } from '../core/errors.ts';
import { isJsonObject } from '../core/plain-json.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';

export interface ObjectState {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly observedGeneration: number | undefined;
  readonly observedRevision: number | undefined;
  /** Reconciled for this generation by this revision of its reconciler. */
  readonly isSettled: boolean;
  /** Given up for this generation. */
  readonly isStalled: boolean;
  readonly isDeleting: boolean;
  /** Our finalizer is on it. */
  readonly isHeld: boolean;
  readonly isPaused: boolean;
  /** Its reconciler is for it. */
  readonly isSelected: boolean;
  /** Of everybody; messages are cut. */
  readonly conditions: readonly Partial<Condition>[];
}

/** More than anybody reads. */
const CONDITIONS_MAX = 20;

export function stateOf(object: KubernetesObject, reconciler: Reconciler): ObjectState {
  const { uid, resourceVersion, generation, deletionTimestamp, finalizers = [], annotations = {} } = object.metadata;
  const status = isJsonObject(object['status']) ? object['status'] : {};
  const whole = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const observedGeneration = whole(status['observedGeneration']);
  const observedRevision = whole(status['observedRevision']);
  const conditions = conditionsIn(status).slice(0, CONDITIONS_MAX).map(shortCondition);
  const stalled = conditions.find(({ type }) => type === STALLED);
  return {
    ...{ uid, resourceVersion, generation, observedGeneration, observedRevision },
    isSettled:
      !reconciler.resource.isDescribed &&
      isSettled({ generation, observedGeneration, ...given({ observedRevision }) }, reconciler.revision),
    isStalled: stalled?.status === 'True' && stalled.observedGeneration === generation,
    isDeleting: deletionTimestamp !== undefined,
    isHeld: reconciler.finalization !== undefined && finalizers.includes(reconciler.finalization.name),
    isPaused: Object.hasOwn(annotations, PAUSED_ANNOTATION),
    isSelected: reconciler.watch.selects(object),
    conditions,
  };
}

/** Unix milliseconds since when the object is ready; undefined where it is not. */
export function readySinceMs({ conditions }: ObjectState): number | undefined {
  const ready = conditions.find(({ type }) => type === READY);
  const ms = ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function shortCondition(condition: Partial<Condition>): Partial<Condition> {
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? cutText(value) : undefined);
  return given({
    type: text(condition.type),
    status: text(condition.status) as Condition['status'] | undefined,
    reason: text(condition.reason),
    message: text(condition.message),
    lastTransitionTime: text(condition.lastTransitionTime),
    observedGeneration: typeof condition.observedGeneration === 'number' ? condition.observedGeneration : undefined,
  });
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;
}
