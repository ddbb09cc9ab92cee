/**
 * What the watcher sees of an object: its metadata and a few cells, never spec or status.
 */

/** metadata of any Kubernetes object, as far as we read it. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Which fields one manager owns. `fieldsV1` is the API server's own notation, read in functions/core/owned-fields.ts. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  /** When it last changed what it owns; ISO 8601 in UTC. */
  readonly time?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** A row of a list or watch as the API server sent it. `cells` is empty where PartialObjectMetadata was asked for. */
export interface Row {
  readonly cells: readonly unknown[];
  readonly metadata: ObjectMetadata;
  /** Where it was asked for and somebody's managedFields name us: what is ours. */
  readonly ownFields?: OwnFields | undefined;
}

/** The set of fields that we own of an object, without the set: enough to see that it changed, and in which direction. */
export interface OwnFields {
  /** An integer; another set has another one. */
  readonly digest: number;
  /** Of fields and what holds them. What others take from us makes it smaller. */
  readonly count: number;
}

/** A column of a Table, as `columnDefinitions` and `additionalPrinterColumns` both have it. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
}

/** Where the cells stand that say how settled an object is: an index into `cells`, or undefined where there is no such column. */
export interface StatusColumns {
  readonly observedGeneration: number;
  readonly attemptedGeneration: number | undefined;
  readonly observedRevision: number | undefined;
  readonly stalledGeneration: number | undefined;
  readonly nextReconcileTime: number | undefined;
  readonly ready: number | undefined;
}

/** The projection of one object. */
export interface ObservedObject {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds that have none (ConfigMap, Namespace and the like). */
  readonly generation: number | undefined;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  readonly isPaused: boolean;
  /** The author's filter does not admit it; absent counts as false. */
  readonly isFiltered?: boolean;
  /** What the author's filter makes of the labels and annotations that it names; absent where it names none. */
  readonly watchedDigest?: number | undefined;
  /** What the cells said; undefined where no cells were asked for, so that settledness is not known. */
  readonly status: ObservedStatus | undefined;
}

/** Cells of one row. A cell that is empty is undefined. */
export interface ObservedStatus {
  readonly observedGeneration: number | undefined;
  readonly attemptedGeneration: number | undefined;
  /** Absent in the cluster counts as 1. */
  readonly observedRevision: number;
  readonly stalledGeneration: number | undefined;
  readonly nextReconcileTime: string | undefined;
  readonly ready: string | undefined;
}
