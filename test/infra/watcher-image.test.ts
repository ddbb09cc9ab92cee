/** The watcher's image, run without Docker: its files in a read-only folder, by its user, with its environment. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from '../../infra/build.ts';
import { layOut, readImage } from './watcher-image.ts';

const root = resolve(import.meta.dirname, '../..');
const image = readImage();

describe('the watcher’s image', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-image-'));
  const app = join(dir, 'app');
  let names: readonly string[] = [];
  let child: ChildProcess | undefined;

  before(async () => {
    await build({ out: join(dir, 'dist'), quiet: true });
    names = layOut(image, join(dir, 'dist'), app);
    chmodSync(dir, 0o755);
  });
  after(() => {
    child?.kill('SIGKILL');
    chmodSync(app, 0o755);
    rmSync(dir, { recursive: true, force: true });
  });

  it('is of the Node version that the project is tested with, and runs as nobody in particular', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: { node: string } };
    assert.match(image.base, new RegExp(`^node:${devDependencies.node.replaceAll('.', '\\.')}-slim$`));
    assert.ok(image.uid > 10_000 && image.gid > 10_000);
  });

  it('has the watcher and all that lies beside it, without the function and without maps', () => {
    const built = readdirSync(join(dir, 'dist')).filter((name) => name.endsWith('.cjs') && name !== 'reconcile.cjs');
    assert.deepEqual(names, built.sort());
    assert.ok(names.includes('watcher.cjs') && names.includes('sqs.cjs'), names.join());
  });

  it('serves health from a read-only folder by its user, and ends when it is asked to', async () => {
    writeFileSync(
      join(dir, 'east.yaml'),
      JSON.stringify({
        'current-context': 'only',
        clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'u', user: { token: 'none' } }],
        contexts: [{ name: 'only', context: { cluster: 'c', user: 'u' } }],
      }),
      { mode: 0o644 },
    );
    writeFileSync(join(dir, 'clusters.yml'), 'clusters:\n  - name: east\n    kubeconfig: ./east.yaml\n', { mode: 0o644 });
    const [, declared] = /^(.*):\d+$/.exec(image.env['DOGWATCH_HTTP_ADDRESS'] ?? '') ?? [];
    // Of both families: in a cluster of IPv6 the kubelet asks a pod by its only address.
    assert.equal(declared, '[::]');
    const [program = '', ...words] = image.command;
    assert.equal(program, 'node');
    const run = spawn(process.execPath, words, {
      cwd: app,
      ...(process.getuid?.() === 0 && isOpenToAll(process.execPath) ? { uid: image.uid, gid: image.gid } : {}),
      env: {
        ...image.env,
        DOGWATCH_HTTP_ADDRESS: `${declared}:0`,
        DOGWATCH_CLUSTERS: join(dir, 'clusters.yml'),
        DOGWATCH_QUEUE_URL: 'http://127.0.0.1:1/000000000000/live',
        DOGWATCH_BULK_QUEUE_URL: 'http://127.0.0.1:1/000000000000/bulk',
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'none',
        AWS_SECRET_ACCESS_KEY: 'none',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = run;
    const ended = new Promise<number | null>((done) => run.once('exit', done));
    let log = '';
    const address = await new Promise<string>((started, failed) => {
      for (const stream of [run.stdout, run.stderr]) {
        stream.on('data', (part: Buffer) => {
          log += part;
          const [, found] = /"address":"([^"]+)"/.exec(log) ?? [];
          if (found !== undefined) started(found);
        });
      }
      ended.then((code) => failed(new Error(`ended with ${code}: ${log}`)), failed);
    });
    const port = address.split(':').at(-1);
    const status = async (path: string, host = '127.0.0.1'): Promise<number> => (await fetch(`http://${host}:${port}${path}`)).status;
    assert.deepEqual([await status('/livez'), await status('/readyz')], [200, 503]);
    const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some((one) => one.address === '::1'));
    if (hasIPv6) assert.equal(await status('/livez', '[::1]'), 200);
    run.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.deepEqual(readdirSync(app).sort(), names);
  });
});

/** Whether anybody may run it: the Node that runs this test may lie in a folder that is nobody else's. */
function isOpenToAll(path: string): boolean {
  const folders = path.split('/').slice(1, -1);
  return folders.every((_, at) => (statSync(`/${folders.slice(0, at + 1).join('/')}`).mode & 0o001) !== 0);
}
