/**
 * A Plan as it comes from an author's code, checked before anything is written: after {@link checkPlan} nothing in it can be refused
 * for its form, and no half of it has been applied when a fault is found.
 *
 * A Plan is refused whole. What is wrong is an author's error (`invalid-plan`): it is tried again, since a Plan may rest on
 * something that was read, and ends as a dead letter.
 */
import { createHash } from 'node:crypto';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../events/labels.ts';
import type { ObjectMetadata, OwnerReference } from '../../events/observed-object.ts';
import {
  apiVersionOf,
  formatResourceKey,
  groupKind,
  type ObjectAddress,
  type ResourceKey,
  type ResourceType,
} from '../../events/resource.ts';
import { conditionProblem } from './conditions.ts';
import { type ErrorFacts, TerminalError } from './errors.ts';
import { isJsonObject, toPlainJson } from './plain-json.ts';
import { type CheckedObject, checkPlannedObject } from './planned-object.ts';
import type { PlannedCondition, PlannedObject, Reconciler } from './reconciler.ts';
import { describeIssues, type ResourceDefinition } from './resource-definition.ts';
import { REQUEUE_MAX_SECONDS } from './wake-time.ts';

/** Whose Plan it is: the object as it was read. */
export interface PlanOwner {
  readonly key: ResourceKey;
  readonly metadata: Pick<ObjectMetadata, 'uid'>;
}

/** A child ready to be applied: planned fields plus owner reference, owner label and owner annotation. */
interface PlannedChild {
  readonly type: ResourceType;
  readonly body: PlannedObject & {
    readonly metadata: PlannedObject['metadata'] & { readonly ownerReferences: readonly OwnerReference[] };
  };
}

export interface CheckedPlan {
  /** In the order to apply: cluster-scoped children first, else as planned. */
  readonly children: readonly PlannedChild[];
  /** The same in groups: within one, order does not matter; a Namespace exists before what lives in it. No group is empty. */
  readonly waves: readonly (readonly PlannedChild[])[];
  /** The author's fields of status, validated; plain JSON. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly conditions: readonly PlannedCondition[];
  /** 32 hex digits over the set of children (kinds, namespaces, names): equal sets, equal digests. Versions and bodies do not count. */
  readonly digest: string;
  /** In how many seconds to run again: 1 to {@link REQUEUE_MAX_SECONDS}. */
  readonly requeueAfterSeconds: number | undefined;
  /** Objects without a controller may be taken over. */
  readonly adopt: boolean;
}

/**
 * The error of a Plan that cannot be carried out, for the framework and for authors: throw it in `reconcile` when the spec asks for
 * what cannot be. The message becomes the message of condition Ready: say what is wrong and what to change.
 */
export function invalidPlan(message: string, facts: ErrorFacts = {}): TerminalError {
  return new TerminalError('invalid-plan', message, { facts });
}

const PLAN_FIELDS = ['apply', 'status', 'conditions', 'requeueAfterSeconds', 'adopt'];
const DESCRIBED_PLAN_FIELDS = ['apply', 'adopt'];

/**
 * The Plan ready to be carried out. `plan` is whatever an author's code returned; it is copied, never kept.
 *
 * @throws TerminalError `invalid-plan`, naming the child and the field
 */
export function checkPlan(reconciler: Reconciler, owner: PlanOwner, plan: unknown): CheckedPlan {
  const { resource } = reconciler;
  if (!isJsonObject(plan)) {
    const what = resource.isDescribed ? 'with apply' : 'with status (and apply, conditions, requeueAfterSeconds, adopt)';
    throw invalidPlan(`reconcile returned no Plan; return an object ${what}`);
  }
  const known = resource.isDescribed ? DESCRIBED_PLAN_FIELDS : PLAN_FIELDS;
  const unknown = Object.keys(plan).find((field) => !known.includes(field));
  if (unknown !== undefined) throw invalidPlan(`The Plan has an unknown field ${unknown}; known are ${known.join(', ')}`);
  const children = checkChildren(reconciler, owner, plan['apply']);
  const waves = [
    children.filter(({ type }) => type.scope === 'Cluster'),
    children.filter(({ type }) => type.scope === 'Namespaced'),
  ].filter((wave) => wave.length > 0);
  return {
    children: waves.flat(),
    waves,
    status: resource.isDescribed ? {} : checkStatus(resource, plan['status']),
    conditions: checkConditions(plan['conditions']),
    digest: digestOf(children),
    requeueAfterSeconds: checkRequeue(plan['requeueAfterSeconds']),
    adopt: checkAdopt(plan['adopt']),
  };
}

