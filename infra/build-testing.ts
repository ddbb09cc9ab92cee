/**
 * Builds what tests import as `dogwatch/testing`: one ES module, and its types.
 *
 * It holds only what lies in infra. `functions` and `events` are imported from the checkout, because reconcilers are: an error class or a
 * type that there are two of would not be the same. Packages stay where they are, too.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build as esbuild, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
const ENTRY = 'infra/local/testing/index.ts';
/** Folders of the project that are not copied. */
const OF_CHECKOUT = /^(functions|events)\//;

/** Writes testing.js, testing.d.ts and the folder types to `out`. @throws esbuild's BuildFailure; Error with what tsc says */
export async function buildTesting(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const [types] = await Promise.all([declarations(), bundle(out)]);
  rmSync(join(out, 'types'), { recursive: true, force: true });
  for (const [path, text] of types) writeInto(join(out, 'types', path), rewritten(path, text, join(out, 'types')));
  writeInto(join(out, 'testing.d.ts'), `export * from './types/${jsOf(ENTRY)}';\n`);
}

async function bundle(out: string): Promise<void> {
  await esbuild({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    outfile: join(out, 'testing.js'),
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'linked',
    logLevel: 'silent',
    plugins: [leaveInCheckout(out)],
  });
}

/** Imports of the product's own modules lead from the output folder to their sources. */
function leaveInCheckout(out: string): Plugin {
  return {
    name: 'leave-in-checkout',
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path);
        return OF_CHECKOUT.test(fromRoot(file)) ? { path: toward(out, file), external: true } : undefined;
      });
    },
  };
}

/** The declarations of all modules in infra that the entry's types need, by path from the root. */
async function declarations(): Promise<ReadonlyMap<string, string>> {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-types-'));
  try {
    const config = join(dir, 'tsconfig.json');
    const compilerOptions = {
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true, stripInternal: true },
      ...{ rootDir: ROOT, outDir: join(dir, 'out'), typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    writeFileSync(
      config,
      JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files: [join(ROOT, ENTRY)] }),
    );
    await tsc('-p', config);
    const found = new Map<string, string>();
    const add = (path: string): void => {
      if (found.has(path) || OF_CHECKOUT.test(path)) return;
      const text = readFileSync(join(dir, 'out', path.replace(/\.ts$/, '.d.ts')), 'utf8');
      found.set(path, text);
      for (const [, specifier = ''] of text.matchAll(SPECIFIER)) add(posix.join(posix.dirname(path), specifier));
    };
    add(ENTRY);
    return found;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const SPECIFIER = /(?<=(?:from |import\()['"])(\.{1,2}\/[^'"]+)(?=['"])/g;

async function tsc(...args: string[]): Promise<void> {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('typescript/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
  await promisify(execFile)(process.execPath, [join(dirname(manifest), bin.tsc), ...args]).catch((error: { stdout?: string }) => {
    throw new Error(`tsc cannot write the types of ${ENTRY}: ${error.stdout ?? ''}`, { cause: error });
  });
}

function rewritten(path: string, text: string, types: string): string {
  return text.replace(SPECIFIER, (specifier) => {
    const target = posix.join(posix.dirname(path), specifier);
    return OF_CHECKOUT.test(target) ? toward(dirname(join(types, path)), join(ROOT, target)) : jsOf(specifier);
  });
}

/** How a declaration is imported. */
function jsOf(path: string): string {
  return path.replace(/\.ts$/, '.js');
}

function writeInto(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path.replace(/(?<!\.d)\.ts$/, '.d.ts'), text);
}

function fromRoot(file: string): string {
  return relative(ROOT, file).replaceAll('\\', '/');
}

function toward(from: string, to: string): string {
  const path = relative(from, to).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}
