/**
 * Ownership of fields. Every write passes here: an apply is merged by who owns what, any other write takes the fields that it
 * changes. managedFields of the objects themselves is no field that somebody owns; it is taken off before and put on after.
 */
import { isDeepStrictEqual } from 'node:util';
import { ApiFault, type StatusCause } from './api-fault.ts';
import { apiVersionOf, isJsonObject, type JsonObject, type KindInfo, type Subresource } from './api-object.ts';
import { FieldSet } from './field-set.ts';
import { type FieldType, typeOfKind } from './field-types.ts';
import { capUpdates, decodeOwners, encodeOwners, type Owner, type Owners, ownerKey } from './managed-fields.ts';
import { compareText, printPath } from './path-element.ts';
import { compareValues, fieldsOf } from './typed-fields.ts';
import { mergeValues, removeFields } from './typed-merge.ts';

/** Who writes, what kind, and when. */
export interface Writer {
  readonly kind: KindInfo;
  readonly subresource: Subresource;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
}

const metadata = (name: string): string[] => ['f:metadata', `f:${name}`];

/** Fields that nobody owns. */
const OWNERLESS = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map(
    metadata,
  ),
);

/** True if writes to `/status` leave labels, finalizers and the rest of metadata alone; most built-in kinds let them through. */
export const keepsMetadata = ({ isCustom, group }: KindInfo): boolean => isCustom || group === 'apiextensions.k8s.io';

/** Fields that a write through this endpoint cannot change: they neither conflict nor find an owner. */
function resetFields({ kind, subresource }: Writer): FieldSet {
  if (subresource === 'status') return keepsMetadata(kind) ? FieldSet.of(['f:metadata'], ['f:spec']) : FieldSet.of(['f:spec']);
  return kind.hasStatus ? FieldSet.of(['f:status']) : new FieldSet();
}

/**
 * `next` with the managedFields that follow from the change of `live` (undefined for a new object) into it.
 *
 * Owners may be edited by `next` itself. An entry `[{}]` wipes them, after which updates are no longer tracked.
 */
export function trackUpdate(writer: Writer, live: JsonObject | undefined, next: JsonObject): JsonObject {
  const given = isJsonObject(next['metadata']) ? next['metadata']['managedFields'] : undefined;
  const owners = ownersOfUpdate(writer, live, given);
  if (live !== undefined && owners.size === 0) return withOwners(next, new Map());
  return withOwners(next, capUpdates(takeChanged(writer, live, next, owners)));
}

function ownersOfUpdate({ subresource }: Writer, live: JsonObject | undefined, given: unknown): Owners {
  const ofLive = (): Owners => decodeOwners(managedFieldsOf(live)) ?? new Map();
  if (subresource !== '') return ofLive();
  if (Array.isArray(given) && isDeepStrictEqual(given, [{}])) return new Map();
  const ofNext = decodeOwners(given);
  return ofNext === undefined || ofNext.size === 0 ? ofLive() : ofNext;
}

function takeChanged(writer: Writer, live: JsonObject | undefined, next: JsonObject, owners: Owners): Owners {
  const change = compareFiltered(writer, bare(writer.kind, live), bare(writer.kind, next));
  const taken = change.modified.union(change.added);
  const left = disown(owners, taken.union(change.removed));
  const fields = taken.difference(OWNERLESS);
  if (fields.isEmpty) return left;
  const owner = { ...ownerOf(writer, 'Update'), fields, time: writer.time };
  const key = ownerKey(owner);
  return new Map(left).set(key, { ...owner, fields: fields.union(left.get(key)?.fields ?? new FieldSet()) });
}

/**
 * `live` with `applied` merged into it, and managedFields accordingly; `live` is undefined for an object that the apply creates.
 *
 * @throws ApiFault 409 with a cause for each field and owner in the way, unless `force`
 */
