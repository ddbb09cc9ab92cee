/** The rules between a decoded object and the stored one: which parts a write may set, generation, and validation. */
import { isDeepStrictEqual } from 'node:util';
import { ApiFault } from './api-fault.ts';
import {
  apiVersionOf,
  isJsonObject,
  type JsonObject,
  type KindInfo,
  type KubeObject,
  type WriteContext,
  type Written,
} from './api-object.ts';
import { beginBuiltIn, builtInChangeErrors } from './built-in-rules.ts';
import { schemaOf } from './built-in-schemas.ts';
import { type FieldError, invalid, invalidObject } from './field-error.ts';
import { keepsMetadata } from './field-manager.ts';
import { findDuplicates } from './list-uniqueness.ts';
import { finalizerWarnings, validateMetadata, validateMetadataUpdate } from './metadata-validation.ts';
import { validateSchema } from './schema-validation.ts';
import { conflict, metadataOf } from './write-metadata.ts';

/** A new object: what the server sets is set, a status that has its own endpoint is dropped. @throws ApiFault 422 */
export function beginObject(kind: KindInfo, sent: JsonObject, context: WriteContext): KubeObject {
  const { status, ...rest } = sent;
  const { generation: _, resourceVersion: __, ...given } = metadataOf(sent);
  const metadata: JsonObject = { ...given, creationTimestamp: context.now.toISOString().replace(/\.\d+/, ''), uid: context.uid() };
  if (kind.hasGeneration) metadata['generation'] = 1;
  const content = kind.hasStatus || status === undefined ? rest : { ...rest, status };
  const object = { ...content, ...beginBuiltIn(kind), metadata };
  const errors = [...typeErrors(kind, object), ...validateMetadata(kind, metadata), ...contentErrors(kind, object)];
  refuse(kind, metadata, errors);
  if (kind.isCustom) context.warnings.push(...finalizerWarnings(metadata));
  return stored(object, '');
}

/**
 * `current` replaced by `next`. Where nothing changes, not counting the times in managedFields, `current` stays.
 *
 * @throws ApiFault 409 if resourceVersion is not current; 422
 */
export function replaceObject(kind: KindInfo, current: KubeObject, next: JsonObject, context: WriteContext): Written {
  checkVersion(kind, current, metadataOf(next)['resourceVersion']);
  const object = context.subresource === 'status' ? withStatusOnly(kind, current, next) : withoutStatus(kind, current, next);
  const metadata = keepSystemFields(kind, current, object);
  const complete = { ...object, metadata };
  const errors = [
    ...validateMetadataUpdate(kind, metadata, current.metadata),
    ...typeErrors(kind, complete),
    ...builtInChangeErrors(kind, complete, current),
    ...(context.subresource === 'status' ? statusErrors(kind, complete, current) : contentErrors(kind, complete, current)),
  ];
  refuse(kind, current.metadata, errors);
  if (kind.isCustom && context.subresource === '') context.warnings.push(...finalizerWarnings(metadata, current.metadata));
  if (isDeepStrictEqual(withoutTimes(complete), withoutTimes(current))) return { object: current, changed: false };
  return { object: stored(complete, current.metadata.resourceVersion), changed: true };
}

/** Kinds that take an update without a resourceVersion: the built-in ones, with two exceptions. */
const allowsUnconditional = ({ isCustom, group }: KindInfo): boolean =>
  !isCustom && group !== 'apiextensions.k8s.io' && group !== 'coordination.k8s.io';

