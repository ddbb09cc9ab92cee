/** Faults in a user's source files, told in one line as a compiler would: the stack behind them is Node's and esbuild's own. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Place {
  readonly file: string;
  readonly line?: number;
  /** From 1 on. */
  readonly column?: number;
}

/** esbuild's BuildFailure, as far as it is told. Files are relative to the project's folder, columns begin at 0. */
interface BuildErrors {
  readonly errors: readonly { readonly text: string; readonly location: Required<Place> | null }[];
}

const ROOT = resolve(import.meta.dirname, '../..');

/** Faults of an import that Node does not place in a line. */
const IMPORT_CODES: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED', 'ERR_UNSUPPORTED_DIR_IMPORT'];

/**
 * `<file>:<line>:<column>: <message>` where `error` says that a file cannot be parsed, or imports what is not there; as much of the
 * place as is known. Undefined for every other error.
 */
export function codeFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isBuildFailure(error)) return buildFault(error);
  const { code } = error as NodeJS.ErrnoException;
  if (IMPORT_CODES.includes(code)) return importFault(error.message);
  return error instanceof SyntaxError ? syntaxFault(error) : undefined;
}

function buildFault({ errors }: BuildErrors): string | undefined {
  const [first] = errors;
  if (first === undefined) return undefined;
  const { location } = first;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  const place = location === null ? undefined : { ...location, file: resolve(ROOT, location.file), column: location.column + 1 };
  return lineOf(place, `${first.text}${more}`);
}

/** `Cannot find module '/a/b.ts' imported from /a/c.ts`: the line of the import is looked up there. */
function importFault(message: string): string | undefined {
  const [, problem, importer] = /^(.+?),? imported from (.+)$/m.exec(message) ?? [];
  if (problem === undefined || importer === undefined) return undefined;
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const wanted = /'([^']+)'/.exec(problem)?.[1];
  const found = wanted === undefined ? undefined : findImport(file, wanted);
  if (found === undefined) return lineOf({ file }, problem);
  return lineOf(
    found.place,
    problem.replace(`'${wanted}'`, () => `'${found.specifier}'`),
  );
}

/** The first string in `file` that means `wanted`, the path or the package that Node looked for. */
function findImport(file: string, wanted: string): { place: Place; specifier: string } | undefined {
  for (const [at, text] of readLines(file).entries()) {
    for (const { 2: specifier = '', index } of text.matchAll(/(['"])([^'"]+)\1/g)) {
      const isRelative = /^\.{1,2}\//.test(specifier);
      const isMeant = isRelative
        ? resolve(dirname(file), specifier) === resolve(wanted)
        : specifier === wanted || specifier.startsWith(`${wanted}/`) || wanted.endsWith(`/${specifier}`);
      if (isMeant) return { place: { file, line: at + 1, column: index + 1 }, specifier };
    }
  }
  return undefined;
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Node puts the place before the stack: file and line, the text, and a mark below it. */
function syntaxFault({ message, stack = '' }: SyntaxError): string | undefined {
  const [, url, line, column = ''] = /^(file:\S+|\/.+):(\d+)\n(?:.*\n)*?( *)\^/.exec(stack) ?? [];
  if (url !== undefined) {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    return lineOf({ file, line: Number(line), column: column.length + 1 }, message);
  }
  // What only V8 finds (a name declared twice) has no place; one that JSON.parse or the like throws is no fault of a file.
  const isOfLoader = /^\s*at .*\(node:internal\/modules\//.test(stack.slice(stack.indexOf('\n') + 1));
  return isOfLoader ? `a file cannot be parsed: ${message}; npm run check shows where` : undefined;
}

function lineOf(place: Place | undefined, message: string): string {
  const text = message.replace(/\s*\n\s*/g, ' ');
  if (place === undefined) return text;
  const near = relative(process.cwd(), place.file);
  const file = near.startsWith('..') || isAbsolute(near) ? place.file : near;
  return `${[file, place.line, place.column].filter((part) => part !== undefined).join(':')}: ${text}`;
}

function isBuildFailure(error: Error): error is Error & BuildErrors {
  return 'errors' in error && Array.isArray(error.errors) && 'warnings' in error;
}
