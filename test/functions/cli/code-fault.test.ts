/** Faults in a user's files, by real errors of Node and esbuild, and through the command as a user sees them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { codeFault } from '../../../functions/cli/code-fault.ts';
import { build } from '../../../infra/build.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dogwatch code-fault-')));
after(() => rmSync(dir, { recursive: true, force: true }));
symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
writeFileSync(join(dir, 'fine.ts'), 'export const fine = 1;\n');
mkdirSync(join(dir, 'folder'));

interface Case {
  readonly name: string;
  readonly source: string;
  /** What Node’s loader says, after the file’s name. */
  readonly node: RegExp;
  /** What esbuild says; undefined where it finds nothing wrong. */
  readonly esbuild: RegExp | undefined;
}

const CASES: readonly Case[] = [
  {
    name: 'a syntax error',
    source: 'export const a: number = 1;\nexport const reconcilers = (;\n',
    node: /^:2:29: Expression expected$/,
    esbuild: /^:2:29: Unexpected ";"$/,
  },
  {
    name: 'syntax of TypeScript that cannot be erased',
    source: 'export const reconcilers = [];\nenum X { A }\n',
    node: /^:2:1: TypeScript enum is not supported in strip-only mode$/,
    esbuild: undefined,
  },
  {
    name: 'a module that is not there',
    source: "// first\nimport { x } from './missing.ts';\nexport const reconcilers = [x];\n",
    node: /^:2:19: Cannot find module '\.\/missing\.ts'$/,
    esbuild: /^:2:19: Could not resolve ".\/missing.ts"$/,
  },
  {
    name: 'a package that is not there',
    source: 'import { x } from "no-such-package/sub";\nexport const reconcilers = [x];\n',
    node: /^:1:19: Cannot find package 'no-such-package\/sub'$/,
    esbuild: /^:1:19: Could not resolve "no-such-package\/sub"$/,
  },
  {
    name: 'a file of a package that is not there',
    source: "import x from 'esbuild/nothing.js';\nexport const reconcilers = [x];\n",
    node: /^:1:15: Cannot find module 'esbuild\/nothing\.js'$/,
    esbuild: /^:1:15: Could not resolve "esbuild\/nothing\.js"$/,
  },
  {
    name: 'a folder that is imported',
    source: "import x from './folder';\nexport const reconcilers = [x];\n",
    node: /^:1:15: Directory import '\.\/folder' is not supported resolving ES modules$/,
    esbuild: /^:1:15: Could not resolve ".\/folder"$/,
  },
  {
    name: 'a name that is not exported',
    source: "\nimport { nope } from './fine.ts';\nexport const reconcilers = [nope];\n",
    node: /^:2:10: The requested module '\.\/fine\.ts' does not provide an export named 'nope'$/,
    esbuild: /^:2:10: No matching export in ".*fine\.ts" for import "nope"$/,
  },
];

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('no fault was found'),
    (error: unknown) => error,
  );

describe('codeFault', () => {
  for (const [index, { name, source, node, esbuild }] of CASES.entries()) {
    const file = join(dir, `case-${index}.ts`);
    it(`places ${name}`, async () => {
      writeFileSync(file, source);
      const faults = [{ error: await failureOf(import(pathToFileURL(file).href)), says: node }];
      if (esbuild !== undefined)
        faults.push({ error: await failureOf(build({ reconcilers: file, out: join(dir, 'out'), quiet: true })), says: esbuild });
      for (const { error, says } of faults) {
        const fault = codeFault(error) ?? assert.fail(String(error));
        assert.ok(fault.startsWith(file), fault);
        assert.match(fault.slice(file.length), says);
      }
    });
  }

  it('says how to find what has no place', async () => {
    const file = join(dir, 'twice.ts');
    writeFileSync(file, 'export const a = 1;\nexport const a = 2;\n');
    const fault = codeFault(await failureOf(import(pathToFileURL(file).href)));
    assert.match(fault ?? '', /^a file cannot be parsed: Identifier 'a' has already been declared; npm run check shows where$/);
  });

  it('counts what esbuild found besides', async () => {
    const file = join(dir, 'many.ts');
    writeFileSync(file, "import './one.ts';\nimport './two.ts';\nexport const reconcilers = [];\n");
    const error = await failureOf(build({ reconcilers: file, out: join(dir, 'out'), quiet: true }));
    assert.match(codeFault(error) ?? '', /many\.ts:1:8: Could not resolve "\.\/one\.ts" \(and \d+ more\)$/);
  });

  it('is undefined for every other error', () => {
    const parse = (): unknown => JSON.parse('{');
    for (const work of [parse, () => assert.fail('x')]) {
      try {
        work();
      } catch (error) {
        assert.equal(codeFault(error), undefined);
      }
    }
    for (const thrown of ['text', undefined, new TypeError('x'), new SyntaxError('x')]) assert.equal(codeFault(thrown), undefined);
  });
});

describe('dogwatch', () => {
  /** Ends a command whose reconcilers are `source`: the loader gives them in place of functions/reconcilers/index.ts. */
  function withReconcilers(source: string, words: readonly string[]): { status: number | null; output: string; file: string } {
    const file = join(dir, 'mine.ts');
    const hook = join(dir, 'hook.mjs');
    writeFileSync(file, source);
    writeFileSync(
      hook,
      `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (specifier, context, next) =>
        specifier.endsWith('reconcilers/index.ts') ? { url: ${JSON.stringify(pathToFileURL(file).href)}, shortCircuit: true } : next(specifier, context) });`,
    );
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', pathToFileURL(hook).href, 'functions/cli/bin.js', ...words],
      {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '' },
        encoding: 'utf8',
      },
    );
    return { status, output: `${stdout}${stderr}`, file };
  }

  for (const words of [['watch'], ['crds']]) {
    it(`${words[0]} ends with 1 and one line for a file that cannot be parsed or imported`, () => {
      for (const [source, says] of [
        ['export const reconcilers = (;', ':1:29: Expression expected'],
        ["import './missing.ts';", ":1:8: Cannot find module './missing.ts'"],
      ] as const) {
        const { status, output, file } = withReconcilers(source, words);
        assert.deepEqual({ status, output }, { status: 1, output: `dogwatch: ${file}${says}\n` });
      }
    });
  }
});
