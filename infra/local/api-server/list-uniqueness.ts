/** Lists that the schema declares as sets or maps hold no entry twice. */
import { isJsonObject, type JsonSchema } from './api-object.ts';
import { duplicate, type FieldError, invalid } from './field-error.ts';

/** One cause for each entry that is there already, at the place of its second appearance. */
export function findDuplicates(schema: JsonSchema | undefined, value: unknown, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const own = listDuplicates(schema, value, path);
    return [...own, ...value.flatMap((item, i) => findDuplicates(schema.items, item, `${path}[${i}]`))];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const { properties = {}, additionalProperties } = schema;
    if (Object.hasOwn(properties, name)) return findDuplicates(properties[name], inner, path === '' ? name : `${path}.${name}`);
    return isJsonObject(additionalProperties) ? findDuplicates(additionalProperties, inner, `${path}[${name}]`) : [];
  });
}

function listDuplicates(schema: JsonSchema, list: readonly unknown[], path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return secondAppearances(list, (item) => item, path);
  if (type !== 'map') return [];
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (odd >= 0) return [invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map')];
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []) as string[];
  const keysOf = (item: unknown): unknown =>
    Object.fromEntries(keys.flatMap((key) => (isJsonObject(item) && Object.hasOwn(item, key) ? [[key, item[key]]] : [])));
  return secondAppearances(list, keysOf, path);
}

function secondAppearances(list: readonly unknown[], identity: (item: unknown) => unknown, path: string): FieldError[] {
  const seen = new Map<string, number>();
  return list.flatMap((item, i) => {
    const key = JSON.stringify(identity(item));
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    return times === 1 ? [duplicate(`${path}[${i}]`, identity(item))] : [];
  });
}
