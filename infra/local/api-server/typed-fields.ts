/** Which fields a value consists of, and which differ between two values: the sets that ownership is counted in. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from './api-object.ts';
import { FieldSet } from './field-set.ts';
import { type FieldType, fieldOf, type ListType, type MapType, narrow } from './field-types.ts';
import { elementOf, fieldElement, type PathElement } from './path-element.ts';

type Path = readonly PathElement[];

/** The fields that somebody who applies `value` owns. Maps with named fields are not in it, what is in them is. */
export function fieldsOf(type: FieldType, value: unknown): FieldSet {
  const set = new FieldSet();
  collect(type, value, [], set);
  return set;
}

function collect(type: FieldType, value: unknown, path: Path, set: FieldSet): void {
  const { map, list, scalar } = narrow(type, value);
  if (map !== undefined) {
    if (map.isAtomic) set.insert(path);
    else if (isJsonObject(value)) collectMap(map, value, path, set);
  } else if (scalar !== undefined) {
    set.insert(path);
  } else if (list !== undefined) {
    if (list.isAtomic) set.insert(path);
    else if (Array.isArray(value)) collectList(list, value, path, set);
  }
}

function collectMap(map: MapType, value: object, path: Path, set: FieldSet): void {
  for (const [name, inner] of Object.entries(value)) {
    const below = [...path, fieldElement(name)];
    collect(fieldOf(map, name) ?? {}, inner, below, set);
    const isBare = inner === null || (isJsonObject(inner) && Object.keys(inner).length === 0);
    if (isBare || !map.fields.has(name)) set.insert(below);
  }
}

function collectList(list: ListType, value: readonly unknown[], path: Path, set: FieldSet): void {
  const counts = Map.groupBy(value, (item) => elementOf(list, item));
  for (const [element, items] of counts) {
    const below = [...path, element];
    set.insert(below);
    // Of an item that is there more than once only the fact is owned.
    if (items.length === 1) collect(list.element, items[0], below, set);
  }
}

/** Fields that are only in the second value, only in the first, or in both and not alike. None is in two of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** What became of `before`. */
export function compareValues(type: FieldType, before: unknown, after: unknown): Comparison {
  const result: Comparison = { added: new FieldSet(), removed: new FieldSet(), modified: new FieldSet() };
  compare(type, before, after, [], result);
  return result;
}

function compare(type: FieldType, before: unknown, after: unknown, path: Path, result: Comparison): void {
  const [was, is] = [narrow(type, before), narrow(type, after)];
  let isLeaf: boolean;
  if (after === undefined) {
    isLeaf = compareAs(was, before, after, path, result);
  } else {
    // A value that changes its shape is looked at in both.
    if (before !== undefined && !isSameShape(was, is)) compareAs(was, before, after, path, result);
    isLeaf = compareAs(is, before, after, path, result);
  }
  if (isLeaf) return;
  if (before === undefined) result.added.insert(path);
  else if (after === undefined) result.removed.insert(path);
}

/** True if both are narrowed to the same of the three shapes. */
const isSameShape = (a: FieldType, b: FieldType): boolean =>
  (a.map === undefined) === (b.map === undefined) &&
  (a.list === undefined) === (b.list === undefined) &&
  (a.scalar === undefined) === (b.scalar === undefined);

/** True if the two were compared as wholes. */
function compareAs({ map, scalar, list }: FieldType, before: unknown, after: unknown, path: Path, result: Comparison): boolean {
  if (map !== undefined) {
    const [old, next] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
    const names = new Set([...Object.keys(old), ...Object.keys(next)]);
    if (map.isAtomic || names.size === 0) return compareWhole(before, after, path, result);
    for (const name of names) compare(fieldOf(map, name) ?? {}, old[name], next[name], [...path, fieldElement(name)], result);
    return false;
  }
  if (scalar === undefined && list !== undefined) {
    const [old, next] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
    if (list.isAtomic || old.length + next.length === 0) return compareWhole(before, after, path, result);
    compareItems(list, old, next, path, result);
    return false;
  }
  return compareWhole(before, after, path, result);
}

function compareWhole(before: unknown, after: unknown, path: Path, result: Comparison): true {
  if (before === undefined) result.added.insert(path);
  else if (after === undefined) result.removed.insert(path);
  else if (!isDeepStrictEqual(before, after)) result.modified.insert(path);
  return true;
}

function compareItems(list: ListType, before: readonly unknown[], after: readonly unknown[], path: Path, result: Comparison): void {
  const old = Map.groupBy(before, (item) => elementOf(list, item));
  const next = Map.groupBy(after, (item) => elementOf(list, item));
  for (const element of new Set([...old.keys(), ...next.keys()])) {
    const [was = [], is = []] = [old.get(element), next.get(element)];
    const below = [...path, element];
    if (was.length < 2 && is.length < 2) {
      compare(list.element, was[0], is[0], below, result);
    } else if (was.length > 1 && is.length > 1) {
      if (!isDeepStrictEqual(was, is)) result.modified.insert(below);
    } else if (was.length > 1) {
      if (is.length > 0) compare(list.element, undefined, is[0], below, result);
      result.removed.insert(below);
    } else {
      if (was.length > 0) compare(list.element, was[0], undefined, below, result);
      result.added.insert(below);
    }
  }
}