export function mergeApplied(writer: Writer, live: JsonObject | undefined, applied: JsonObject, force: boolean): JsonObject {
  const { kind } = writer;
  const type = typeOfKind(kind);
  const before = bare(kind, live);
  const known = live === undefined ? new Map<string, Owner>() : (decodeOwners(managedFieldsOf(live)) ?? new Map());
  const owners = new Map(known.size > 0 || live === undefined ? known : ownersBeforeFirstApply(writer, before));
  const owner = { ...ownerOf(writer, 'Apply'), fields: fieldsOf(type, applied).recursiveDifference(resetFields(writer)) };
  const key = ownerKey(owner);
  const last = owners.get(key);
  owners.set(key, last?.time === undefined ? owner : { ...owner, time: last.time });
  const merged = mergeValues(type, before, applied);
  const after = last === undefined ? merged : dropFields(type, merged, last.fields, owners);
  const others = new Map([...owners].filter(([other]) => other !== key));
  const change = compareFiltered(writer, before, after);
  const conflicts = [...others].flatMap(([other, { fields }]) => {
    const contested = fields.intersection(change.modified.union(change.added));
    return contested.isEmpty ? [] : [{ key: other, paths: [...contested.paths()].map(printPath) }];
  });
  if (!force && conflicts.length > 0)
    throw conflictFault(conflicts.map((conflict) => ({ ...conflict, owner: others.get(conflict.key) as Owner })));
  const result = new Map(disown(others, change.modified.union(change.added).union(change.removed)));
  const fields = owner.fields.difference(OWNERLESS);
  const isSame = isDeepStrictEqual(before, after);
  // The server leaves the time alone, or out, when an apply changes no value.
  const time = isSame ? last?.time : writer.time;
  if (!fields.isEmpty) result.set(key, { ...owner, fields, ...(time === undefined ? {} : { time }) });
  return withOwners(isJsonObject(after) ? after : {}, result);
}

/** `merged` without what the manager applied last time and nobody owns now. */
function dropFields(type: FieldType, merged: unknown, last: FieldSet, owners: Owners): unknown {
  const named = (set: FieldSet): FieldSet => set.withNamedFields(type);
  const all = named(fieldsOf(type, merged));
  const pruned = removeFields(type, merged, named(last));
  const owned = [...owners.values()].reduce((union, { fields }) => union.union(fields), new FieldSet());
  // What somebody owns comes back; then what the last apply did not own, such as items that nobody owns.
  const kept = removeFields(type, merged, all.difference(named(fieldsOf(type, pruned)).union(named(owned))));
  return removeFields(type, merged, all.difference(named(fieldsOf(type, kept))).intersection(named(last)));
}

/** Without managedFields, all that is there belongs to a manager of the past. */
function ownersBeforeFirstApply(writer: Writer, live: JsonObject): Owners {
  return takeChanged({ ...writer, manager: 'before-first-apply' }, undefined, live, new Map());
}

function compareFiltered(writer: Writer, before: JsonObject, after: unknown): ReturnType<typeof compareValues> {
  const { added, removed, modified } = compareValues(typeOfKind(writer.kind), before, after);
  const reset = resetFields(writer);
  return {
    added: added.recursiveDifference(reset),
    removed: removed.recursiveDifference(reset),
    modified: modified.recursiveDifference(reset),
  };
}

/** The owners without `fields`; who owns nothing any more is no owner. */
function disown(owners: Owners, fields: FieldSet): Owners {
  const left = [...owners].map(([key, owner]) => [key, { ...owner, fields: owner.fields.difference(fields) }] as const);
  return new Map(left.filter(([, owner]) => !owner.fields.isEmpty));
}

function ownerOf({ kind, subresource, manager }: Writer, operation: Owner['operation']): Omit<Owner, 'fields' | 'time'> {
  return { manager: manager === '' ? 'unknown' : manager, operation, subresource, apiVersion: apiVersionOf(kind) };
}

const managedFieldsOf = (object: JsonObject | undefined): unknown =>
  object !== undefined && isJsonObject(object['metadata']) ? object['metadata']['managedFields'] : undefined;

/** The object without managedFields; of no object, what every new one begins with. */
function bare(kind: KindInfo, object: JsonObject | undefined): JsonObject {
  if (object === undefined) return { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return withOwners(object, new Map());
}

function withOwners(object: JsonObject, owners: Owners): JsonObject {
  const { managedFields: _, ...rest } = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata: owners.size === 0 ? rest : { ...rest, managedFields: encodeOwners(owners) } };
}

/** 409 of the apply: one cause for each field and owner. */
function conflictFault(conflicts: readonly { readonly key: string; readonly owner: Owner; readonly paths: readonly string[] }[]): ApiFault {
  const sorted = [...conflicts].sort((a, b) => compareText(a.key, b.key));
  const causes = sorted.flatMap(({ owner, paths }) =>
    paths.map((field): StatusCause => ({ reason: 'FieldManagerConflict', message: `conflict with ${printOwner(owner)}`, field })),
  );
  const [only] = causes;
  const text =
    causes.length === 1 && only !== undefined
      ? `1 conflict: ${only.message}: ${only.field}`
      : `${causes.length} conflicts: ${sorted.map(({ owner, paths }) => [`conflicts with ${printOwner(owner)}:`, ...paths.map((path) => `- ${path}`)].join('\n')).join('\n')}`;
  return new ApiFault(409, `Apply failed with ${text}`, { reason: 'Conflict', details: { causes } });
}

function printOwner({ manager, operation, subresource, apiVersion }: Owner): string {
  const name = subresource === '' ? JSON.stringify(manager) : `${JSON.stringify(manager)} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
