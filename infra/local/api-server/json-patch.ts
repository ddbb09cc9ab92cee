/**
 * JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386) as the API server applies them. The server's own library decides where
 * the RFCs leave room: negative indices count from the end, and `replace` needs something to replace. The common JavaScript
 * libraries do neither, and one of them lets an index beyond the end pass.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from './api-object.ts';

/** An operation that does not apply. */
export class PatchRefusal extends Error {}

interface Place {
  readonly container: JsonObject | unknown[];
  readonly key: string;
}

/** A changed copy of `document`. @throws PatchRefusal if one operation does not apply: then none does */
export function applyJsonPatch(document: JsonObject, operations: readonly unknown[]): JsonObject {
  const holder: { root: unknown } = { root: structuredClone(document) };
  for (const operation of operations) {
    if (!isJsonObject(operation)) throw new PatchRefusal('an operation is no object');
    applyOperation(holder, operation);
  }
  if (!isJsonObject(holder.root)) throw new PatchRefusal('the patched document is no object');
  return holder.root;
}

function applyOperation(holder: { root: unknown }, operation: JsonObject): void {
  const path = pointer(operation['path']);
  const value = structuredClone(operation['value']) ?? null;
  switch (operation['op']) {
    case 'add':
      add(find(holder, path), value);
      return;
    case 'remove':
      remove(find(holder, path));
      return;
    case 'replace':
      if (path.length === 0) holder.root = value;
      else replace(find(holder, path), value);
      return;
    case 'test':
      if (!isDeepStrictEqual(path.length === 0 ? holder.root : get(find(holder, path)), value)) throw new PatchRefusal('a test failed');
      return;
    case 'move': {
      const moved = remove(find(holder, pointer(operation['from'])));
      add(find(holder, path), moved);
      return;
    }
    case 'copy':
      add(find(holder, path), structuredClone(get(find(holder, pointer(operation['from'])))));
      return;
    default:
      throw new PatchRefusal('an operation is not known');
  }
}

function pointer(path: unknown): string[] {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) throw new PatchRefusal('a path is no JSON pointer');
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function find(holder: { root: unknown }, path: readonly string[]): Place {
  let value: unknown = holder.root;
  for (const key of path.slice(0, -1)) value = get(placeIn(value, key));
  return placeIn(value, path.at(-1));
}

function placeIn(container: unknown, key: string | undefined): Place {
  if (key === undefined || (!Array.isArray(container) && !isJsonObject(container))) throw new PatchRefusal('a path leads nowhere');
  return { container, key };
}

/** The place in a list of `length` that `key` names; `max` is the highest that may be. */
function index(key: string, length: number, max: number): number {
  if (!/^[-+]?\d+$/.test(key)) throw new PatchRefusal('an index is no number');
  const number = Number(key);
  const at = number < 0 ? number + length : number;
  if (at < 0 || at > max) throw new PatchRefusal('an index is out of range');
  return at;
}

function get({ container, key }: Place): unknown {
  if (Array.isArray(container)) return container[index(key, container.length, container.length - 1)];
  if (!Object.hasOwn(container, key)) throw new PatchRefusal('a field is not there');
  return container[key];
}

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setOwn(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(index(key, container.length + 1, container.length), 0, value);
}

function remove(place: Place): unknown {
  const { container, key } = place;
  const value = get(place);
  if (Array.isArray(container)) container.splice(index(key, container.length, container.length - 1), 1);
  else delete container[key];
  return value;
}

function replace(place: Place, value: unknown): void {
  const { container, key } = place;
  get(place);
  if (Array.isArray(container)) container[index(key, container.length, container.length - 1)] = value;
  else setOwn(container, key, value);
}

/** A changed copy of `document`: fields that the patch sets to null are gone, objects are merged, all else is replaced. */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  const result = structuredClone(document);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else setOwn(result, name, mergeValue(Object.hasOwn(result, name) ? result[name] : undefined, value));
  }
  return result;
}

/** What a patch puts in the place of `current`. Objects that it brings hold no nulls, those in lists either. */
function mergeValue(current: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map((item) => mergeValue(undefined, item));
  return isJsonObject(patch) ? applyMergePatch(isJsonObject(current) ? current : {}, patch) : patch;
}

/** As an own field, so that no name, not even `__proto__`, has another effect. */
function setOwn(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
