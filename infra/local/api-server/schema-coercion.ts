/** What decoding does to a body before it is checked: unknown fields go, nulls that the schema does not want go, defaults come in. */
import { isJsonObject, type JsonObject, type JsonSchema } from './api-object.ts';

const TYPE_META = new Set(['apiVersion', 'kind', 'metadata']);

const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const preserves = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

/** The schema of a field: undefined for one that the schema does not know, `'any'` where everything is let in. */
function fieldSchema(schema: JsonSchema, name: string): JsonSchema | 'any' | undefined {
  const property = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
  if (property !== undefined) return property;
  if (isJsonObject(schema.additionalProperties)) return schema.additionalProperties;
  if (schema.additionalProperties === true || preserves(schema)) return 'any';
  return undefined;
}

/**
 * Deletes fields that the schema does not name from `value`, in place, and returns their paths in order, such as
 * `spec.list[0].typo`. apiVersion, kind and metadata of the root are decoded apart and spared.
 */
export function pruneUnknownFields(schema: JsonSchema, value: JsonObject): string[] {
  const unknown: string[] = [];
  prune(schema, value, '', true, unknown);
  return unknown.sort();
}

function prune(schema: JsonSchema, value: unknown, path: string, isResource: boolean, unknown: string[]): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const [i, item] of value.entries()) prune(schema.items, item, `${path}[${i}]`, false, unknown);
    return;
  }
  if (!isJsonObject(value)) return;
  const spared = isResource || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, inner] of Object.entries(value)) {
    if (spared && TYPE_META.has(name)) continue;
    const field = fieldSchema(schema, name);
    if (field === undefined) {
      unknown.push(child(path, name));
      delete value[name];
    } else if (field !== 'any') {
      prune(field, inner, child(path, name), false, unknown);
    }
  }
}

/** Deletes, in place, nulls where the schema neither allows null nor has a default to put there. */
export function pruneNulls(schema: JsonSchema, value: unknown): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) pruneNulls(schema.items, item);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const field = fieldSchema(schema, name);
    if (field === undefined || field === 'any') continue;
    if (inner === null && field['nullable'] !== true && field['default'] === undefined) delete value[name];
    else pruneNulls(field, inner);
  }
}

const lacks = (schema: JsonSchema, value: unknown): boolean => value === undefined || (value === null && schema['nullable'] !== true);

/** Puts defaults where nothing is, or a null that the schema does not allow, in place, from the root down. */
export function applyDefaults(schema: JsonSchema, value: unknown): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [i, item] of value.entries()) {
      if (item === null && lacks(items, item) && items['default'] !== undefined) value[i] = structuredClone(items['default']);
      applyDefaults(items, value[i]);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property['default'] !== undefined && lacks(property, value[name])) value[name] = structuredClone(property['default']);
  }
  for (const name of Object.keys(value)) {
    const field = fieldSchema(schema, name);
    if (field === undefined || field === 'any') continue;
    if (value[name] === null && lacks(field, null) && field['default'] !== undefined) value[name] = structuredClone(field['default']);
    applyDefaults(field, value[name]);
  }
}