function checkVersion(kind: KindInfo, { metadata }: KubeObject, sent: unknown): void {
  const text = String(sent ?? '0');
  if (!/^\d+$/.test(text)) throw new ApiFault(500, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  const version = BigInt(text);
  if (version === 0n) {
    if (allowsUnconditional(kind)) return;
    // Here, and only here, the server puts the plural where the Kind belongs.
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalidObject({ group: kind.group, kind: kind.plural }, metadata.name, [error]);
  }
  if (version === BigInt(metadata.resourceVersion)) return;
  throw conflict(kind, metadata.name, 'the object has been modified; please apply your changes to the latest version and try again');
}

/** The main endpoint does not set a status that has its own. */
function withoutStatus(kind: KindInfo, current: KubeObject, next: JsonObject): JsonObject {
  if (!kind.hasStatus) return next;
  const { status: _, ...rest } = next;
  const kept = current['status'] === undefined ? rest : { ...rest, status: current['status'] };
  const isNamespace = kind.kind === 'Namespace' && kind.group === '';
  return isNamespace ? { ...kept, spec: current['spec'] } : kept;
}

/** `/status` sets the status, and managedFields; of built-in kinds all metadata. */
function withStatusOnly(kind: KindInfo, current: KubeObject, next: JsonObject): JsonObject {
  const { status: _, metadata: __, ...rest } = current;
  const { managedFields } = metadataOf(next);
  const { managedFields: ___, ...kept } = current.metadata;
  const metadata = keepsMetadata(kind) ? { ...kept, ...(managedFields === undefined ? {} : { managedFields }) } : metadataOf(next);
  return { ...rest, metadata, ...(next['status'] === undefined ? {} : { status: next['status'] }) };
}

/** Metadata of the new state: what only the server sets is that of the current one; generation counts changes of the content. */
function keepSystemFields(kind: KindInfo, current: KubeObject, object: JsonObject): JsonObject {
  const { generation: _, selfLink: ____, ...metadata } = metadataOf(object);
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation, resourceVersion } = current.metadata;
  metadata['uid'] ??= uid;
  metadata['creationTimestamp'] = creationTimestamp;
  metadata['resourceVersion'] = resourceVersion;
  if (deletionTimestamp !== undefined) metadata['deletionTimestamp'] = deletionTimestamp;
  if (deletionGracePeriodSeconds !== undefined) metadata['deletionGracePeriodSeconds'] ??= deletionGracePeriodSeconds;
  if (!kind.hasGeneration || generation === undefined) return metadata;
  const { metadata: __, ...before } = current;
  const { metadata: ___, ...after } = object;
  // A status write never counts; a status without an endpoint of its own is content like any other.
  const counts = !isDeepStrictEqual(before, after) && !isStatusChange(kind, before, after);
  metadata['generation'] = counts ? generation + 1 : generation;
  return metadata;
}

function isStatusChange({ hasStatus }: KindInfo, { status: _, ...before }: JsonObject, { status: __, ...after }: JsonObject): boolean {
  return hasStatus && isDeepStrictEqual(before, after);
}

function typeErrors(kind: KindInfo, object: JsonObject): FieldError[] {
  if (!kind.isCustom) return [];
  const errors: FieldError[] = [];
  if (object['kind'] !== kind.kind) errors.push(invalid('kind', object['kind'] ?? '', `must be ${kind.kind}`));
  const version = apiVersionOf(kind);
  if (object['apiVersion'] !== version) errors.push(invalid('apiVersion', object['apiVersion'] ?? '', `must be ${version}`));
  return errors;
}

/** Schema and lists of the whole object. Built-in kinds had their types checked when they were decoded. */
function contentErrors(kind: KindInfo, object: JsonObject, old?: JsonObject): FieldError[] {
  if (!kind.isCustom) return [];
  const schema = schemaOf(kind);
  return [...validateSchema(schema, object, old), ...newDuplicates(kind, object, old)];
}

/** Of a status write only the status is checked, as a value of its own. */
function statusErrors(kind: KindInfo, object: JsonObject, old: JsonObject): FieldError[] {
  const schema = schemaOf(kind).properties?.['status'];
  if (!kind.isCustom) return [];
  const errors =
    schema === undefined || object['status'] === undefined ? [] : validateSchema(schema, object['status'], old['status'], 'status');
  return [...errors, ...newDuplicates(kind, object, old)];
}

/** An object that had duplicates before may keep them. */
function newDuplicates(kind: KindInfo, object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const schema = schemaOf(kind);
  return old !== undefined && findDuplicates(schema, old).length > 0 ? [] : findDuplicates(schema, object);
}

function refuse(kind: KindInfo, { name }: JsonObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind, typeof name === 'string' ? name : '', errors);
}

function withoutTimes(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const entries = metadata['managedFields'];
  if (!Array.isArray(entries)) return object;
  const timeless = entries.map((entry) => (isJsonObject(entry) ? { ...entry, time: null } : entry));
  return { ...object, metadata: { ...metadata, managedFields: timeless } };
}

const stored = (object: JsonObject, resourceVersion: string): KubeObject =>
  ({ ...object, metadata: { ...metadataOf(object), resourceVersion } }) as KubeObject;
