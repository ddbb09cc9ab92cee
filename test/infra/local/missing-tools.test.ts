/** What somebody without Go, Java or Maven gets to read: one line, and failure. Needs none of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { controlPlaneAssets, isOlder } from '../../../infra/local/control-plane/build.ts';
import { elasticMqJars, findJava } from '../../../infra/local/elasticmq/jars.ts';
import { runCommand } from '../../../infra/local/run-command.ts';
import { isGone, untilFound } from './processes.ts';

let dir: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
  mkdirSync(join(dir, 'bin'));
  env = { PATH: join(dir, 'bin'), HOME: dir, XDG_CACHE_HOME: join(dir, 'cache') };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function fakeProgram(name: string, script: string): void {
  writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const BUILD = join(import.meta.dirname, '../../../infra/local/control-plane/build.ts');
const build = () => runCommand(process.execPath, [BUILD], { env });

describe('infra/local/control-plane/build.ts', () => {
  it('says in one line that Go is missing, and fails', async () => {
    const { code, stdout, stderr } = await build();
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^Go is not installed; install it from https:\/\/go\.dev\/dl.*\(wanted: Go \d+\.\d+.* or newer\)\n$/);
  });

  it('says in one line that Go is too old', async () => {
    fakeProgram('go', 'echo go1.20.3');
    const { code, stderr } = await build();
    assert.equal(code, 2);
    assert.match(stderr, /^Go is too old; .*found: 1\.20\.3\)\n$/);
  });

  it('says in one line what Go itself says against the version of the module', async () => {
    fakeProgram('go', 'echo "go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)" >&2; exit 1');
    const { code, stderr } = await build();
    assert.equal(code, 2);
    assert.match(stderr, /^Go is too old; .*running go 1\.24\.1; GOTOOLCHAIN=local.*\n$/);
  });

  it('shows the last lines of a build that fails, and leaves nothing half made', async () => {
    fakeProgram('go', 'if [ "$1" = env ]; then echo go9.0; else echo "main.go:1: no" >&2; exit 1; fi');
    const { code, stderr } = await build();
    assert.equal(code, 2);
    assert.match(stderr, /^Building .*\nmain\.go:1: no\ngo build of the control plane failed.*exitCode: 1\)\n$/);
    assert.equal((await runCommand('/bin/ls', ['-A', join(dir, 'cache/dogwatch/control-plane')])).stdout, '');
  });

  it('lets two build at once without harm, and does not build again', async () => {
    const count = join(dir, 'count');
    fakeProgram('go', `if [ "$1" = env ]; then echo go9.0; else echo built >> ${count}; : > "$6"; fi`);
    const [first, second] = await Promise.all([build(), build()]);
    assert.equal(first.code, 0, first.stderr);
    assert.equal(second.code, 0, second.stderr);
    assert.equal(first.stdout, second.stdout);
    assert.ok(existsSync(join(first.stdout.trim(), 'kube-apiserver')));
    assert.match(first.stderr + second.stderr, /Built in \d+\.\d s/);
    rmSync(count);
    assert.deepEqual(await build(), { code: 0, signal: null, stdout: first.stdout, stderr: '' });
    assert.equal(existsSync(count), false, 'no third build');
  });

  it('takes its compiler and its half-made files along when it is told to end', async () => {
    fakeProgram('go', `if [ "$1" = env ]; then echo go9.0; else echo $$ > ${join(dir, 'pid')}; exec sleep 60; fi`);
    fakeProgram('sleep', 'exec /bin/sleep "$@"');
    const child = spawn(process.execPath, [BUILD], { env, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    const pid = Number(await untilFound(() => readFileSync(join(dir, 'pid'), 'utf8').trim()));
    child.kill('SIGTERM');
    assert.equal(await ended, 'SIGTERM');
    await untilFound(() => isGone(pid) || undefined);
    assert.deepEqual(readdirSync(join(dir, 'cache/dogwatch/control-plane')), []);
  });

  it('names the file that KUBEBUILDER_ASSETS lacks', async () => {
    for (const name of ['etcd', 'kube-apiserver', 'kubectl']) fakeProgram(name, 'exit 0');
    env['KUBEBUILDER_ASSETS'] = join(dir, 'bin');
    const { code, stderr } = await build();
    assert.equal(code, 2);
    assert.equal(
      stderr,
      `KUBEBUILDER_ASSETS lacks a program; add it, or unset the variable to build all of them (file: ${join(dir, 'bin/kube-controller-manager')})\n`,
    );
    assert.equal(
      await controlPlaneAssets(['etcd', 'kube-apiserver', 'kubectl'], env),
      join(dir, 'bin'),
      'what is not needed may be missing',
    );
  });
});

describe('isOlder', () => {
  const rows = [
    { a: '1.25.9', b: '1.26.0', expected: true },
    { a: '1.26', b: '1.26.0', expected: false },
    { a: '1.9', b: '1.26', expected: true },
    { a: '1.26.8', b: '1.26.0', expected: false },
    { a: '2.0', b: '1.26.0', expected: false },
  ];
  for (const { a, b, expected } of rows) it(`says ${expected} for ${a} against ${b}`, () => assert.equal(isOlder(a, b), expected));
});

describe('findJava', () => {
  it('says that Java is missing', async () => {
    await assert.rejects(
      findJava(env),
      (error: Error) => error instanceof ConfigError && /Java is not installed; install/.test(error.message),
    );
  });

  it('refuses a Java that is too old, also by its old numbering', async () => {
    for (const version of ['11.0.2', '1.8.0_392']) {
      fakeProgram('java', `echo 'openjdk version "${version}"' >&2`);
      await assert.rejects(findJava(env), (error: Error) => error instanceof ConfigError && error.code === 'java-too-old');
    }
  });

  it('takes that of JAVA_HOME', async () => {
    fakeProgram('java', `echo 'openjdk version "21" 2023-09-19' >&2`);
    assert.equal(await findJava({ ...env, PATH: '/nonexistent', JAVA_HOME: dir }), join(dir, 'bin', 'java'));
  });
});

describe('elasticMqJars', () => {
  it('says that Maven is missing', async () => {
    await assert.rejects(
      elasticMqJars(env),
      (error: Error) => error instanceof ConfigError && /Maven is not installed; install/.test(error.message),
    );
  });
});
