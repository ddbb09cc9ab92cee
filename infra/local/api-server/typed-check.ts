/** Does a value fit the types that server-side apply knows? Its faults are told in the words of the server's apply. */
import { isJsonObject } from './api-object.ts';
import { type FieldType, fieldOf, type ListType, type MapType, narrow } from './field-types.ts';
import { fieldElement, itemElement, printElement } from './path-element.ts';

interface Fault {
  readonly path: string;
  readonly text: string;
}

/** All faults as one text, or undefined if there are none. Undeclared fields, wrong types and items that are there twice are faults. */
export function findTypeFaults(type: FieldType, value: unknown): string | undefined {
  const faults = check(type, value).map(({ path, text }) => (path === '' ? text : `${path}: ${text}`));
  if (faults.length === 0) return undefined;
  return faults.length === 1 ? faults[0] : ['errors:', ...faults.map((fault) => `  ${fault}`)].join('\n');
}

function check(type: FieldType, value: unknown): Fault[] {
  const { scalar, list, map } = narrow(type, value);
  if (map !== undefined) return checkMap(map, value);
  if (scalar !== undefined) return checkScalar(scalar, value);
  if (list !== undefined) return checkList(list, value);
  return [];
}

const at = (element: string, faults: readonly Fault[]): Fault[] => faults.map(({ path, text }) => ({ path: `${element}${path}`, text }));

const fault = (text: string): Fault[] => [{ path: '', text }];

function checkMap(map: MapType, value: unknown): Fault[] {
  if (value === null) return [];
  if (!isJsonObject(value)) return fault(`expected map, got &{${goValue(value)}}`);
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = fieldOf(map, name);
    return at(printElement(fieldElement(name)), field === undefined ? fault('field not declared in schema') : check(field, inner));
  });
}

function checkScalar(scalar: NonNullable<FieldType['scalar']>, value: unknown): Fault[] {
  if (value === null) return [];
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? [] : fault(`expected numeric (int or float), got ${goType(value)}`);
    case 'string':
      return typeof value === 'string' ? [] : fault(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case 'boolean':
      return typeof value === 'boolean' ? [] : fault(`expected boolean, got &{${goValue(value)}}`);
    case 'untyped':
      return typeof value === 'object' ? fault(`expected any scalar, got &{${goValue(value)}}`) : [];
  }
}

function checkList(list: ListType, value: unknown): Fault[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return fault(`expected list, got &{${goValue(value)}}`);
  if (list.isAtomic) return value.flatMap((item, i) => at(`[${i}]`, check(list.element, item)));
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [i, item] of value.entries()) {
    const found = itemElement(list, item);
    // Nothing more can be said of an item without an identity, nor of those after it.
    if ('fault' in found) return [...faults, { path: '', text: `element ${i}: ${found.fault}` }];
    if (seen.has(found.element)) faults.push({ path: '', text: `duplicate entries for key ${printElement(found.element)}` });
    seen.add(found.element);
    faults.push(...at(printElement(found.element), check(list.element, item)));
  }
  return faults;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** A value as Go's %v prints it. */
function goValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isJsonObject(value))
    return `map[${sorted(value)
      .map(([key, inner]) => `${key}:${goValue(inner)}`)
      .join(' ')}]`;
  return value === null ? '<nil>' : String(value);
}

/** A value as Go's %#v prints it. */
function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isJsonObject(value))
    return `map[string]interface {}{${sorted(value)
      .map(([key, inner]) => `${JSON.stringify(key)}:${goSyntax(inner)}`)
      .join(', ')}}`;
  return value === null ? 'interface {}(nil)' : JSON.stringify(value);
}

const sorted = (value: object): [string, unknown][] => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
