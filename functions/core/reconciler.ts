/**
 * What a user writes: one reconciler a kind. It reads, thinks and returns a {@link Plan}; the framework does every write,
 * so that ownership, ordering, conflicts and retries are right once.
 *
 * A reconciler sees the object as it is now, never an event: it must come to the same Plan however often and for whatever
 * reason it runs.
 */
import { isQualifiedName } from '../../events/labels.ts';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { groupKind, type ObjectAddress, type ResourceKey, type ResourceType } from '../../events/resource.ts';
import type { DescribedObject, DescribedResource } from './described-resource.ts';
import { ConfigError } from './errors.ts';
import type { OwnedKind } from './owned-kind.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { checkRetry, type RetryDeclaration } from './retry-declaration.ts';
import { type WatchDeclaration, type WatchRules, watchRules } from './watch-rules.ts';

/** Any object as the API server has it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** An object of a kind of ours, validated and frozen. */
export interface CustomObject<Spec, Status> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly spec: Spec;
  /** What our last confirmed run wrote; absent before the first. */
  readonly status?: Partial<Status> | undefined;
}

/** An object that should exist: name, and whatever fields we want to own. Owner reference and labels of ours are added. */
export interface PlannedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** A condition as the author sets it; its times and generation are the framework's. */
export interface PlannedCondition {
  /** Ready, or a type of the author's own; never Stalled, which is the framework's. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase word, e.g. `QuotaExceeded`; matches `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, at most 1,024 characters. */
  readonly reason: string;
  readonly message?: string;
}

/** What should be so. Children that carry our owner label and are not in `apply` any more are deleted. */
export interface Plan<Status = unknown> {
  readonly apply?: readonly PlannedObject[];
  readonly status: Status;
  /** Without a Ready condition, Ready=True with reason Reconciled is written. */
  readonly conditions?: readonly PlannedCondition[];
  /**
   * In how many seconds to run again, whatever else happens: 1 or more. Each run asks anew, and leaving it out ends it. Runs that
   * others cause in between do not put it off.
   */
  readonly requeueAfterSeconds?: number | undefined;
  /** True: an object that has the name of a child, and no controller, becomes that child. Otherwise it is an error. */
  readonly adopt?: boolean | undefined;
}

/** What should be so for an object of a kind that is not ours: nothing can be said in its status. */
export type DescribedPlan = Pick<Plan, 'apply' | 'adopt'>;

/**
 * Reads an object of the same cluster, frozen; undefined where it is absent. Of a kind that the reconciler is for, owns, or names in
 * `reads`: the right to read others is not printed, so it is refused here, also where RBAC would not.
 */
export type Read = (type: ResourceType, at: ObjectAddress) => Promise<KubernetesObject | undefined>;

/** The reconciler's own log lines; key, uid and attempt are added to each. Fields named `message` or `level` are dropped. */
export interface ReconcilerLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface ReconcileInput<Spec, Status> {
  readonly key: ResourceKey;
  readonly object: CustomObject<Spec, Status>;
  readonly read: Read;
  /** The time of this run; use it instead of the clock. */
  readonly now: Date;
  readonly log: ReconcilerLog;
  /** Aborted when the record's deadline passes; hand it to every call that leaves the process. */
  readonly signal: AbortSignal;
}

/** The same for an object of a kind that is not ours. */
export interface DescribedInput<Spec> extends Omit<ReconcileInput<Spec, never>, 'object'> {
  readonly object: DescribedObject<Spec>;
}

/** A right that the Plan hands on to others, which RBAC therefore wants us to hold (or to be allowed to `bind`). */
export interface Grant {
  readonly kind: 'ClusterRole' | 'Role';
  readonly name: string;
}

/** Declares that a Plan binds subjects to the ClusterRole `name`. */
export function clusterRole(name: string): Grant {
  return { kind: 'ClusterRole', name };
}

