/** The two edits that server-side apply makes to an object: lay applied values over it, and take fields out of it. */
import { isJsonObject, type JsonObject } from './api-object.ts';
import type { FieldSet } from './field-set.ts';
import { type FieldType, fieldOf, type ListType, narrow } from './field-types.ts';
import { elementOf, fieldElement, type PathElement } from './path-element.ts';

/** `live` with `applied` laid over it: fields that are not applied stay. undefined stands for "nothing there". */
export function mergeValues(type: FieldType, live: unknown, applied: unknown): unknown {
  // A value that changes its shape is taken from the applied side.
  const { map, scalar, list } = narrow(type, applied === undefined ? live : applied);
  if (map !== undefined) {
    const [old, next] = [isJsonObject(live) ? live : {}, isJsonObject(applied) ? applied : {}];
    const names = new Set([...Object.keys(old), ...Object.keys(next)]);
    if (map.isAtomic || names.size === 0) return applied === undefined ? live : applied;
    const merged: JsonObject = {};
    for (const name of names) {
      const value = mergeValues(fieldOf(map, name) ?? {}, old[name], next[name]);
      if (value !== undefined) merged[name] = value;
    }
    return merged;
  }
  if (scalar === undefined && list !== undefined) {
    const [old, next] = [Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : []];
    if (list.isAtomic || old.length + next.length === 0) return applied === undefined ? live : applied;
    return mergeItems(list, old, next);
  }
  return applied === undefined ? live : applied;
}

/**
 * Items of both lists once each. Items that are applied come in the applied order; those that are only live keep their place
 * among them: before the applied item that they stood before.
 */
function mergeItems(list: ListType, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const old = live.map((item) => ({ element: elementOf(list, item), item }));
  const next = applied.map((item) => ({ element: elementOf(list, item), item }));
  const liveBy = Map.groupBy(old, ({ element }) => element);
  const appliedElements = new Set(next.map(({ element }) => element));
  /** Applied elements that are live too, in the order in which they are to come. */
  const shared = next.map(({ element }) => element).filter((element) => liveBy.has(element));
  const result: unknown[] = [];
  const done = new Set<PathElement>();

  const takeApplied = ({ element, item }: { element: PathElement; item: unknown }): void => {
    const same = liveBy.get(element) ?? [];
    // Several live items of one identity give way to the applied one.
    result.push(mergeValues(list.element, same.length === 1 ? same[0]?.item : same.length > 1 ? null : undefined, item));
    done.add(element);
    if (shared[0] === element) shared.shift();
  };

  let [l, r] = [0, 0];
  while (l < old.length || r < next.length) {
    const [left, right] = [old[l], next[r]];
    if (left !== undefined && !appliedElements.has(left.element)) {
      result.push(left.item);
      l += 1;
    } else if (
      left !== undefined &&
      right !== undefined &&
      left.element !== right.element &&
      shared[0] !== undefined &&
      shared[0] !== left.element
    ) {
      // An item that is applied, but whose turn comes later.
      l += 1;
    } else {
      if (left !== undefined && (left.element === right?.element || done.has(left.element))) l += 1;
      if (right === undefined) continue;
      takeApplied(right);
      r += 1;
    }
  }
  return result;
}

/** `value` without the fields of `gone`, path by path. What is emptied by that becomes null, as on the server. */
export function removeFields(type: FieldType, value: unknown, gone: FieldSet): unknown {
  const { map, scalar, list } = narrow(type, value);
  if (map !== undefined) {
    if (!isJsonObject(value) || map.isAtomic) return null;
    const kept = Object.entries(value).flatMap(([name, inner]) => {
      const element = fieldElement(name);
      if (gone.has(element)) return [];
      const below = gone.below(element);
      return [[name, below.isEmpty ? inner : removeFields(fieldOf(map, name) ?? {}, inner, below)]];
    });
    return kept.length === 0 ? null : Object.fromEntries(kept);
  }
  if (scalar === undefined && list !== undefined) {
    if (!Array.isArray(value) || list.isAtomic) return null;
    const kept = value.flatMap((item) => {
      const element = elementOf(list, item);
      if (gone.has(element)) return [];
      const below = gone.below(element);
      return [below.isEmpty ? item : removeFields(list.element, item, below)];
    });
    return kept.length === 0 ? null : kept;
  }
  return value;
}