/** True for a wait that a message can carry out. */
export function isRequeueSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= REQUEUE_MAX_SECONDS;
}

function checkRequeue(seconds: unknown): number | undefined {
  if (seconds === undefined || isRequeueSeconds(seconds)) return seconds;
  throw invalidPlan(`The Plan's requeueAfterSeconds is not a number from 1 to ${REQUEUE_MAX_SECONDS}`);
}

function checkAdopt(adopt: unknown): boolean {
  if (adopt === undefined || typeof adopt === 'boolean') return adopt ?? false;
  throw invalidPlan("The Plan's adopt is not true or false");
}

function checkStatus(resource: ResourceDefinition, status: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(status)) throw invalidPlan('The Plan has no status; return an object, {} if there is nothing to say');
  const shape = (resource.status as { readonly shape?: object }).shape;
  const unknown = Object.keys(status).find((field) => shape !== undefined && !Object.hasOwn(shape, field));
  if (unknown !== undefined) throw invalidPlan(`The Plan's status has a field ${unknown} that its schema does not have`);
  const parsed = resource.status.safeParse(status);
  if (!parsed.success) throw invalidPlan(`The Plan's status does not fit its schema. ${describeIssues(parsed.error, 'status')}`);
  const json = toPlainJson(parsed.data, 'status');
  if (json.kind === 'refused') throw invalidPlan(`The Plan's status is not plain JSON: ${json.path} is ${json.found}`);
  return json.value as Readonly<Record<string, unknown>>;
}

function checkConditions(conditions: unknown): readonly PlannedCondition[] {
  if (conditions === undefined) return [];
  if (!Array.isArray(conditions)) throw invalidPlan("The Plan's conditions are not a list");
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const fault = conditionProblem(condition);
    if (fault !== undefined) throw invalidPlan(`The Plan's conditions[${at}]${fault.field && `.${fault.field}`} ${fault.problem}`);
    const { type } = condition as PlannedCondition;
    if (seen.has(type)) throw invalidPlan(`The Plan has condition ${type} twice`);
    seen.add(type);
  }
  return conditions.map(({ type, status, reason, message }: PlannedCondition) => ({
    type,
    status,
    reason,
    ...(message === undefined ? {} : { message }),
  }));
}

function checkChildren(reconciler: Reconciler, owner: PlanOwner, apply: unknown): readonly PlannedChild[] {
  if (apply === undefined) return [];
  if (!Array.isArray(apply)) throw invalidPlan('The Plan has an apply that is not a list');
  const seen = new Set<string>();
  return apply.map((planned: unknown, at) => {
    const checked = checkPlannedObject(planned, reconciler.owns);
    if (checked.kind === 'refused') throw refusal(checked.name ?? `apply[${at}]`, checked.field, checked.problem);
    checkPlace(owner, checked);
    const key = childKey(checked.type, checked.body.metadata);
    if (seen.has(key)) throw refusal(checked.name, 'metadata.name', 'is planned twice');
    seen.add(key);
    return ownedChild(reconciler, owner, checked);
  });
}

function refusal(child: string, field: string, problem: string): TerminalError {
  return invalidPlan(`The Plan cannot be applied: ${child}: ${field} ${problem}`, { child, field });
}

/** The owner must be another object, and one that the garbage collector looks for where it is: beside the child, or above namespaces. */
function checkPlace({ key }: PlanOwner, { type, body, name }: CheckedObject): void {
  const { namespace } = body.metadata;
  if (groupKind(type) === groupKind(key) && namespace === key.namespace && body.metadata.name === key.name) {
    throw refusal(name, 'metadata.name', 'is the object that the Plan is for');
  }
  if (key.namespace === undefined || namespace === key.namespace) return;
  throw namespace === undefined
    ? refusal(name, 'kind', 'is cluster-scoped, and a namespaced owner cannot own it: it would never be collected')
    : refusal(name, 'metadata.namespace', "is not the owner's namespace: the garbage collector would delete the child at once");
}

