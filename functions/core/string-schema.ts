/**
 * Formats and patterns of strings in a generated schema. zod's own generator keeps only the last format of a chain, drops the
 * flags of a regular expression and does not know RE2, which is what the API server runs.
 */
import type * as z from 'zod';

/**
 * zod's name of a format to the API server's. Left out are those that mean something else there: duration is Go's `1h` and not
 * `PT1H`, hostname refuses a last label of one letter.
 */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['email', 'email'],
  ['url', 'uri'],
  ['uuid', 'uuid'],
  ['guid', 'uuid'],
  ['datetime', 'date-time'],
  ['date', 'date'],
  ['ipv4', 'ipv4'],
  ['ipv6', 'ipv6'],
  ['cidrv4', 'cidr'],
  ['cidrv6', 'cidr'],
  ['mac', 'mac'],
  ['base64', 'byte'],
]);

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** As zod keeps a check of a string's form: `z.email()`, `.regex(...)`, `.startsWith(...)`. */
interface StringForm {
  readonly check?: unknown;
  readonly format?: unknown;
  readonly pattern?: unknown;
}

/**
 * An `override` for z.toJSONSchema that writes `format`, `pattern` and (for several patterns) `allOf` of every string anew.
 * A pattern of zod's own that RE2 cannot run is left out, since its format is checked by both sides anyway.
 *
 * @param refuse  called for an author's regular expression that RE2 cannot run
 */
export function describeStrings(refuse: (path: readonly (string | number)[], problem: string) => never): Override {
  return ({ zodSchema, jsonSchema, path }) => {
    if (zodSchema._zod.def.type !== 'string') return;
    const forms = stringForms(zodSchema._zod.def);
    const patterns: string[] = [];
    let format: string | undefined;
    for (const form of forms) {
      format = FORMATS.get(String(form.format)) ?? format;
      if (!(form.pattern instanceof RegExp)) continue;
      const isAuthors = form.format === 'regex';
      const problem = re2Problem(form.pattern);
      if (problem === undefined) patterns.push(re2Source(form.pattern));
      else if (isAuthors)
        refuse(path, `the API server cannot run this regular expression (${problem}); rewrite it, or check it in a refine`);
    }
    const target: Record<string, unknown> = jsonSchema;
    for (const key of ['format', 'pattern', 'allOf']) delete target[key];
    if (format !== undefined) target['format'] = format;
    if (patterns.length === 1) target['pattern'] = patterns[0];
    else if (patterns.length > 1) target['allOf'] = patterns.map((pattern) => ({ pattern }));
  };
}

function stringForms(def: unknown): readonly StringForm[] {
  const { checks = [] } = def as { readonly checks?: readonly { readonly _zod: { readonly def: StringForm } }[] };
  return [def as StringForm, ...checks.map((check) => check._zod.def)].filter((form) => form.check === 'string_format');
}

/** What of JavaScript's regular expressions RE2 lacks, named for the author; undefined if it can run this one. */
function re2Problem({ source, flags }: RegExp): string | undefined {
  // An escaped backslash is two characters that start nothing.
  const text = source.replaceAll('\\\\', '');
  if (/\(\?(?:[=!]|<[=!])/.test(text)) return 'it looks ahead or behind';
  if (/\\(?:[1-9]|k<)/.test(text)) return 'it refers back to a group';
  if (/\\(?:u|c[A-Za-z])/.test(text)) return 'it has a \\u or \\c escape';
  if (/\[\^?\]/.test(text.replaceAll('\\[', ''))) return 'it has an empty class';
  if (flags.includes('v')) return 'it has the v flag';
  const counts = [...text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, low, high]) => [Number(low), Number(high ?? 0)]);
  return counts.some((count) => count > 1000) ? 'it repeats more than 1,000 times' : undefined;
}

/** The source with its flags in RE2's form. */
function re2Source({ source, flags }: RegExp): string {
  const kept = [...flags].filter((flag) => 'ims'.includes(flag)).join('');
  return kept === '' ? source : `(?${kept})${source}`;
}
