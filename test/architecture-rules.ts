/** The rules of the project's shape, as functions of one file: each returns what is wrong with it, or nothing. */
import { posix } from 'node:path';
import { codeOf, type Import, importsOf } from './source-text.ts';

/** A file: its path from the project's root, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

export type Rule = (file: SourceFile) => string[];

/** Which part of the project a path belongs to: the folders between which imports are ruled. */
export function zoneOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'functions' || (top === 'infra' && second === 'local') ? `${top}/${second}` : top;
}

const UNITS = ['functions/watcher', 'functions/reconcile', 'functions/replay'];
const ANYTHING = /./;

interface ZoneRule {
  /** Zones that may be imported, besides its own. */
  readonly zones: readonly string[];
  /** Packages and node: modules that may be. */
  readonly packages: RegExp;
  /** True: of node:crypto nothing but createHash. */
  readonly hashOnly?: boolean;
  /** What only `await import()` may load. */
  readonly dynamic?: { readonly zones?: readonly string[]; readonly packages?: RegExp };
}

const CORE_ZONES = ['events', 'functions/core'];
/** The outside is touched by adapters only. */
const UNIT_PACKAGES = /^(?!@aws-sdk\/|@smithy\/|@kubernetes\/|undici)/;
const UNIT: ZoneRule = { zones: [...CORE_ZONES, 'functions/adapters', 'functions/reconcilers'], packages: UNIT_PACKAGES };

const ZONE_RULES: Readonly<Record<string, ZoneRule>> = {
  events: { zones: [], packages: /^zod$/ },
  'functions/core': { zones: ['events'], packages: /^(zod|node:crypto)$/, hashOnly: true },
  'functions/reconcilers': { zones: CORE_ZONES, packages: /^(zod|node:crypto)$/, hashOnly: true, dynamic: { packages: /^(?!node:)/ } },
  'functions/adapters': { zones: CORE_ZONES, packages: ANYTHING },
  ...Object.fromEntries(UNITS.map((unit) => [unit, UNIT])),
  'functions/cli': { ...UNIT, zones: [...UNIT.zones, ...UNITS], dynamic: { zones: ['infra'] } },
  infra: { zones: [...CORE_ZONES, 'functions/adapters', 'functions/reconcilers', ...UNITS], packages: ANYTHING },
};
/** May import anything. */
const FREE_ZONES = ['infra/local', 'test'];
/** The two commands that bring the surroundings along. */
const LOCAL_COMMANDS = ['functions/cli/run.ts', 'functions/cli/dev.ts'];

/** The import rule: events <- core <- reconcilers and adapters <- units; nothing imports infra/local or test. */
export const importRule: Rule = ({ path, source }) => {
  const zone = zoneOf(path);
  if (FREE_ZONES.includes(zone)) return [];
  const rule = ZONE_RULES[zone];
  if (rule === undefined) return [`${path} belongs to no part of the project`];
  return importsOf(source)
    .filter((found) => !isAllowed(path, zone, rule, found))
    .map(({ specifier, how }) => `${path} may not import ${specifier}${how === 'static' ? '' : ` (${how})`}`);
};

function isAllowed(path: string, zone: string, rule: ZoneRule, { specifier, how, names }: Import): boolean {
  const { zones = [], packages } = how === 'dynamic' ? (rule.dynamic ?? {}) : {};
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    const targetZone = zoneOf(target);
    if (targetZone === 'infra/local') return how === 'dynamic' && LOCAL_COMMANDS.includes(path);
    return targetZone === zone || rule.zones.includes(targetZone) || zones.includes(targetZone);
  }
  if (packages?.test(specifier)) return true;
  if (specifier === '?') return rule.packages === ANYTHING;
  if (!rule.packages.test(specifier)) return false;
  return !(rule.hashOnly && specifier === 'node:crypto') || (names.length === 1 && names[0] === 'createHash');
}

const IMPURE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['the clock', /\bDate\s*\.\s*now\b|\bDate\s*\(\s*\)|\bnew\s+Date\s*(?![\s(])|\bperformance\b|\bTemporal\s*\.\s*Now\b/],
  ['randomness', /\bMath\s*\.\s*random\b|\brandomUUID\b|\bgetRandomValues\b/],
  ['the process', /(?<![.\w])process\b\s*[.[?]|\bglobalThis\b/],
  ['the console', /(?<![.\w])console\b/],
  ['a timer', /(?<![.\w])(?:set(?:Timeout|Interval|Immediate)|queueMicrotask)\b/],
  ['the network', /(?<![.\w])(?:fetch\s*\(|WebSocket\b)/],
  ['evaluated text', /(?<![.\w])eval\s*\(|\bnew\s+Function\b/],
];

/** events and functions/core touch neither clock nor chance nor anything outside. `new Date(x)` is a value, not the clock. */
export const purityRule: Rule = ({ path, source }) => {
  if (!['events', 'functions/core'].includes(zoneOf(path))) return [];
  const code = codeOf(source);
  return IMPURE.filter(([, pattern]) => pattern.test(code)).map(([what]) => `${path} is pure, but touches ${what}`);
};

/** Source has at most 300 lines, a test 400. Over it, split by concept. */
export const sizeRule: Rule = ({ path, source }) => {
  const limit = zoneOf(path) === 'test' ? 400 : 300;
  const lines = source.replace(/\n$/, '').split('\n').length;
  return lines > limit ? [`${path} has ${lines} lines; split it by concept at ${limit}`] : [];
};

// In two halves, so that this file keeps the rule it states.
const LEFTOVERS = new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK', 'WI' + 'P'].join('|')})\\b`);
const LEFT_BEHIND = /\b(?:it|describe|test)\s*\.\s*(?:only|todo)\b|(?<![.\w])debugger\b/;

/** No note to oneself, and no test that hides the others. */
export const leftoverRule: Rule = ({ path, source }) => {
  const note = LEFTOVERS.exec(source)?.[0] ?? LEFT_BEHIND.exec(codeOf(source))?.[0];
  return note === undefined ? [] : [`${path} still says ${note}`];
};

const VAGUE = ['utils', 'util', 'helpers', 'helper', 'common', 'types', 'lib', 'misc', 'shared'];
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  events: ['samples'],
  functions: ['core', 'adapters', 'reconcilers', 'watcher', 'reconcile', 'replay', 'cli'],
  infra: ['local', 'watcher', 'crds'],
  test: ['events', 'functions', 'infra', 'contracts', 'fakes', 'simulation', 'real', 'bench', 'together'],
};

/** Every file is in one of the folders of the tree, and is named after what it holds. */
export const placeRule: Rule = ({ path }) => {
  const [top = '', second = '', ...rest] = path.split('/');
  const name = posix.basename(path).replace(/(?:\.test)?\.[a-z]+$/, '');
  const vague = [...path.split('/').slice(0, -1), name].find((word) => VAGUE.includes(word));
  const isPlaced = Object.hasOwn(FOLDERS, top) && (rest.length === 0 ? top !== 'functions' : (FOLDERS[top] ?? []).includes(second));
  return [
    ...(isPlaced ? [] : [`${path} is in none of the folders of the tree`]),
    ...(vague === undefined ? [] : [`${path} has a name that says nothing: ${vague}`]),
    ...(/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? [] : [`${path} is not named in kebab-case`]),
  ];
};
