import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dump } from 'js-yaml';
import { runExecPlugin } from '../../../../functions/adapters/kubernetes/exec-plugin.ts';
import { loadAccess } from '../../../../functions/adapters/kubernetes/kube-config.ts';
import { copyForPlugin } from '../../../../infra/local/dev/plugin-kubeconfig.ts';

/** Prints what it finds in its environment as a token. */
const PLUGIN = `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'"$1 $HOME $AWS_PROFILE $AWS_REGION [$AWS_ACCESS_KEY_ID] $https_proxy$SECRET"'"}}'
`;

describe('copyForPlugin', () => {
  let dir: string;
  let path: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-plugin-'));
    path = join(dir, 'config');
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin/plugin'), PLUGIN, { mode: 0o700 });
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './bin/plugin',
      args: ['get'],
      env: [{ name: 'AWS_PROFILE', value: 'of-the-file' }],
      interactiveMode: 'Never',
    };
    const names = ['plugin', 'token'];
    writeFileSync(
      path,
      dump({
        contexts: names.map((name) => ({ name, context: { cluster: 'c', user: name } })),
        clusters: [{ name: 'c', cluster: { server: 'https://c.example' } }],
        users: [
          { name: 'plugin', user: { exec } },
          { name: 'token', user: { token: 't' } },
        ],
      }),
    );
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('gives the plugin the environment of its user, and nothing of the queues', async (context) => {
    const before = { ...process.env };
    context.after(() => {
      process.env = before;
    });
    const copy = copyForPlugin({ path, context: 'plugin', name: 'prod' }, dir, {
      HOME: '/home/ada',
      AWS_PROFILE: 'of-ada',
      SECRET: 's',
      https_proxy: 'http://proxy.example',
      PATH: process.env['PATH'],
    });
    assert.equal(copy, join(dir, 'prod.kubeconfig'));
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    // As in the function's process.
    process.env = { PATH: before['PATH'], AWS_ACCESS_KEY_ID: 'local', AWS_REGION: 'us-east-1' };
    const { exec } = loadAccess({ kind: 'file', path: copy });
    assert.ok(exec !== undefined);
    assert.equal((await runExecPlugin(exec)).token, 'get /home/ada of-the-file  [] http://proxy.example');
    assert.ok(!exec.args.some((arg) => arg.includes('ada')), 'others of the machine see arguments');
  });

  it('copies nothing for a context without a plugin', () => {
    assert.equal(copyForPlugin({ path, context: 'token', name: 'prod' }, dir, {}), undefined);
  });
});
