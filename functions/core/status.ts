/**
 * The status of an object of ours: which part of it is ours, and what the next apply says.
 *
 * An apply owns what it says and removes what it owned and no longer says, so each body is our whole part: the author's
 * fields, `observedGeneration`, `observedRevision`, `childrenDigest`, `nextReconcileTime`, and the conditions that we write.
 * Conditions of other managers live in the same list and never enter our body. Merging the same result twice gives the same body, which the API server does
 * not store again: no status loop.
 */
import { type Condition, type ConditionStamp, conditionsIn, READY, STALLED, sortConditions, stampCondition } from './conditions.ts';
import { type Failure, RUN_AGAIN } from './outcome.ts';
import { ownedStatus } from './owned-fields.ts';
import { canonicalJson, isJsonObject } from './plain-json.ts';
import type { KubernetesObject, PlannedCondition } from './reconciler.ts';
import { RESERVED_STATUS_FIELDS } from './resource-definition.ts';
import { wholeSeconds } from './wake-time.ts';

/** Our part of a status: read from an object, or ready to be applied. */
export type OwnStatus = Readonly<Record<string, unknown>>;

/**
 * Our part of the object's status, by the API server's own account of who wrote what.
 *
 * Where managedFields do not name us (never written, or wiped), the names that are ours by contract count: the framework's
 * fields and the conditions Ready and Stalled. The author's fields do not: left out of a body they stay as they are.
 */
export function ownStatusOf(object: KubernetesObject): OwnStatus {
  const owned = ownedStatus(object);
  if (owned !== undefined) return owned;
  const status = object['status'];
  if (!isJsonObject(status)) return {};
  const own: Record<string, unknown> = {};
  for (const name of RESERVED_STATUS_FIELDS) {
    if (name !== 'conditions' && status[name] !== undefined) own[name] = status[name];
  }
  const conditions = conditionsIn(status).filter(({ type }) => type === READY || type === STALLED);
  return conditions.length === 0 ? own : { ...own, conditions };
}

/** True if two readings of our part say the same: all that moved in between are fields of others. */
export function isSameOwnStatus(before: OwnStatus, after: OwnStatus): boolean {
  return canonicalJson(before) === canonicalJson(after);
}

export interface StatusUpdate extends ConditionStamp {
  /** Our part as it was read: {@link ownStatusOf}. Only its transition times are used. */
  readonly previous: unknown;
  /** The author's fields, as {@link checkPlan} let them pass. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly conditions: readonly PlannedCondition[];
  readonly revision: number;
  /** Of the children of the Plan. */
  readonly digest: string;
  /** When the object is to be run again; undefined: when something happens to it. */
  readonly nextReconcileTime?: Date | undefined;
}

/**
 * Our whole part after a run that succeeded. Ready is True with reason Reconciled unless the author says otherwise; Stalled goes,
 * and so does every condition of ours that the author no longer names.
 */
export function mergeStatus(update: StatusUpdate): OwnStatus {
  const before = conditionsIn(isJsonObject(update.previous) ? update.previous : {});
  const isReadyPlanned = update.conditions.some(({ type }) => type === READY);
  const planned = isReadyPlanned ? update.conditions : [...update.conditions, RECONCILED];
  return {
    ...update.status,
    observedGeneration: update.generation,
    observedRevision: update.revision,
    childrenDigest: update.digest,
    ...(update.nextReconcileTime === undefined ? {} : { nextReconcileTime: wholeSeconds(update.nextReconcileTime) }),
    conditions: sortConditions(planned.map((condition) => stampCondition(condition, before, update))),
  };
}

const RECONCILED: PlannedCondition = {
  type: READY,
  status: 'True',
  reason: 'Reconciled',
  message: 'Everything that the spec asks for has been applied',
};

/** Our part as it was read, with the time of the next run in the place of any other: what a run says that did not reconcile. */
export function withNextReconcileTime(previous: OwnStatus, at: Date): OwnStatus {
  return { ...previous, nextReconcileTime: wholeSeconds(at) };
}

export interface StatusFailure extends ConditionStamp {
  /** Our part as it was read: {@link ownStatusOf}. It is repeated, since an apply without it would remove it. */
  readonly previous: unknown;
  readonly failure: Pick<Failure, 'code' | 'message'>;
  /** True once the message is a dead letter. */
  readonly stalled?: boolean;
}

/**
 * Our whole part after a run that failed: what the last success wrote, with Ready=False for the generation that was tried.
 * `observedGeneration` on top stays, so the object still counts as unsettled. Stalled is there only while a dead letter is the
 * last word: a new failure of a message that is still being tried takes it off.
 */
export function failureStatus(update: StatusFailure): OwnStatus {
  const previous = isJsonObject(update.previous) ? update.previous : {};
  const before = conditionsIn(previous);
  const reason = reasonOf(update.failure.code);
  const { message } = update.failure;
  const written: PlannedCondition[] = [{ type: READY, status: 'False', reason, message }];
  if (update.stalled === true) {
    written.push({
      type: STALLED,
      status: 'True',
      reason: 'DeadLettered',
      message: `Given up after ${reason}: mend its cause, ${RUN_AGAIN}`,
    });
  }
  const others: readonly Partial<Condition>[] = before.filter(({ type }) => type !== READY && type !== STALLED);
  const stamped = written.map((condition) => stampCondition(condition, before, update));
  return { ...previous, conditions: sortConditions([...others, ...stamped]) };
}

/** An error's code as the reason of a condition: `invalid-plan` is InvalidPlan. A code with nothing to show is Failed. */
export function reasonOf(code: string): string {
  const words = code.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const reason = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(reason) ? reason.slice(0, 256) : `Failed${reason.slice(0, 250)}`;
}
