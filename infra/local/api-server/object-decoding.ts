/** From a body as it was sent to an object of the kind: what is not known goes, or is told of, and defaults come in. */
import { type ApiFault, badRequest } from './api-fault.ts';
import { apiVersionOf, isJsonObject, type JsonObject, type JsonSchema, type KindInfo, type WriteContext } from './api-object.ts';
import { fillBuiltIn } from './built-in-rules.ts';
import { METADATA, schemaOf } from './built-in-schemas.ts';
import { invalid, invalidObject } from './field-error.ts';
import { applyDefaults, pruneNulls, pruneUnknownFields } from './schema-coercion.ts';
import { validateSchema } from './schema-validation.ts';

type Strictness = Pick<WriteContext, 'fieldValidation' | 'warnings'>;

/** The object that a POST or PUT carries. @throws ApiFault 400 */
export function decodeBody(kind: KindInfo, body: unknown, context: Strictness): JsonObject {
  if (!isJsonObject(body))
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): the body is no JSON object`);
  const expected = apiVersionOf(kind);
  const { apiVersion = expected } = body;
  const sent = typeof body['kind'] === 'string' && body['kind'] !== '' ? body['kind'] : kind.kind;
  const version = String(apiVersion).split('/').at(-1);
  const wrap = (text: string): ApiFault =>
    badRequest(`${sent} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: ${text}`);
  if (!kind.isCustom && sent !== kind.kind)
    throw wrap(`no kind ${JSON.stringify(sent)} is registered for version ${JSON.stringify(String(apiVersion))}`);
  const object = decode(kind, body, context, wrap);
  if (apiVersion !== expected) {
    throw badRequest(`the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`);
  }
  return object;
}

/** The object that a patch made of a stored one. @throws ApiFault 422, which shows the patched object */
export function decodePatched(kind: KindInfo, patched: JsonObject, context: Strictness): JsonObject {
  return decode(kind, patched, context, (text) =>
    invalidObject({ group: '', kind: '' }, '', [invalid('patch', JSON.stringify(patched), text)]),
  );
}

/** An apply's result with metadata in its usual form and with defaults. Nulls stay: the server refuses them later. */
export function completeMerged(kind: KindInfo, merged: JsonObject): JsonObject {
  const object = { ...structuredClone(merged), metadata: withoutEmpty(isJsonObject(merged['metadata']) ? merged['metadata'] : {}) };
  applyDefaults(schemaOf(kind), object);
  fillBuiltIn(kind, object);
  return object;
}

function decode(kind: KindInfo, body: JsonObject, context: Strictness, wrap: (text: string) => ApiFault): JsonObject {
  const object = structuredClone(body);
  const schema = schemaOf(kind);
  if (kind.isCustom) {
    if (typeof object['kind'] !== 'string' || object['kind'] === '') throw wrap(`Object 'Kind' is missing in '${JSON.stringify(body)}'`);
  } else {
    object['apiVersion'] ??= apiVersionOf(kind);
    object['kind'] ??= kind.kind;
  }
  const { metadata, unknown } = decodeMetadata(kind, object['metadata'], wrap);
  unknown.push(...pruneUnknownFields(schema, object));
  pruneNulls(schema, object);
  if (!kind.isCustom) refuseWrongTypes(kind.kind, schema, { ...object, metadata: {} }, wrap);
  applyDefaults(schema, object);
  object['metadata'] = metadata;
  fillBuiltIn(kind, object);
  const texts = unknown.map((path) => `unknown field "${path}"`);
  if (texts.length > 0 && context.fieldValidation === 'Strict') throw wrap(`strict decoding error: ${texts.join(', ')}`);
  if (context.fieldValidation === 'Warn') context.warnings.push(...texts);
  return object;
}

function decodeMetadata(kind: KindInfo, sent: unknown, wrap: (text: string) => ApiFault): { metadata: JsonObject; unknown: string[] } {
  if (sent !== undefined && sent !== null && !isJsonObject(sent)) {
    throw wrap(`json: cannot unmarshal ${jsonType(sent)} into Go value of type v1.ObjectMeta`);
  }
  const metadata = sent ?? {};
  const unknown = pruneUnknownFields(METADATA, metadata).map((path) => `metadata.${path}`);
  pruneNulls(METADATA, metadata);
  refuseWrongTypes(kind.isCustom ? 'ObjectMeta' : 'ObjectMeta.metadata', METADATA, metadata, wrap);
  return { metadata: withoutEmpty(metadata), unknown };
}

/** Built-in kinds and metadata are decoded into typed values: a value of another type is not read at all. */
function refuseWrongTypes(owner: string, schema: JsonSchema, value: JsonObject, wrap: (text: string) => ApiFault): void {
  const fault = validateSchema(schema, value).find(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (fault === undefined) return;
  const [, wanted = 'string', found = 'string'] = /must be of type (\S+): "(.*)"$/.exec(fault.message) ?? [];
  const goTypes: Readonly<Record<string, string>> = {
    integer: 'int64',
    boolean: 'bool',
    object: 'map[string]interface {}',
    array: '[]interface {}',
  };
  const name = found === 'integer' ? 'number' : found === 'boolean' ? 'bool' : found;
  throw wrap(
    `json: cannot unmarshal ${name} into Go struct field ${owner}.${structField(schema, fault.field)} of type ${goTypes[wanted] ?? 'string'}`,
  );
}

/** The path of named fields only: Go tells neither keys of maps nor indices of lists. */
function structField(schema: JsonSchema, path: string): string {
  const names: string[] = [];
  let at: JsonSchema | undefined = schema;
  for (const name of path.replaceAll(/\[\d+\]/g, '').split('.')) {
    const inner: JsonSchema | undefined = (at?.items ?? at)?.properties?.[name];
    if (inner === undefined) break;
    names.push(name);
    at = inner;
  }
  return names.join('.');
}

const jsonType = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);

/** Metadata as the server writes it: empty texts, lists and maps are not there, nor is a generation of 0. */
function withoutEmpty(metadata: JsonObject): JsonObject {
  const isEmpty = (name: string, value: unknown): boolean => {
    if (value === null || value === '') return true;
    if (Array.isArray(value)) return value.length === 0;
    if (isJsonObject(value)) return Object.keys(value).length === 0;
    return name === 'generation' && value === 0;
  };
  return Object.fromEntries(Object.entries(metadata).filter(([name, value]) => !isEmpty(name, value)));
}
