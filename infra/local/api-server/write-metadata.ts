/** Name, namespace and owners of an object that is written, as URL and body agree on them. */
import { isDeepStrictEqual } from 'node:util';
import { ApiFault, badRequest } from './api-fault.ts';
import { isJsonObject, type JsonObject, type KindInfo, resourceName, type WriteContext } from './api-object.ts';

/** metadata, or nothing of it. */
export const metadataOf = (object: JsonObject): JsonObject => (isJsonObject(object['metadata']) ? object['metadata'] : {});

/** Room for the five characters of the suffix in a name of 63 (apiserver 0.36, storage/names). */
const PREFIX_MAX = 58;

/** The object with a name made of generateName, if it has none. */
export function generateName(object: JsonObject, { suffix }: WriteContext): JsonObject {
  const metadata = metadataOf(object);
  const { name, generateName: prefix } = metadata;
  if (name !== undefined || typeof prefix !== 'string') return object;
  return { ...object, metadata: { ...metadata, name: `${prefix.slice(0, PREFIX_MAX)}${suffix()}` } };
}

/** The object with its namespace, which the URL decides. @throws ApiFault 400 if name or namespace is not that of the URL */
export function checkPlace(
  kind: KindInfo,
  object: JsonObject,
  context: WriteContext,
  names: 'of the URL' | 'any name' = 'of the URL',
): JsonObject {
  const { namespace: sent, ...rest } = metadataOf(object);
  const namespace = kind.namespaced ? context.namespace : '';
  if (sent !== undefined && sent !== namespace && namespace !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const url = context.name;
  if (names === 'of the URL' && url !== undefined) {
    const { name } = rest;
    if (name === undefined) throw badRequest(`the name of the object (${url} based on URL) was undeterminable: name must be provided`);
    if (name !== url) throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${url})`);
  }
  return { ...object, metadata: namespace === '' ? rest : { ...rest, namespace } };
}

/** The object with each owner reference once; a warning tells of those that went. */
export function withoutDuplicateOwners(object: JsonObject, { warnings }: WriteContext): JsonObject {
  const metadata = metadataOf(object);
  const references = metadata['ownerReferences'];
  if (!Array.isArray(references)) return object;
  const kept = references.filter((reference, i) => !references.slice(0, i).some((other) => isDeepStrictEqual(reference, other)));
  if (kept.length === references.length) return object;
  const gone = references.filter((reference) => !kept.includes(reference)).map(({ uid }) => String(uid));
  const text = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests';
  warnings.push(`.metadata.ownerReferences contains duplicate entries; ${text}; duplicate UID(s) observed: ${gone.join(', ')}`);
  return { ...object, metadata: { ...metadata, ownerReferences: kept } };
}

/** 409 about one object of the kind. */
export function conflict(kind: KindInfo, name: string, text: string): ApiFault {
  const { group, plural } = kind;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural };
  return new ApiFault(409, `Operation cannot be fulfilled on ${resourceName(kind)} ${JSON.stringify(name)}: ${text}`, {
    reason: 'Conflict',
    details,
  });
}
