/** A reader of our output that goes away (`dogwatch watch 2>&1 | head -1`) ends the process, at once and quietly. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-output-'));
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));
after(() => rmSync(dir, { recursive: true, force: true }));

const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'good',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'none' } }],
  contexts: [{ name: 'good', context: { cluster: 'c', user: 'u' } }],
});

describe('a closed output', () => {
  for (const words of [['functions/cli/bin.js', 'watch'], ['functions/watcher/main.ts']]) {
    it(`ends ${words.join(' ')}`, { timeout: 20_000 }, async () => {
      const registry = join(dir, 'registry.yml');
      writeFileSync(join(dir, 'good.yaml'), KUBECONFIG);
      writeFileSync(registry, 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n');
      const running = spawn(process.execPath, words, {
        env: {
          PATH: process.env['PATH'] ?? '',
          DOGWATCH_CLUSTERS: registry,
          DOGWATCH_QUEUE_URL: 'http://127.0.0.1:1/000000000000/work',
          DOGWATCH_BULK_QUEUE_URL: 'http://127.0.0.1:1/000000000000/bulk',
          DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
          AWS_REGION: 'us-east-1',
          LOG_LEVEL: 'DEBUG',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = running;
      const ended = once(running, 'exit');
      await once(running.stdout, 'data');
      running.stdout.destroy();
      running.stderr.destroy();
      // The cluster does not answer, so there is always something more to tell.
      assert.deepEqual(await ended, [1, null]);
    });
  }
});
