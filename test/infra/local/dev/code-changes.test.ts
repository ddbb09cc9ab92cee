import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { onCodeChange } from '../../../../infra/local/dev/code-changes.ts';

describe('onCodeChange', () => {
  let root: string;
  let end: () => void = () => undefined;
  const told: string[] = [];
  const unwatched: [folder: string, reason: string][] = [];
  let wake: () => void = () => undefined;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-changes-'));
    mkdirSync(join(root, 'inner'));
    writeFileSync(join(root, 'inner/a.ts'), '1');
    const changed = (file: string): void => {
      told.push(file);
      wake();
    };
    const absent = join(root, 'absent');
    end = onCodeChange({ trees: [root], folders: [absent, join(root, 'absent too')] }, changed, (...fault) => unwatched.push(fault));
  });
  after(() => {
    end();
    rmSync(root, { recursive: true, force: true });
  });

  /** What is told next, after `change`. */
  async function toldAfter(change: () => void): Promise<string | undefined> {
    told.length = 0;
    const next = new Promise<void>((resolve) => {
      wake = resolve;
    });
    change();
    await next;
    assert.equal(told.length, 1);
    return told[0];
  }

  const a = (): string => join(root, 'inner/a.ts');
  const replace = (text: string): void => {
    writeFileSync(`${a()}.new`, text);
    renameSync(`${a()}.new`, a());
  };

  it('tells of a file that is written, in a folder below too, once for several writes', { timeout: 10_000 }, async () => {
    const many = (): void => {
      for (const text of ['2', '3']) writeFileSync(a(), text);
    };
    assert.equal(await toldAfter(many), a());
  });

  it('tells of a file that is replaced, and again of the one in its place', { timeout: 10_000 }, async () => {
    assert.equal(await toldAfter(() => replace('4')), a());
    assert.equal(await toldAfter(() => replace('5')), a());
    assert.equal(await toldAfter(() => writeFileSync(a(), '6')), a());
  });

  it('watches a folder alone where that is asked', { timeout: 10_000 }, async () => {
    const heard: string[] = [];
    let endAlone: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      const changed = (file: string): void => {
        heard.push(file);
        resolve();
      };
      endAlone = onCodeChange({ trees: [], folders: [root] }, changed, (...fault) => unwatched.push(fault));
    });
    await toldAfter(() => writeFileSync(a(), '7'));
    await toldAfter(() => writeFileSync(join(root, 'd.ts'), '1'));
    await first;
    endAlone();
    assert.deepEqual(heard, [join(root, 'd.ts')]);
  });

  it('tells of code in a new folder, and not of other files', { timeout: 10_000 }, async () => {
    const made = join(root, 'made');
    assert.equal(
      await toldAfter(() => {
        mkdirSync(made);
        writeFileSync(join(root, 'notes.md'), '1');
        writeFileSync(join(root, 'b.ts'), '1');
      }),
      join(root, 'b.ts'),
    );
    assert.equal(await toldAfter(() => writeFileSync(join(made, 'c.ts'), '1')), join(made, 'c.ts'));
  });

  it('says of folders that cannot be watched why, once, and watches the others', () => {
    assert.deepEqual(unwatched, [[join(root, 'absent'), 'ENOENT']]);
  });
});