/** What `finalize` is given: enough to undo everything outside from `key` and `uid` alone. */
export interface FinalizeInput<Spec, Status> extends Omit<ReconcileInput<Spec, Status>, 'object'> {
  /** Whose effects are to be undone. The name may belong to another object by now. */
  readonly uid: string;
  /** The object while it is being deleted; undefined where it is gone, replaced, or does not fit its schema any more. */
  readonly object: CustomObject<Spec, Status> | undefined;
}

/** Whether everything outside is undone, or when to look again: in `requeueAfterSeconds` (1 or more). */
export type FinalizeAnswer = { readonly done: true } | { readonly done: false; readonly requeueAfterSeconds: number };

export interface ReconcilerDeclaration<Spec, Status> {
  readonly resource: ResourceDefinition<Spec, Status>;
  /** Raise it when the code must run again over objects that are settled. An integer of 1 or more; 1 if left out. */
  readonly revision?: number;
  /**
   * Every kind that a Plan applies; a Plan with any other kind is refused. Its objects are watched: drift of a child, its
   * deletion and the columns named by `wakeOn` (`deployments.wakeOn('Available')`) run the reconciler again.
   */
  readonly owns?: readonly OwnedKind[];
  /** Kinds besides its own and the owned ones that `read` is asked for. They are not watched. */
  readonly reads?: readonly ResourceType[];
  readonly grants?: readonly Grant[];
  /** Which objects and changes it wants to see; all objects, and changes of their generation, if left out. */
  readonly watch?: WatchDeclaration;
  /** How long its messages are tried, where that differs from the configuration. */
  readonly retry?: RetryDeclaration;
  /**
   * Name of the finalizer that keeps a deleted object until `finalize` has undone what `reconcile` did outside the cluster:
   * `domain/name`. Needs `finalize`.
   */
  readonly finalizer?: string;
  reconcile(input: ReconcileInput<Spec, Status>): Promise<Plan<Status>>;
  /**
   * Undoes what `reconcile` did outside. Runs any number of times, also for an object that is long gone and one that never
   * came to be: what is not there counts as undone.
   */
  finalize?(input: FinalizeInput<Spec, Status>): Promise<FinalizeAnswer>;
}

/** A reconciler of a kind that is not ours. With objects of the same kind in `owns`, `watch` must tell its own from the others. */
export interface DescribedReconcilerDeclaration<Spec> extends Omit<ReconcilerDeclaration<Spec, never>, 'resource' | 'reconcile'> {
  readonly resource: DescribedResource<Spec>;
  reconcile(input: DescribedInput<Spec>): Promise<DescribedPlan>;
}

/** A finalizer and what it waits for. */
export interface Finalization<Spec = unknown, Status = unknown> {
  readonly name: string;
  finalize(input: FinalizeInput<Spec, Status>): Promise<FinalizeAnswer>;
}

export interface Reconciler<Spec = unknown, Status = unknown>
  extends Required<Omit<ReconcilerDeclaration<Spec, Status>, 'resource' | 'watch' | 'finalizer' | 'finalize'>> {
  readonly resource: ResourceDefinition<Spec, Status> | DescribedResource<Spec>;
  readonly watch: WatchRules;
  /** Left out where nothing outside has to be undone. */
  readonly finalization?: Finalization<Spec, Status>;
}

type OfOurs<Spec, Status> = Reconciler<Spec, Status> & { readonly resource: ResourceDefinition<Spec, Status> };

const KNOWN_FIELDS = new Set(['resource', 'revision', 'owns', 'reads', 'grants', 'watch', 'retry', 'finalizer', 'reconcile', 'finalize']);

/**
 * A reconciler ready to be listed in `functions/reconcilers/index.ts`.
 *
 * @throws ConfigError for an unknown field, no `reconcile`, a revision that is no integer of 1 or more, what is no kind in owns or
 *   reads or a kind twice in owns, a retry out of its bounds, a finalizer without `finalize` or the other way round, one that is no `domain/name`, or
 *   a selector or predicate that cannot be
 */
