import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { takeLock } from '../../../../functions/replay/apply/file-lock.ts';

const root = mkdtempSync(join(tmpdir(), 'dogwatch-lock-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A folder of its own for each test. */
const folder = (name: string): string => mkdtempSync(join(root, `${name}-`));

describe('takeLock', () => {
  it('leaves nothing behind where the disk takes nothing', () => {
    const dir = folder('full');
    const module = JSON.stringify(join(import.meta.dirname, '../../../../functions/replay/apply/file-lock.ts'));
    const script = `process.on('SIGXFSZ', () => {}); const { takeLock } = await import(${module});
      try { takeLock(${JSON.stringify(join(dir, 'lock'))}); } catch ({ code }) { process.exitCode = code === 'EFBIG' ? 3 : 4; }`;
    // No file may become longer than nothing: to a process as good as a disk that is full.
    const command = ['-c', 'ulimit -f 0; exec "$0" --input-type=module -e "$1"', process.execPath, script];
    const { NODE_COMPILE_CACHE: _writes, ...env } = process.env;
    assert.equal(spawnSync('sh', command, { env, timeout: 20_000 }).status, 3);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('writes through no link that somebody has put in its way', () => {
    const dir = folder('link');
    const [path, theirs] = [join(dir, 'lock'), join(dir, 'theirs')];
    writeFileSync(theirs, 'kept');
    symlinkSync(theirs, `${path}.${process.pid}`);
    takeLock(path).release();
    assert.equal(readFileSync(theirs, 'utf8'), 'kept');
    assert.deepEqual(readdirSync(dir), ['theirs']);
  });
});
