import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** npm hands a signal on to its shell, which dies of it and leaves what it has started running. */
describe('a script of npm that runs until it is stopped', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
    writeFileSync(join(dir, 'node'), '#!/bin/sh\necho $$\n', { mode: 0o755 });
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  for (const name of ['dev', 'lab', 'dogwatch']) {
    it(`is in the place of its shell at the end: ${name}`, () => {
      const env = { PATH: `${dir}${delimiter}${process.env['PATH']}` };
      const { pid, stdout } = spawnSync('/bin/sh', ['-c', `${scripts[name]} "--demo"`], { env, encoding: 'utf8' });
      assert.equal(Number(stdout.trim().split('\n').at(-1)), pid);
    });
  }
});
