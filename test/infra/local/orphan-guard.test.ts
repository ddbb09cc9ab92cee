import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { guardAgainstOrphan } from '../../../infra/local/orphan-guard.ts';
import { isGone, untilFound } from './processes.ts';

/** That it kills when we are gone is shown with what it guards: managed-process.test.ts and function-host.test.ts. */
describe('guardAgainstOrphan', { skip: process.platform !== 'linux' && 'reads /proc' }, () => {
  it('ends with the child, so that it never kills another process that gets its number', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    guardAgainstOrphan(child);
    const guard = await untilFound(() => guardOf(child.pid));
    assert.equal(isGone(guard), false);
    child.kill('SIGKILL');
    await untilFound(() => isGone(guard));
  });

  it('guards nothing where the program could not be started, or has ended', async () => {
    const absent = spawn('/nonexistent/program', { stdio: 'ignore' });
    absent.on('error', () => undefined);
    guardAgainstOrphan(absent);
    const ended = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await new Promise((resolve) => ended.once('exit', resolve));
    guardAgainstOrphan(ended);
    assert.equal(guardOf(ended.pid), undefined);
  });
});

/** The process whose last argument is `pid` and that would kill it. */
function guardOf(pid: number | undefined): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .filter((candidate) => candidate > 0)
    .find((candidate) => {
      try {
        const words = readFileSync(`/proc/${candidate}/cmdline`, 'utf8').split('\0');
        return words.some((word) => word.includes('kill -9')) && words.includes(String(pid));
      } catch {
        return false; // it ended meanwhile
      }
    });
}
