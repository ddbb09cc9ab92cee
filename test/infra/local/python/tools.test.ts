import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { pythonTool } from '../../../../infra/local/python/tools.ts';

/** A Python that notes each installation, and whose pip does what the tool needs, or what `PIP` says. */
const FAKE = `#!/bin/sh
case "$1" in
-c) echo "\${VERSION:-3 11 cpython-311 x86_64}" ;;
*) echo installed >> "$XDG_CACHE_HOME/log"
   [ -z "$PIP" ] || { echo "$PIP" >&2; exit 1; }
   while [ "$1" != --target ]; do shift; done
   mkdir -p "$2/bin" && touch "$2/bin/cfn-lint" "$2/bin/moto_server" ;;
esac
`;

describe('pythonTool', () => {
  let dir: string;
  let caches = 0;
  before(() => {
    mock.method(console, 'error', () => undefined);
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-python-'));
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin/python3'), FAKE, { mode: 0o755 });
  });
  after(() => {
    mock.restoreAll();
    rmSync(dir, { recursive: true, force: true });
  });

  /** An environment with a cache of its own. */
  function environment(more: Record<string, string> = {}): Record<string, string> {
    const cache = join(dir, `cache-${caches++}`);
    mkdirSync(cache);
    return { PATH: `${join(dir, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: cache, ...more };
  }

  const installations = (env: Record<string, string>): number => {
    const log = join(env['XDG_CACHE_HOME'] ?? '', 'log');
    return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0;
  };

  it('installs both tools once', async () => {
    const env = environment();
    const lint = await pythonTool('cfn-lint', env);
    const moto = await pythonTool('moto_server', env);
    assert.equal(installations(env), 1);
    assert.ok(existsSync(lint.args[0] ?? '') && existsSync(moto.args[0] ?? ''));
    assert.equal(dirname(dirname(lint.args[0] ?? '')), lint.env['PYTHONPATH']);
  });

  it('installs anew where somebody took part of it away, and for another Python', async () => {
    const env = environment();
    const { args } = await pythonTool('cfn-lint', env);
    rmSync(args[0] ?? '');
    await pythonTool('cfn-lint', env);
    assert.equal(installations(env), 2);
    assert.ok(existsSync(args[0] ?? ''));
    await pythonTool('cfn-lint', { ...env, VERSION: '3 12 cpython-312 x86_64' });
    assert.equal(installations(env), 3);
  });

  it('leaves nothing of an installation that failed, and tries again', async () => {
    const env = environment();
    await assert.rejects(pythonTool('cfn-lint', { ...env, PIP: 'no route' }), { code: 'pip-failed' });
    await pythonTool('cfn-lint', env);
    assert.equal(installations(env), 2);
  });

  it('says which Python is needed', async () => {
    await assert.rejects(pythonTool('cfn-lint', environment({ VERSION: '3 9 cpython-39 x86_64' })), { code: 'python-too-old' });
    await assert.rejects(pythonTool('cfn-lint', environment({ PATH: '/nonexistent' })), { code: 'python-missing' });
  });
});