// One signature that the resource decides on: of two, a compiler speaks of the last, whichever was meant.
export function defineReconciler<Spec, Status = never, IsDescribed extends boolean = false>(
  declaration: { readonly resource: { readonly isDescribed: IsDescribed } } & (IsDescribed extends true
    ? DescribedReconcilerDeclaration<Spec>
    : ReconcilerDeclaration<Spec, Status>),
): IsDescribed extends true ? Reconciler<Spec, never> : OfOurs<Spec, Status>;
export function defineReconciler(
  declaration: ReconcilerDeclaration<unknown, unknown> | DescribedReconcilerDeclaration<unknown>,
): Reconciler {
  const { kind } = declaration.resource;
  const watch = watchRules(kind, declaration.watch ?? {}, 'finalizer' in declaration);
  for (const field of Object.keys(declaration)) {
    if (!KNOWN_FIELDS.has(field)) throw new ConfigError('unknown-field', `reconciler of ${kind}: unknown field ${field}`);
  }
  const { revision = 1, owns = [], reads = [], grants = [] } = declaration;
  if (!Number.isSafeInteger(revision) || revision < 1) {
    throw new ConfigError('bad-revision', `reconciler of ${kind}: revision ${revision} is not an integer of 1 or more`);
  }
  if (typeof declaration.reconcile !== 'function') {
    throw new ConfigError('no-reconcile', `reconciler of ${kind}: reconcile is no function`);
  }
  checkKinds(kind, 'owns', owns);
  checkKinds(kind, 'reads', reads);
  const kinds = owns.map(groupKind);
  const twice = kinds.find((name, at) => kinds.indexOf(name) !== at);
  if (twice !== undefined) throw new ConfigError('owned-twice', `reconciler of ${kind}: owns ${twice} twice`);
  const { finalizer, finalize, ...declared } = declaration as ReconcilerDeclaration<unknown, unknown>;
  const finalization = finalizationOf(kind, finalizer, finalize);
  const retry = checkRetry(kind, declaration.retry ?? {});
  return { ...declared, revision, owns, reads, grants, watch, retry, ...(finalization === undefined ? {} : { finalization }) };
}

function checkKinds(kind: string, field: 'owns' | 'reads', types: readonly ResourceType[]): void {
  const notKind = types.findIndex((type) => typeof type?.kind !== 'string' || typeof type.plural !== 'string');
  if (notKind < 0) return;
  throw new ConfigError(
    field === 'owns' ? 'owned-no-kind' : 'read-no-kind',
    `reconciler of ${kind}: ${field}[${notKind}] is no kind; take one of kinds.ts, or ownedKind({ group, ... })`,
  );
}

/** The API server takes a finalizer without a domain only from a short list of its own, and warns of others. */
function finalizationOf(kind: string, name: unknown, finalize: Finalization['finalize'] | undefined): Finalization | undefined {
  if (name === undefined && finalize === undefined) return undefined;
  if (name === undefined || finalize === undefined) {
    const [there, missing] = name === undefined ? ['finalize', 'finalizer'] : ['finalizer', 'finalize'];
    throw new ConfigError('half-finalizer', `reconciler of ${kind}: has ${there} without ${missing}; declare both, or neither`);
  }
  if (typeof name !== 'string' || !name.includes('/') || !isQualifiedName(name)) {
    throw new ConfigError(
      'bad-finalizer',
      `reconciler of ${kind}: finalizer ${JSON.stringify(name)} is no domain/name, such as platform.example/queue`,
    );
  }
  return { name, finalize };
}

/**
 * The same list, once it is sure that each kind has one reconciler.
 *
 * @throws ConfigError naming the kind that has two
 */
export function checkReconcilers<R extends Pick<Reconciler, 'resource'>>(reconcilers: readonly R[]): readonly R[] {
  const kinds = reconcilers.map(({ resource }) => groupKind(resource));
  const twice = kinds.find((kind, at) => kinds.indexOf(kind) !== at);
  if (twice !== undefined)
    throw new ConfigError('kind-twice', `${twice} has two reconcilers in the list that is exported as reconcilers; keep one`);
  return reconcilers;
}
