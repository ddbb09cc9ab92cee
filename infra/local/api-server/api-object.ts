/** The words that the parts of the embedded API server share: objects as plain JSON, the kinds it serves, and the context of a write. */

/** Any JSON object. Bodies are of this type until they are checked. */
export type JsonObject = Record<string, unknown>;

/** Metadata of a stored object. Names that a server fills in are always there. */
interface ObjectMeta extends JsonObject {
  name: string;
  namespace?: string;
  uid: string;
  /** Decimal digits; the store alone sets it. */
  resourceVersion: string;
  creationTimestamp: string;
  /** Absent in kinds that have none. */
  generation?: number;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry extends JsonObject {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: JsonObject;
  subresource?: string;
}

/** A stored object. The store never changes one in place: every write makes a new one. */
export interface KubeObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A structural schema, as openAPIV3Schema has it. */
export interface JsonSchema extends JsonObject {
  type?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  required?: string[];
}

/** A column of the Table form, after those that every kind has. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** A path without braces, such as `.status.conditions[?(@.type=="Ready")].status`. */
  readonly jsonPath: string;
}

/** One served version of a kind. */
export interface KindInfo {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** True for a kind that a CustomResourceDefinition brought. */
  readonly isCustom: boolean;
  /** openAPIV3Schema of a custom kind; built-in kinds have their typing elsewhere. */
  readonly schema?: JsonSchema;
  readonly hasStatus: boolean;
  /** False for built-in kinds without metadata.generation. */
  readonly hasGeneration: boolean;
  readonly columns: readonly PrinterColumn[];
  /** Paths such as `.spec.tier` that a field selector may name. */
  readonly selectableFields: readonly string[];
}

export type Subresource = '' | 'status';

export type PatchType = 'merge' | 'json';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What a write brings along besides its body. */
export interface WriteContext {
  readonly now: Date;
  /** A new uid at each call. */
  readonly uid: () => string;
  /** Suffix for generateName: five characters. */
  readonly suffix: () => string;
  /** Field manager: the query's, else the first part of the user agent. */
  readonly manager: string;
  readonly fieldValidation: FieldValidation;
  readonly subresource: Subresource;
  /** Namespace of the URL; '' for kinds without. */
  readonly namespace: string;
  /** Name of the URL; absent for a POST. */
  readonly name?: string;
  /** Server-side apply: take fields from others. */
  readonly force: boolean;
  /** Texts for `Warning` headers; a write adds to them. */
  readonly warnings: string[];
}

/**
 * What a write makes of an object. `metadata.resourceVersion` of `object` means nothing until the store sets it;
 * where nothing changed, `object` is the current one.
 */
export interface Written {
  readonly object: KubeObject;
  readonly changed: boolean;
}

/** `apps/v1`, or `v1` of the core group. */
export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

/** `widgets.lab.example.com`, or `configmaps` of the core group: how messages name a resource. */
export const resourceName = ({ plural, group }: { plural: string; group: string }): string =>
  group === '' ? plural : `${plural}.${group}`;

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
