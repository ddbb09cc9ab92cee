import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
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

describe('removeWhenOrphaned', { skip: process.platform === 'win32' && 'needs a shell' }, () => {
  const module = join(import.meta.dirname, '../../../infra/local/orphan-guard.ts');
  const root = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  /** The folder that a process has made before it is killed. */
  async function folderOfKilled(name: string, whatThen = ''): Promise<string> {
    const folder = join(root, name);
    mkdirSync(join(folder, 'inner'), { recursive: true });
    const script = `import { removeWhenOrphaned } from ${JSON.stringify(module)};
      const end = removeWhenOrphaned(${JSON.stringify(folder)}); ${whatThen}; process.kill(process.pid, 'SIGKILL')`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    await new Promise((resolve) => parent.once('exit', resolve));
    return folder;
  }

  it('removes the folder after a SIGKILL, whatever its name has', async () => {
    const folder = await folderOfKilled('-a "b" $c');
    await untilFound(() => !existsSync(folder));
  });

  it('keeps it where its owner has called it off', async () => {
    const kept = await folderOfKilled('kept', 'end()');
    const removed = await folderOfKilled('removed'); // whose guard began later
    await untilFound(() => !existsSync(removed));
    assert.equal(existsSync(kept), true);
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
