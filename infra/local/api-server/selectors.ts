/** Label and field selectors, as the query parameters of a list or watch have them. */
import { badRequest } from './api-fault.ts';
import { isJsonObject, type KindInfo, type KubeObject } from './api-object.ts';

export type Matcher = (object: KubeObject) => boolean;

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const KEY = '[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?';
const VALUE = '([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?';
const SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s*\(([^()]*)\)$`);
const EQUAL = new RegExp(String.raw`^(${KEY})\s*(==|=|!=)\s*(${VALUE})$`);
const COMPARED = new RegExp(String.raw`^(${KEY})\s*([<>])\s*(-?\d+)$`);
const EXISTS = new RegExp(String.raw`^(!?)\s*(${KEY})$`);

/** Whether an object's labels fit. @throws ApiFault 400 if the text is no selector */
function parseLabelSelector(text: string): Matcher {
  const requirements = splitOutside(text).map((part) => requirementOf(part.trim(), text));
  return ({ metadata: { labels = {} } }) => requirements.every((fits) => fits(labels));
}

function requirementOf(part: string, whole: string): Requirement {
  const [, setKey, , operator, list] = SET.exec(part) ?? [];
  if (setKey !== undefined) {
    const values = new Set(
      String(list)
        .split(',')
        .map((value) => value.trim()),
    );
    const isIn = operator === 'in';
    return (labels) => {
      const value = Object.hasOwn(labels, setKey) ? labels[setKey] : undefined;
      return value === undefined ? !isIn : values.has(value) === isIn;
    };
  }
  const [, key, , sign, value] = EQUAL.exec(part) ?? [];
  if (key !== undefined) {
    const isEqual = sign !== '!=';
    return (labels) => (Object.hasOwn(labels, key) && labels[key] === value) === isEqual;
  }
  const [, comparedKey, , direction, bound] = COMPARED.exec(part) ?? [];
  if (comparedKey !== undefined) {
    return (labels) => {
      const found = labels[comparedKey];
      if (found === undefined || !/^-?\d+$/.test(found)) return false;
      return direction === '>' ? BigInt(found) > BigInt(bound ?? 0) : BigInt(found) < BigInt(bound ?? 0);
    };
  }
  const [, not, existing] = EXISTS.exec(part) ?? [];
  if (existing !== undefined) return (labels) => Object.hasOwn(labels, existing) === (not === '');
  throw badRequest(`unable to parse requirement: ${part === '' ? "found '', expected: identifier" : part}, in ${JSON.stringify(whole)}`);
}

/** Parts between commas that are not in parentheses. */
function splitOutside(text: string): string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/);
}

/** Whether an object's fields fit. @throws ApiFault 400 for a field that the kind does not select by */
function parseFieldSelector(text: string, kind: KindInfo): Matcher {
  const terms = text.split(',').filter((term) => term.trim() !== '');
  const parsed = terms.map((term) => {
    const [, field = '', sign, value = ''] = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
    if (sign === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    if (!isSelectable(field, kind)) throw unsupported(field, kind);
    return { path: field.split('.'), isEqual: sign !== '!=', value: value.replace(/\\(.)/g, '$1') };
  });
  return (object) => parsed.every(({ path, isEqual, value }) => (fieldText(object, path) === value) === isEqual);
}

function isSelectable(field: string, kind: KindInfo): boolean {
  if (field === 'metadata.name') return true;
  return (field === 'metadata.namespace' && kind.namespaced) || kind.selectableFields.includes(`.${field}`);
}

function unsupported(field: string, kind: KindInfo) {
  if (kind.isCustom) return badRequest(`field label not supported: ${field}`);
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

function fieldText(object: KubeObject, path: readonly string[]): string {
  const found = path.reduce<unknown>((value, step) => (isJsonObject(value) ? value[step] : undefined), object);
  return found === undefined || found === null ? '' : String(found);
}

/** How the two selectors of a request are one. */
export function matcherOf(query: URLSearchParams, kind: KindInfo): Matcher {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '');
  const byField = parseFieldSelector(query.get('fieldSelector') ?? '', kind);
  return (object) => byLabel(object) && byField(object);
}
