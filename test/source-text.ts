/** Reading our own source as text: what a file imports, and what of it is code. Enough for files that the formatter wrote. */

export interface Import {
  readonly specifier: string;
  /** `type`: erased before it runs. `static`: import and export-from. `dynamic`: import() and require(). */
  readonly how: 'type' | 'static' | 'dynamic';
  /** Imported names; empty for a namespace, for side effects and for dynamic ones. */
  readonly names: readonly string[];
}

/**
 * Comments, strings and regular expressions, whichever begins first. A slash begins a regular expression only where no
 * operand can stand before it.
 */
const TEXT = new RegExp(
  [
    /\/\*[\s\S]*?\*\//,
    /\/\/[^\n]*/,
    /'(?:\\.|[^'\\\n])*'/,
    /"(?:\\.|[^"\\\n])*"/,
    /(?<=[(,=:[!&|?{};+>\n]\s*|\breturn\s+)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
  'y',
);
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y;

/** What stands in place of a text: as many lines, and quotes where it was a value. */
type Replace = (text: string, at: number) => string;

const emptied: Replace = (text) => `${/^\/[*/]/.test(text) ? '' : "''"}${text.replace(/[^\n]/g, '')}`;

/** Goes over the source once. Templates nest: what stands in their braces is code again. */
function replaceTexts(source: string, replace: Replace): string {
  /** Open braces of each `${` around; the innermost last. */
  const braces: number[] = [];
  let code = '';
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const template = (): void => {
    const text = match(TEMPLATE_TEXT) ?? '';
    code += `'${text.replace(/[^\n]/g, '')}'`;
    at += text.length;
    if (source.startsWith('${', at)) braces.push(0);
    at += source.startsWith('${', at) ? 2 : 1;
  };
  while (at < source.length) {
    const text = match(TEXT);
    if (text !== undefined) {
      code += replace(text, at);
      at += text.length;
      continue;
    }
    const character = source[at] as string;
    const isTemplate = character === '`' || (character === '}' && braces.at(-1) === 0);
    at += 1;
    if (isTemplate) {
      if (character === '}') braces.pop();
      template();
      continue;
    }
    const innermost = braces.pop();
    if (innermost !== undefined) braces.push(innermost + (character === '{' ? 1 : 0) - (character === '}' ? 1 : 0));
    code += character;
  }
  return code;
}

/** The source without comments, and with empty strings, templates and regular expressions. Lines stay where they are. */
export function codeOf(source: string): string {
  return replaceTexts(source, emptied);
}

/** The source with no text but the paths of imports. */
function withPathsOnly(source: string): string {
  return replaceTexts(source, (text, at) => {
    const isPath = /(?:\bfrom|\bimport|\b(?:import|require)\s*\()\s*$/.test(source.slice(Math.max(0, at - 40), at));
    return isPath && /^['"]/.test(text) ? text : emptied(text, at);
  });
}

const STATIC = /^(?:import|export)\s+(type\s+)?(?:([^'"`;=()]*?)\s*from\s*)?(['"])([^'"\n]+)\3/gm;
const DYNAMIC = /(?<![.\w])(?:import|require)\s*\(\s*(?:(['"])([^'"\n]+)\1)?/g;

/** Every import of a file. One whose path is computed has the specifier `?`. */
export function importsOf(source: string): Import[] {
  const text = withPathsOnly(source);
  const written = [...text.matchAll(STATIC)].map(([, type, clause = '', , specifier = '']): Import => {
    const names = (/\{([^}]*)\}/.exec(clause)?.[1] ?? '').split(',').flatMap((name) => name.trim().split(/\s+as\s+/)[0] || []);
    const isType = type !== undefined || (names.length > 0 && names.every((name) => name.startsWith('type ')));
    return { specifier, how: isType ? 'type' : 'static', names };
  });
  const called = [...text.matchAll(DYNAMIC)].map(([, , specifier = '?']): Import => ({ specifier, how: 'dynamic', names: [] }));
  return [...written, ...called];
}
