/** dogwatch/testing as it is built: what its page shows runs, and its types are those of the checkout. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { buildTesting } from '../../infra/build-testing.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const examplesOf = (path: string): string[] => [...text(path).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, source = '']) => source);

describe('dogwatch/testing', () => {
  let out: string;
  let files: string[];
  before(async () => {
    // In the checkout, where packages are found, and in a folder that git does not see.
    mkdirSync(join(ROOT, 'dist'), { recursive: true });
    out = mkdtempSync(join(ROOT, 'dist/testing-'));
    await buildTesting(out);
    const inCheckout = (source: string): string =>
      source
        .replaceAll("'../functions/reconcilers/greeting.ts'", "'./greeting.ts'")
        .replaceAll(/'\.\.\/((?:functions|infra)\/[^']+)'/g, "'../../$1'")
        .replaceAll(/'\.\.\/(core\/[^']+)'/g, "'../../functions/$1'")
        .replaceAll("'dogwatch/testing'", "'./testing.js'");
    const examples = examplesOf('infra/local/testing/README.md').map((source, at) => [`example-${at}.test.mts`, source] as const);
    const all = [['greeting.ts', examplesOf('README.md')[0] ?? ''] as const, ...examples];
    for (const [name, source] of all) writeFileSync(join(out, name), inCheckout(source));
    files = all.map(([name]) => join(out, name));
  });
  after(() => rmSync(out, { recursive: true, force: true }));

  it('is what the package exports under that name', () => {
    const { exports } = JSON.parse(text('package.json')) as { exports: unknown };
    assert.deepEqual(exports, { './testing': { types: './dist/testing.d.ts', default: './dist/testing.js' } });
  });

  it('runs each example of its page', async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', '--test-isolation=none', ...files.slice(1)], { env });
    assert.match(stdout, /^# pass 3$/m);
    assert.match(stdout, /^# fail 0$/m);
  });

  it('has types that fit reconcilers of the checkout, and find what is wrong with a test', async () => {
    const wrong = join(out, 'wrong.ts');
    writeFileSync(
      wrong,
      "import { startBench } from './testing.js';\nawait startBench({ reconcilers: [], settings: { maxAttempt: 3 } });\n",
    );
    const plans = join(out, 'plans.ts');
    writeFileSync(
      plans,
      `import { describeResource } from '../../functions/core/described-resource.ts';
import { defineReconciler } from '../../functions/core/reconciler.ts';
import { greeting } from './greeting.ts';
defineReconciler({ resource: greeting.resource, reconcile: async () => ({ apply: [] }) });
const nodes = describeResource({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' });
defineReconciler({ resource: nodes, reconcile: async () => ({ apply: 7 }) });
`,
    );
    const config = join(out, 'tsconfig.json');
    const compilerOptions = { typeRoots: [join(ROOT, 'node_modules/@types')] };
    writeFileSync(
      config,
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: [], files: [...files, wrong, plans] }),
    );
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    const checked = run(process.execPath, [join(dirname(manifest), 'bin/tsc'), '-p', config]);
    await assert.rejects(checked, ({ stdout }: { stdout: string }) => {
      const faults = stdout.split('\n').filter((line) => /error TS/.test(line));
      assert.equal(faults.length, 3, stdout);
      assert.match(stdout, /wrong\.ts.*'maxAttempt'/);
      assert.match(stdout, /plans\.ts\(4,.*\n(?: .*\n)* +Property 'status' is missing/);
      assert.match(stdout, /plans\.ts\(6,.*\n(?: .*\n)* +Type 'number' is not assignable to type 'readonly PlannedObject\[\]'/);
      assert.doesNotMatch(stdout, /isDescribed/);
      return true;
    });
  });

  it('holds nothing of the product that its reconcilers have too', () => {
    const { sources } = JSON.parse(readFileSync(join(out, 'testing.js.map'), 'utf8')) as { sources: string[] };
    assert.deepEqual(
      sources.filter((source) => !source.includes('infra/local/')),
      [],
    );
  });
});
