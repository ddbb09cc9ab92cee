/**
 * One step of a path to an owned field, in the form of fieldsV1: `f:name` for a field, `k:{"type":"Ready"}` for an item of a
 * keyed list, `v:"text"` for an entry of a set, `i:0` for an index.
 */
import { isJsonObject } from './api-object.ts';
import type { ListType } from './field-types.ts';

/** An element, as fieldsV1 spells it. */
export type PathElement = string;

/** The element of the field `name`. */
export const fieldElement = (name: string): PathElement => `f:${name}`;

/** The field's name, or undefined if the element is no field. */
export const fieldName = (element: PathElement): string | undefined => (element.startsWith('f:') ? element.slice(2) : undefined);

/** True for an item of a keyed list. */
export const isKey = (element: PathElement): boolean => element.startsWith('k:');

/** The element of an item of a keyed list or set, or the reason why it has none. */
export function itemElement(list: ListType, item: unknown): { readonly element: PathElement } | { readonly fault: string } {
  if (list.keys.length === 0) return setElement(item);
  if (item === null) return { fault: 'associative list with keys may not have a null element' };
  if (!isJsonObject(item)) return { fault: 'associative list with keys may not have non-map elements' };
  const defaults = list.element.map?.defaults;
  const found = list.keys.flatMap((key) => {
    const value = Object.hasOwn(item, key) ? item[key] : defaults?.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  if (found.length === 0) {
    const keys = list.keys.map((key) => JSON.stringify(key)).join(' ');
    return {
      fault: `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
    };
  }
  return { element: `k:${JSON.stringify(Object.fromEntries(found.sort(([a], [b]) => compareText(a, b))))}` };
}

function setElement(item: unknown): { readonly element: PathElement } | { readonly fault: string } {
  if (item === null) return { fault: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { fault: 'not supported: associative list with lists as elements' };
  if (typeof item === 'object') return { fault: "associative list without keys has an element that's a map type" };
  return { element: `v:${JSON.stringify(item)}` };
}

/** The element of an item that was checked before; items that have none share one that nothing else has. */
export function elementOf(list: ListType, item: unknown): PathElement {
  const found = itemElement(list, item);
  return 'element' in found ? found.element : 'v:';
}

/** The element as messages print it: `.name`, `[type="Ready"]`, `[="text"]`, `[0]`. */
export function printElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(JSON.parse(rest) as Record<string, unknown>)
        .map(([key, value]) => `${key}=${printValue(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${printValue(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

/** A path as conflicts print it: `.status.conditions[type="Ready"].status`. */
export const printPath = (path: readonly PathElement[]): string => path.map(printElement).join('');

function printValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`;
  if (isJsonObject(value))
    return Object.entries(value)
      .map(([key, inner]) => `${key}=${printValue(inner)}`)
      .join('');
  return JSON.stringify(value);
}

const ORDER = 'fkvi';

/** The order in which the server tells of elements: fields, then keyed items, then entries of sets, then indices. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kinds = ORDER.indexOf(a[0] ?? '') - ORDER.indexOf(b[0] ?? '');
  if (kinds !== 0) return kinds;
  const [left, right] = [Number(a.slice(2)), Number(b.slice(2))];
  if ((a.startsWith('i:') || a.startsWith('v:')) && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  return compareText(a, b);
}

/** By UTF-16 unit; the server's order by bytes is the same outside of astral characters. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
