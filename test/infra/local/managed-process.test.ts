import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { startProcess } from '../../../infra/local/managed-process.ts';
import { waitUntilReady } from '../../../infra/local/until-ready.ts';
import { isGone, untilFound } from './processes.ts';

let dir: string;
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
});
after(() => rmSync(dir, { recursive: true, force: true }));

function start(name: string, script: string) {
  return startProcess({ name, program: process.execPath, args: ['-e', script], logPath: join(dir, `${name}.log`) });
}

/** Runs on for ever, and says when its handlers are in place. */
const STUBBORN = `process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('ready')`;
const saysReady = (path: string) => async () => readFileSync(path, 'utf8').includes('ready');

describe('startProcess', () => {
  it('ends a process by SIGTERM', async () => {
    const one = await start('polite', `setInterval(() => {}, 1000)`);
    await one.stop();
    assert.deepEqual(one.exit, { code: null, signal: 'SIGTERM' });
    await one.stop(); // it has ended: nothing to do
  });

  it('kills a process that does not heed SIGTERM', async () => {
    const one = await start('stubborn', STUBBORN);
    await waitUntilReady(saysReady(one.logPath), [one], 10);
    await one.stop(0.2);
    assert.deepEqual(one.exit, { code: null, signal: 'SIGKILL' });
    assert.equal(one.lastLines(), 'ready\nno');
  });

  it('stops a paused process too', async () => {
    const one = await start('paused', `setInterval(() => {}, 1000)`);
    one.pause();
    await one.stop();
    assert.deepEqual(one.exit, { code: null, signal: 'SIGTERM' });
  });

  it('rejects for a program that does not exist', async () => {
    await assert.rejects(startProcess({ name: 'x', program: join(dir, 'missing'), args: [], logPath: join(dir, 'x.log') }), {
      code: 'ENOENT',
    });
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    it(`leaves no child behind when its parent ends by ${signal}`, async () => {
      const module = join(import.meta.dirname, '../../../infra/local/managed-process.ts');
      const script = `import { startProcess } from ${JSON.stringify(module)};
        const child = await startProcess({ name: 'c', program: process.execPath, args: ['-e', ${JSON.stringify(STUBBORN)}],
          logPath: ${JSON.stringify(join(dir, `${signal}.log`))} });
        console.log(child.pid); setInterval(() => {}, 1000);`;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => parent.once('exit', (_code, by) => resolve(by)));
      const line = await new Promise<string>((resolve) => createInterface({ input: parent.stdout }).once('line', resolve));
      const pid = Number(line);
      assert.equal(isGone(pid), false);
      parent.kill(signal);
      assert.equal(await ended, signal, 'the parent still ends as the signal has it');
      await untilFound(() => isGone(pid));
    });
  }
});

describe('waitUntilReady', () => {
  it('quotes the last lines of a process that ends before it is ready', async () => {
    const one = await start('dying', `console.error('cannot: disk is full'); process.exit(3)`);
    await assert.rejects(
      waitUntilReady(async () => false, [one], 10),
      /dying ended before it was ready \(exit code 3\).*cannot: disk is full/s,
    );
  });

  it('gives up after its time, and names the log', async () => {
    const one = await start('slow', `setInterval(() => {}, 1000)`);
    await assert.rejects(
      waitUntilReady(async () => false, [one], 0.1),
      /slow is not ready after 0\.1 s; see .*slow\.log/,
    );
    await one.kill();
  });
});
