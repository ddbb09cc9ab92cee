/** Author's values as the plain JSON that reaches the API server. */

/** Deeper than any Kubernetes object; what nests further is a cycle. */
const DEPTH_MAX = 64;

/** `kind: json` with a copy that shares nothing with the value, or `kind: refused` with where and what. */
export type PlainJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly path: string; readonly found: string };

/**
 * A copy of the value as JSON has it. Properties that are undefined are left out; whatever else JSON cannot say (NaN, a
 * function, a bigint, a Date or another class, undefined in an array, a cycle) is refused, where JSON.stringify would change it
 * in silence.
 *
 * @param path  how a refusal names the root; `spec.hard.cpu` and `subjects[0]` are built on it
 */
export function toPlainJson(value: unknown, path: string): PlainJson {
  return copy(value, path, 0);
}

function copy(value: unknown, path: string, depth: number): PlainJson {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return { kind: 'json', value };
    case 'number':
      return Number.isFinite(value) ? { kind: 'json', value } : { kind: 'refused', path, found: String(value) };
    case 'object':
      break;
    default:
      return { kind: 'refused', path, found: typeof value };
  }
  if (value === null) return { kind: 'json', value };
  if (depth > DEPTH_MAX) return { kind: 'refused', path, found: 'a cycle, or too many levels' };
  return Array.isArray(value) ? copyArray(value, path, depth) : copyObject(value, path, depth);
}

function copyArray(values: readonly unknown[], path: string, depth: number): PlainJson {
  const copies: unknown[] = [];
  for (const [at, item] of values.entries()) {
    const part = copy(item, `${path}[${at}]`, depth + 1);
    if (part.kind === 'refused') return part;
    copies.push(part.value);
  }
  return { kind: 'json', value: copies };
}

function copyObject(value: object, path: string, depth: number): PlainJson {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return { kind: 'refused', path, found: `an instance of ${value.constructor?.name || 'a class'}` };
  }
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const part = copy(field, path === '' ? name : `${path}.${name}`, depth + 1);
    if (part.kind === 'refused') return part;
    entries.push([name, part.value]);
  }
  return { kind: 'json', value: Object.fromEntries(entries) };
}

/** True for what JSON calls an object: no array, no null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `path` in a JSON value; an empty one where anything on the way is none. */
export function objectAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const found = path.reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), value);
  return isJsonObject(found) ? found : {};
}

/** One text for all JSON values that are equal: keys sorted, arrays in order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  const fields = Object.keys(value)
    .sort()
    .filter((name) => value[name] !== undefined)
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  return `{${fields.join(',')}}`;
}
