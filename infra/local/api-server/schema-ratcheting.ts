/**
 * Ratcheting: an object that a newer schema forbids can still be changed elsewhere. For that, values of the old and the new
 * state are found to be the same one, by name, or by key in a keyed list; entries of other lists are compared as a whole.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonSchema } from './api-object.ts';

/** True if the value is the one that was there. Of an object this can be said only if the schema knows all of its fields. */
export function isUnchanged(schema: JsonSchema, value: unknown, old: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(old)) return areUnchanged(schema, value, old);
  if (!isJsonObject(value) || !isJsonObject(old)) return isDeepStrictEqual(value, old);
  const names = Object.keys(value);
  return names.length === Object.keys(old).length && names.every((name) => isFieldUnchanged(schema, name, value, old));
}

function isFieldUnchanged(
  { properties = {}, additionalProperties }: JsonSchema,
  name: string,
  value: JsonObject,
  old: JsonObject,
): boolean {
  const property = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return isJsonObject(property) && Object.hasOwn(old, name) && isUnchanged(property as JsonSchema, value[name], old[name]);
}

function areUnchanged(schema: JsonSchema, list: readonly unknown[], old: readonly unknown[]): boolean {
  const { items } = schema;
  if (items === undefined || schema['x-kubernetes-list-type'] !== 'map') return isDeepStrictEqual(list, old);
  const former = formerItems(schema, old);
  return list.length === old.length && list.every((item) => former(item) !== undefined && isUnchanged(items, item, former(item)));
}

/** Finds the item of the former list that has the same keys; none in a list that is not keyed, or for an item without its keys. */
export function formerItems(schema: JsonSchema, old: unknown): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys)) return () => undefined;
  const keyOf = (item: unknown): string | undefined => {
    const values = keys.map((key) => (isJsonObject(item) ? item[String(key)] : undefined));
    return values.every((value) => ['string', 'number', 'boolean'].includes(typeof value)) ? JSON.stringify(values) : undefined;
  };
  // Of several with the same keys the first counts.
  const byKey = new Map(old.toReversed().map((item) => [keyOf(item), item]));
  return (item) => (keyOf(item) === undefined ? undefined : byKey.get(keyOf(item)));
}