function ownedChild({ resource }: Reconciler, { key, metadata }: PlanOwner, { type, body }: CheckedObject): PlannedChild {
  const reference: OwnerReference = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name: key.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const { labels, annotations } = body.metadata;
  return {
    type,
    body: {
      ...body,
      metadata: {
        ...body.metadata,
        labels: { ...labels, [OWNER_LABEL]: metadata.uid },
        annotations: { ...annotations, [OWNER_REF_ANNOTATION]: formatResourceKey(key) },
        ownerReferences: [reference],
      },
    },
  };
}

/** One text for each child that can be: group and kind, namespace and name, but not the version. */
export function childKey(type: ResourceType, { namespace, name }: ObjectAddress): string {
  return `${groupKind(type)}/${namespace ?? ''}/${name}`;
}

function digestOf(children: readonly PlannedChild[]): string {
  const keys = children.map(({ type, body }) => childKey(type, body.metadata)).sort();
  return createHash('sha256').update(keys.join('\n')).digest('hex').slice(0, 32);
}

/**
 * Whose an existing object is that has the name of a planned child.
 * - `ours`: carries this owner's label or reference; apply over it
 * - `predecessor`: on its way out, or made for an object that had this key before (another uid) and still referring to it, so that
 *   the garbage collector will take it: wait until it is gone
 * - `unowned`: made by somebody else, and no controller's: taken over where the Plan says adopt
 * - `foreign`: anybody else's; never taken over
 */
export type ChildClass = 'ours' | 'predecessor' | 'unowned' | 'foreign';

/** The owner as children name it. */
export interface ChildOwner {
  readonly key: ResourceKey;
  readonly uid: string;
}

/** Who owns the object with this metadata. A reference to the owner is as good as the label, which anybody may have taken off. */
export function classifyChild(metadata: ObjectMetadata, owner: ChildOwner): ChildClass {
  if (metadata.deletionTimestamp !== undefined) return 'predecessor';
  if (metadata.labels?.[OWNER_LABEL] === owner.uid || hasReference(metadata, owner.uid)) return 'ours';
  // Without a reference nothing will ever collect it: it was orphaned on purpose, and waiting for its end would be for ever.
  const isCollected = (metadata.ownerReferences ?? []).length > 0;
  if (isCollected && metadata.annotations?.[OWNER_REF_ANNOTATION] === formatResourceKey(owner.key)) return 'predecessor';
  // The API server takes one controller an object, and two would undo each other's work.
  return metadata.ownerReferences?.some(({ controller }) => controller === true) ? 'foreign' : 'unowned';
}

function hasReference({ ownerReferences = [] }: ObjectMetadata, uid: string): boolean {
  return ownerReferences.some((reference) => reference.uid === uid);
}

/** An object of an owned kind as the cluster has it. */
export interface ListedChild {
  readonly type: ResourceType;
  readonly metadata: ObjectMetadata;
}

/**
 * The listed children to delete: of this owner, not in the Plan, not being deleted already. The label alone is no proof, since
 * Kubernetes copies labels from one object to another (a Service's to its EndpointSlices): reference or annotation must say
 * the same.
 */
export function childrenToPrune(listed: readonly ListedChild[], plan: CheckedPlan, owner: ChildOwner): ListedChild[] {
  const planned = new Set(plan.children.map(({ type, body }) => childKey(type, body.metadata)));
  const ownerRef = formatResourceKey(owner.key);
  return listed.filter(({ type, metadata }) => {
    const isMarked = hasReference(metadata, owner.uid) || metadata.annotations?.[OWNER_REF_ANNOTATION] === ownerRef;
    if (metadata.labels?.[OWNER_LABEL] !== owner.uid || !isMarked) return false;
    return metadata.deletionTimestamp === undefined && !planned.has(childKey(type, metadata));
  });
}
