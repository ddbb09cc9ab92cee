/**
 * Label and field selectors: read once, when a reconciler is defined, and then held against objects as the API server would.
 * The server selects what the watcher sees; the function asks again, since an object may leave the selection while its
 * message is on the way.
 */
import { isLabelValue, isQualifiedName } from './labels.ts';

/** One requirement of a label selector. An object without the label meets `absent` and `not-in`. */
export type LabelRequirement =
  | { readonly kind: 'exists' | 'absent'; readonly key: string }
  | { readonly kind: 'in' | 'not-in'; readonly key: string; readonly values: readonly string[] };

/** One requirement of a field selector. */
export interface FieldRequirement {
  readonly path: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** A selector that was read, or what is wrong with it: the end of a sentence that begins with the selector. */
export type Parsed<Requirement> =
  | { readonly kind: 'parsed'; readonly requirements: readonly Requirement[] }
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * The requirements of a label selector as kubectl takes it: `tier`, `!tier`, `tier=gold`, `tier==gold`, `tier!=gold`, `tier in (gold,silver)`,
 * `tier notin (gold)`, several with commas between them.
 */
export function parseLabelSelector(text: string): Parsed<LabelRequirement> {
  const requirements: LabelRequirement[] = [];
  for (const part of text.split(/,(?![^(]*\))/)) {
    const requirement = labelRequirement(part.trim());
    if (requirement === undefined) {
      return refused(
        `has ${JSON.stringify(part.trim())}, which is none of: name, !name, name=value, name!=value, name in (a,b), name notin (a,b)`,
      );
    }
    if (!isQualifiedName(requirement.key)) return refused(`has ${JSON.stringify(requirement.key)}, which is no name of a label`);
    const bad = ('values' in requirement ? requirement.values : []).find((value) => !isLabelValue(value));
    if (bad !== undefined) return refused(`has ${JSON.stringify(bad)}, which is no value of a label`);
    requirements.push(requirement);
  }
  return { kind: 'parsed', requirements };
}

function labelRequirement(text: string): LabelRequirement | undefined {
  const [, absent] = /^!\s*([^\s=!<>()]+)$/.exec(text) ?? [];
  if (absent !== undefined) return { kind: 'absent', key: absent };
  const [, key, operator, values = ''] = /^([^\s=!<>()]+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text) ?? [];
  if (key !== undefined) {
    return { kind: operator === 'in' ? 'in' : 'not-in', key, values: values.split(',').map((value) => value.trim()) };
  }
  const [, left, sign, value = ''] = /^([^\s=!<>()]+)\s*(==|=|!=)\s*([^\s=!<>()]*)$/.exec(text) ?? [];
  if (left !== undefined) return { kind: sign === '!=' ? 'not-in' : 'in', key: left, values: [value] };
  return /^[^\s=!<>()]+$/.test(text) ? { kind: 'exists', key: text } : undefined;
}

/** True where the labels meet every requirement. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Readonly<Record<string, string>> = {}): boolean {
  return requirements.every((requirement) => isMet(requirement, labels));
}

function isMet(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.kind) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'not-in':
      return value === undefined || !requirement.values.includes(value);
  }
}

/**
 * The requirements of a field selector: `path=value`, `path==value`, `path!=value`, several with commas between them. In a value,
 * comma, equals sign and backslash stand behind a backslash. Which paths a kind has, only the API server knows.
 */
export function parseFieldSelector(text: string): Parsed<FieldRequirement> {
  const requirements: FieldRequirement[] = [];
  for (const part of text.split(/(?<!(?<!\\)(?:\\\\)*\\),/)) {
    const [, path, sign, value = ''] = /^\s*([A-Za-z][A-Za-z0-9.]*)(==|=|!=)((?:[^\\,=]|\\[\\,=])*)$/.exec(part) ?? [];
    if (path === undefined) return refused(`has ${JSON.stringify(part)}, which is none of: path=value, path!=value`);
    requirements.push({ path, isEqual: sign !== '!=', value: value.replace(/\\(.)/g, '$1') });
  }
  return { kind: 'parsed', requirements };
}

/**
 * False where a field of the object says that the server would not select it. A field that is not there does not say so: the
 * server has defaults for some, and names some as they are not written in the object.
 */
export function matchesFields(requirements: readonly FieldRequirement[], object: object): boolean {
  return requirements.every(({ path, isEqual, value }) => {
    const found = fieldOf(object, path.split('.'));
    return found === undefined || (found === value) === isEqual;
  });
}

function fieldOf(object: unknown, [field, ...rest]: readonly string[]): string | undefined {
  if (field === undefined) return ['string', 'number', 'boolean'].includes(typeof object) ? String(object) : undefined;
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, field)) return undefined;
  return fieldOf((object as Readonly<Record<string, unknown>>)[field], rest);
}

function refused(problem: string): { readonly kind: 'refused'; readonly problem: string } {
  return { kind: 'refused', problem };
}
