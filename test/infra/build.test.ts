import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { ConfigError } from '../../functions/core/errors.ts';
import { type BuildResult, build } from '../../infra/build.ts';
import { FRAMEWORK_MAX_BYTES } from '../../infra/bundle-limits.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
/** What QueueClaim loads. */
const SDK = '@aws-sdk+client-sqs.cjs';

describe('build', () => {
  let folder: string;
  let out: string;
  let result: BuildResult;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'build-test-')); // no node_modules above it
    out = join(folder, 'dist');
    result = await build({ out, quiet: true });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A module that exports reconcilers, with `code` before them; lies outside the project. */
  function reconcilersFile(name: string, code: string): string {
    const file = join(folder, name);
    const tenant = JSON.stringify(join(ROOT, 'functions/reconcilers/tenant.ts'));
    writeFileSync(file, `import { tenant } from ${tenant};\n${code}\nexport const reconcilers = [tenant];\n`);
    return file;
  }

  const sourcesOf = (name: string): string[] =>
    (JSON.parse(readFileSync(join(out, `${name}.map`), 'utf8')) as { sources: string[] }).sources;
  const command = (...args: string[]) => run(process.execPath, [join(ROOT, 'infra/build.ts'), ...args], { cwd: folder });

  it('writes what is deployed, each with a source map, and says how large it is', () => {
    const names = ['reconcile.cjs', 'sqs.cjs', 'aws.cjs', SDK, 'watcher.cjs', 'exec-plugin.cjs', 'replay.cjs'];
    assert.deepEqual(readdirSync(out).sort(), [...names, ...names.map((name) => `${name}.map`), 'reconcile.zip'].sort());
    for (const { name, bytes } of result.files) assert.equal(readFileSync(join(out, name)).length, bytes);
    assert.deepEqual(
      result.files.map(({ name }) => name),
      [...names, 'reconcile.zip'],
    );
    for (const name of names) assert.ok(sourcesOf(name).some((source) => /\.[jt]s$/.test(source)));
  });

  it('lets Node say by the maps beside them which line of which source an error comes from', async () => {
    const reconcilers = reconcilersFile('failing.ts', "function whereItFails(): never {\n  throw new Error('x');\n}\nwhereItFails();");
    const mapped = join(folder, 'mapped');
    await build({ reconcilers, out: mapped, quiet: true });
    const load = run(process.execPath, ['--enable-source-maps', join(mapped, 'reconcile.cjs')]);
    await assert.rejects(load, ({ stderr }: { stderr: string }) => /at whereItFails \(.*failing\.ts:3:\d+\)/.test(stderr));
  });

  it('packs the function, its SQS client and what reconcilers load, and nothing else', () => {
    const packed = unzipSync(readFileSync(join(out, 'reconcile.zip')));
    assert.deepEqual(Object.keys(packed), ['reconcile.cjs', 'sqs.cjs', 'aws.cjs', SDK]);
    for (const [name, bytes] of Object.entries(packed)) assert.ok(readFileSync(join(out, name)).equals(bytes), name);
  });

  it('packs what it is told to, too, and by no name of its own', async () => {
    const registry = join(folder, 'clusters.yml');
    writeFileSync(registry, 'clusters: []\n');
    const to = { out: join(folder, 'including'), quiet: true };
    await build({ ...to, include: [registry] });
    const packed = unzipSync(readFileSync(join(to.out, 'reconcile.zip')));
    assert.equal(Buffer.from(packed['clusters.yml'] ?? []).toString(), 'clusters: []\n');
    await assert.rejects(build({ ...to, include: [join(out, 'sqs.cjs')] }), { code: 'include-refused' });
  });

  it('leaves undici, OpenID, generated models and the AWS SDK out of function and watcher', () => {
    for (const name of ['reconcile.cjs', 'watcher.cjs', 'sqs.cjs', 'replay.cjs']) {
      const unwanted = sourcesOf(name).filter((source) => /node_modules\/(undici|openid-client|@aws-sdk)\/|gen\/models\//.test(source));
      assert.deepEqual(unwanted, []);
    }
    assert.ok(sourcesOf(SDK).some((source) => source.includes('@aws-sdk/client-sqs')));
  });

  it('makes a function that loads on its own, without the SQS client', async () => {
    const code = `
      const { handler } = require('./reconcile.cjs');
      const before = Object.keys(require.cache).map((file) => require('node:path').basename(file));
      const { createQueue } = require('./sqs.cjs');
      console.log(JSON.stringify({ handler: typeof handler, before, createQueue: typeof createQueue }));`;
    const { stdout } = await run(process.execPath, ['-e', code], { cwd: out, env: {} });
    assert.deepEqual(JSON.parse(stdout), { handler: 'function', before: ['reconcile.cjs'], createQueue: 'function' });
    assert.match(readFileSync(join(out, 'reconcile.cjs'), 'utf8'), /require\("\.\/sqs\.cjs"\)/);
  });

  it('makes a file of what needs AWS to reach a cluster, which works on its own and which nobody else loads', async () => {
    const code = `
      const { openEks, openStores } = require('./aws.cjs');
      const { issuer } = openEks({ kind: 'eks', cluster: 'east', region: 'eu-west-1' }, Date.now);
      Promise.all([issuer.issue(), openStores().read('ssm:/x').catch((error) => error.message)]).then(([{ token }, message]) =>
        console.log(token.slice(0, 11), message));`;
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_SSM: 'http://127.0.0.1:1' };
    assert.match(
      (await run(process.execPath, ['-e', code], { cwd: out, env })).stdout,
      /^k8s-aws-v1\. ssm:\/x: cannot be read: .*ECONNREFUSED/,
    );
    for (const name of ['reconcile.cjs', 'watcher.cjs']) {
      const text = readFileSync(join(out, name), 'utf8');
      assert.deepEqual([text.includes('require("./aws.cjs")'), text.includes('require("./exec-plugin.cjs")')], [true, true]);
    }
  });

  it('makes a command line for dead letters, which loads no client of AWS before it has a queue to look at', async () => {
    const replay = (...words: string[]) => run(process.execPath, [join(out, 'replay.cjs'), ...words], { cwd: out, env: {} });
    const { stdout } = await replay('--help');
    assert.match(stdout, /^Usage: replay .*\n {2}plan \[options\] /s);
    for (const [words, stderr] of [
      [['plan', '--nope'], /^error: unknown option '--nope'/],
      [['plan'], /^dogwatch: DOGWATCH_DEAD_LETTER_QUEUE_URL is not set/],
      [['status', '--queue', 'http://127.0.0.1:1/1/x'], /^dogwatch: no AWS region is configured/],
    ] as const)
      await assert.rejects(
        replay(...words),
        (error: { code?: unknown; stderr?: string }) => error.code === 2 && stderr.test(error.stderr ?? ''),
      );
    const loaded = "process.argv = ['node', 'replay', 'status']; require('./replay.cjs'); console.log(Object.keys(require.cache).length);";
    assert.equal((await run(process.execPath, ['-e', loaded], { cwd: out, env: {} }).catch(({ stdout }) => ({ stdout }))).stdout, '1\n');
  });

  it('makes a file beside the function of each package that a reconciler loads, and loads it then', async () => {
    const file = reconcilersFile(
      'loading.ts',
      `export async function show() {
        const before = Object.keys(require.cache).length;
        const { Command } = await import('commander'); // CommonJS
        const { zipSync } = await import('fflate'); // ES module
        console.log(before, new Command('x').name(), typeof zipSync, Object.keys(require.cache).length);
      }
      if (process.env.SHOW) show();`,
    );
    const loading = join(folder, 'loading');
    await build({ reconcilers: file, out: loading, quiet: true });
    const packed = unzipSync(readFileSync(join(loading, 'reconcile.zip')));
    assert.deepEqual(Object.keys(packed), ['reconcile.cjs', 'sqs.cjs', 'aws.cjs', 'commander.cjs', 'fflate.cjs']);
    const { stdout } = await run(process.execPath, ['-e', "require('./reconcile.cjs')"], { cwd: loading, env: { SHOW: 'yes' } });
    assert.equal(stdout, '1 x function 3\n');
    assert.doesNotMatch(readFileSync(join(loading, 'reconcile.cjs'), 'utf8'), /GetQueueUrl/);
    // Nobody else loads the SDK now: it is in sqs.cjs.
    const code = "require('./sqs.cjs').createQueue({ region: 'eu-west-1' }).then((queue) => console.log(typeof queue.send))";
    assert.equal((await run(process.execPath, ['-e', code], { cwd: loading, env: {} })).stdout, 'function\n');
  });

  it('makes the same zip of the same input in any folder and time zone, and prints a table', async () => {
    const again = join(folder, 'again');
    const { stdout } = await run(process.execPath, [join(ROOT, 'infra/build.ts'), '--out', 'again'], {
      cwd: folder,
      env: { ...process.env, TZ: 'Pacific/Kiritimati' },
    });
    // Not deepEqual: a diff of two files that are not equal takes minutes.
    assert.ok(readFileSync(join(again, 'reconcile.zip')).equals(readFileSync(join(out, 'reconcile.zip'))));
    assert.match(stdout, /^reconcile\.cjs +[0-9.]+ kB +[0-9.]+ kB$/m);
  });

  it('builds with another list of reconcilers, from outside the project; what is left out says so when it is used', async () => {
    const file = reconcilersFile(
      'other.ts',
      `import * as z from 'zod'; import { Agent } from 'undici';
      try { new Agent(); } catch (error) { console.log('another list', z.string().safeParse(1).success, error.message); }`,
    );
    const other = join(folder, 'other');
    await build({ reconcilers: file, out: other, quiet: true });
    const { stdout } = await run(process.execPath, ['-e', "require('./reconcile.cjs')"], { cwd: other, env: {} });
    assert.match(stdout, /another list false undici is not part of this bundle: .*reached directly/);
    assert.match(readFileSync(join(other, 'watcher.cjs'), 'utf8'), /another list/);
    assert.doesNotMatch(readFileSync(join(out, 'reconcile.cjs'), 'utf8'), /another list/);
  });

  it('leaves nothing out that reads YAML or checks input', async () => {
    const yaml = [
      'clusters:\n- name: east # comment\n  kubeconfig: ./east.yaml\n- {name: "we\\u0073t", inCluster: yes, other: true, n: [1, 0x1F, 1e3, .inf, ~]}\n',
      'a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n? [k]\n: |-\n  text\n  more\nd: >\n  folded\n  lines\ne: 2026-11-29\nf: !!str 12\n',
      "%YAML 1.2\n---\n'single ''quoted'''\n...\n",
      'a: [1\nb: 2',
      'a: !unknown 1',
      'a: 1\na: 2',
    ];
    const read = `() => {
      const loaded = ${JSON.stringify(yaml)}.map((text) => { try { return load(text); } catch (error) { return error.message; } });
      const schema = z.strictObject({
        mail: z.email().optional(), at: z.iso.datetime(), id: z.uuid().nullable(), url: z.url(), n: z.int().min(1).max(9),
        tags: z.record(z.string(), z.union([z.literal('a'), z.enum(['b', 'c'])])), list: z.array(z.string().regex(/^x/)).max(2).default([]),
      });
      const checked = [
        { at: '2026-01-01T00:00:00Z', id: null, url: 'https://a.example', n: 3, tags: { q: 'b' } },
        { mail: 1, n: 10, tags: { q: 1 }, list: ['y', 'x', 'x'], more: 1 },
      ].map((input) => schema.safeParse(input)).map(({ data, error }) => [data, error?.issues]);
      console.log(JSON.stringify([loaded, checked]));
    }`;
    const file = reconcilersFile(
      'reading.ts',
      `import * as z from 'zod'; import { load } from 'js-yaml';
      (${read})();
      try { z.toJSONSchema(z.string()); } catch (error) { console.log(error.message); }`,
    );
    const reading = join(folder, 'reading');
    await build({ reconcilers: file, out: reading, quiet: true });
    const bundled = await run(process.execPath, ['-e', "require('./reconcile.cjs')"], { cwd: reading, env: {} });
    const original = await run(process.execPath, ['-e', `const { load } = require('js-yaml'); const z = require('zod'); (${read})();`], {
      cwd: ROOT,
      env: {},
    });
    assert.equal(bundled.stdout, `${original.stdout}zod makes no JSON schemas in this bundle; make them on the command line\n`);
  });

  it('refuses an AWS client in the function and writes nothing', async () => {
    const code = "import { SQSClient } from '@aws-sdk/client-sqs'; new SQSClient({});";
    const refused = build({ reconcilers: reconcilersFile('bad.ts', code), out: join(folder, 'refused'), quiet: true });
    await assert.rejects(refused, (error) => error instanceof ConfigError && error.code === 'bundle-unwanted');
    assert.ok(!existsSync(join(folder, 'refused')));
  });

  it('leaves it to the authors how large their reconcilers are', async () => {
    const code = `console.log(${JSON.stringify('x'.repeat(FRAMEWORK_MAX_BYTES))});`;
    const { files } = await build({ reconcilers: reconcilersFile('large.ts', code), out: join(folder, 'large'), quiet: true });
    assert.ok((files.find(({ name }) => name === 'reconcile.cjs')?.bytes ?? 0) > FRAMEWORK_MAX_BYTES);
  });

  it('refuses to load the SQS client with the rest', async () => {
    const file = reconcilersFile(
      'eager.ts',
      `import { createQueue } from ${JSON.stringify(join(ROOT, 'functions/adapters/sqs.ts'))}; createQueue();`,
    );
    await assert.rejects(build({ reconcilers: file, out: join(folder, 'refused'), quiet: true }), /loaded when first needed/);
  });

  for (const [name, args, text, code] of [
    ['a list of reconcilers that is not there', ['--reconcilers', 'absent.ts'], /^build: there is no file .*absent\.ts: [^\n]+\n$/, 1],
    ['a list of reconcilers that is a folder', ['--reconcilers', '.'], /^build: there is no file \/[^\n]+: [^\n]+\n$/, 1],
    ['an unknown option', ['--minify'], /^build: [^\n]*--minify[^\n]*\n$/, 2],
    ['a file for the zip that is not there', ['--include', 'absent.yml'], /^build: there is no file .*absent\.yml: [^\n]+\n$/, 1],
    ['code that is no code', ['--reconcilers', 'broken.ts'], /broken\.ts:2:/, 1],
  ] as const) {
    it(`ends with ${code} and says what is wrong with ${name}`, async () => {
      reconcilersFile('broken.ts', 'this is no code');
      await assert.rejects(command(...args), (error: { code?: unknown; stderr?: unknown }) => {
        assert.equal(error.code, code);
        assert.match(String(error.stderr), text);
        return true;
      });
    });
  }
});
