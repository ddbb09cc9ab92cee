/**
 * What a write makes of an object: the pure half of POST, PUT and PATCH. The store calls these inside its transaction and adds
 * resourceVersion; it also turns an update that leaves a deleting object without finalizers into its removal.
 */
import { ApiFault, badRequest } from './api-fault.ts';
import {
  apiVersionOf,
  isJsonObject,
  type JsonObject,
  type KindInfo,
  type KubeObject,
  type PatchType,
  resourceName,
  type WriteContext,
  type Written,
} from './api-object.ts';
import { mergeApplied, trackUpdate, type Writer } from './field-manager.ts';
import { typeOfKind } from './field-types.ts';
import { applyJsonPatch, applyMergePatch, PatchRefusal } from './json-patch.ts';
import { completeMerged, decodeBody, decodePatched } from './object-decoding.ts';
import { beginObject, replaceObject } from './object-rules.ts';
import { findTypeFaults } from './typed-check.ts';
import { checkPlace, conflict, generateName, metadataOf, withoutDuplicateOwners } from './write-metadata.ts';

/** The object that a POST makes. @throws ApiFault 400, 422, 500 */
export function createObject(kind: KindInfo, body: unknown, context: WriteContext): KubeObject {
  const decoded = decodeBody(kind, body, context);
  const {
    uid: _,
    creationTimestamp: __,
    deletionTimestamp: ___,
    deletionGracePeriodSeconds: ____,
    selfLink: _____,
    ...metadata
  } = metadataOf(decoded);
  const version = metadata['resourceVersion'];
  if (typeof version === 'string' && /^\d+$/.test(version) && BigInt(version) > 0n) {
    throw new ApiFault(500, 'resourceVersion should not be set on objects to be created');
  }
  const named = generateName({ ...decoded, metadata }, context);
  const placed = withoutDuplicateOwners(checkPlace(kind, named, context, 'any name'), context);
  return beginObject(kind, trackUpdate(writerOf(kind, context), undefined, placed), context);
}

/** What a PUT makes of `current`. @throws ApiFault 400, 409, 422, 500 */
export function updateObject(kind: KindInfo, current: KubeObject, body: unknown, context: WriteContext): Written {
  const placed = withoutDuplicateOwners(checkPlace(kind, decodeBody(kind, body, context), context), context);
  const { uid } = metadataOf(placed);
  if (uid !== undefined && uid !== current.metadata.uid) throw uidPrecondition(kind, current, String(uid));
  return replaceObject(kind, current, trackUpdate(writerOf(kind, context), current, placed), context);
}

/** What a merge patch or JSON patch makes of `current`. @throws ApiFault 400, 409, 413, 422, 500 */
export function patchObject(kind: KindInfo, current: KubeObject, patch: unknown, type: PatchType, context: WriteContext): Written {
  const patched = type === 'json' ? jsonPatched(current, patch) : mergePatched(current, patch);
  const decoded = decodePatched(kind, patched, context);
  const tracked = trackUpdate(writerOf(kind, context), current, decoded);
  const placed = withoutDuplicateOwners(checkPlace(kind, tracked, context), context);
  return replaceObject(kind, current, placed, context);
}

/**
 * What a server-side apply makes of `current`, or the object that it creates.
 *
 * @throws ApiFault 400, 404, 409, 422, and 500 without a reason for a body that does not fit the schema's types
 */
export function applyObject(kind: KindInfo, current: KubeObject | undefined, body: unknown, context: WriteContext): Written {
  const { name = '', subresource, force } = context;
  if (current === undefined && subresource !== '') throw notFound(kind, name);
  const applied = isJsonObject(body) ? body : {};
  const type = groupVersionKind(applied);
  if (type !== groupVersionKind({ apiVersion: apiVersionOf(kind), kind: kind.kind })) throw badRequest(`invalid object type: ${type}`);
  const metadata = metadataOf(applied);
  if ((metadata['managedFields'] ?? null) !== null) throw badRequest('metadata.managedFields must be nil');
  const faults = findTypeFaults(typeOfKind(kind), applied);
  if (faults !== undefined) {
    const place = `${String(metadata['namespace'] ?? '')}/${String(metadata['name'] ?? '')}; ${type}`;
    throw new ApiFault(500, `failed to create typed patch object (${place}): ${faults}`);
  }
  const merged = completeMerged(kind, mergeApplied(writerOf(kind, context), current, applied, force));
  const { uid } = metadataOf(merged);
  if (current === undefined && uid !== undefined) {
    throw conflict(kind, name, `uid mismatch: the provided object specified uid ${String(uid)}, and no existing object was found`);
  }
  const placed = withoutDuplicateOwners(checkPlace(kind, merged, context), context);
  if (current === undefined) return { object: beginObject(kind, placed, context), changed: true };
  return replaceObject(kind, current, placed, context);
}

function writerOf(kind: KindInfo, { subresource, manager, now }: WriteContext): Writer {
  return { kind, subresource, manager, time: now.toISOString().replace(/\.\d+/, '') };
}

/** As messages print it: `lab.example.com/v1, Kind=Widget`; the core group is empty before the slash. */
function groupVersionKind({ apiVersion, kind }: JsonObject): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

function mergePatched(current: KubeObject, patch: unknown): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isJsonObject(patch))
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`);
  return applyMergePatch(current, patch);
}

/** More operations than this are refused (apiserver 0.36, maxJSONPatchOperations). */
const OPERATIONS_MAX = 10_000;

function jsonPatched(current: KubeObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch))
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(patch)} into Go value of type []handlers.jsonPatchOp`);
  if (patch.length > OPERATIONS_MAX) {
    const text = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${patch.length}`;
    throw new ApiFault(413, `Request entity too large: ${text}`, { reason: 'RequestEntityTooLarge' });
  }
  try {
    return applyJsonPatch(current, patch);
  } catch (error) {
    if (!(error instanceof PatchRefusal)) throw error;
    // The server does not tell which operation failed, nor why.
    throw new ApiFault(422, 'the server rejected our request due to an error in our request', { reason: 'Invalid', details: {} });
  }
}

const jsonType = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

function notFound(kind: KindInfo, name: string): ApiFault {
  const { group, plural } = kind;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural };
  return new ApiFault(404, `${resourceName(kind)} ${JSON.stringify(name)} not found`, { reason: 'NotFound', details });
}

/** A PUT names the object that it means by uid, for `/status` too. */
function uidPrecondition(kind: KindInfo, { metadata }: KubeObject, uid: string): ApiFault {
  const key = ['/registry', kind.group, kind.plural, metadata.namespace ?? '', metadata.name].filter((part) => part !== '').join('/');
  const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
  return conflict(
    kind,
    metadata.name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${text}`,
  );
}
