import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { cached, hashFiles, userCacheDir } from '../../../infra/local/user-cache.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const entry = (build: (dir: string) => Promise<void>) => ({ parent, version: 'v1', contains: ['a', 'b'], build });
const writeBoth = (text: string) => async (dir: string) => {
  for (const name of ['a', 'b']) writeFileSync(join(dir, name), text);
};

describe('cached', () => {
  it('builds what is missing, and only then', async () => {
    const dir = await cached(entry(writeBoth('one')));
    assert.equal(await cached(entry(writeBoth('two'))), dir);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), 'one');
  });

  it('builds again where a file was taken out', async () => {
    const dir = await cached(entry(writeBoth('one')));
    rmSync(join(dir, 'b'));
    await cached(entry(writeBoth('two')));
    assert.equal(readFileSync(join(dir, 'b'), 'utf8'), 'two');
    assert.deepEqual(readdirSync(parent), ['v1']);
  });

  it('leaves nothing when the build fails', async () => {
    await assert.rejects(
      cached(
        entry(async (dir) => {
          writeFileSync(join(dir, 'a'), 'half');
          throw new Error('no');
        }),
      ),
      /^Error: no$/,
    );
    assert.deepEqual(readdirSync(parent), []);
  });

  it('keeps the first of two builders that finish', async () => {
    const { promise: firstIsDone, resolve } = Promise.withResolvers<void>();
    const second = cached(
      entry(async (dir) => {
        await firstIsDone;
        await writeBoth('second')(dir);
      }),
    );
    const dir = await cached(entry(writeBoth('first')));
    resolve();
    assert.equal(await second, dir);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), 'first');
    assert.deepEqual(readdirSync(parent), ['v1']);
  });
});

describe('hashFiles', () => {
  it('depends on every file, and on where one ends and the next begins', async () => {
    const [a, b] = [join(parent, 'a'), join(parent, 'b')];
    const hashOf = async (textA: string, textB: string) => {
      writeFileSync(a, textA);
      writeFileSync(b, textB);
      return await hashFiles([a, b]);
    };
    const hashes = [await hashOf('x', 'y'), await hashOf('xy', ''), await hashOf('x', 'z'), await hashOf('z', 'y')];
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(await hashOf('x', 'y'), hashes[0]);
    assert.match(hashes[0] as string, /^[0-9a-f]{16}$/);
  });
});

describe('userCacheDir', () => {
  it('follows XDG_CACHE_HOME, and takes ~/.cache without it', () => {
    assert.equal(userCacheDir({ XDG_CACHE_HOME: '/x' }), '/x/dogwatch');
    assert.equal(userCacheDir({ XDG_CACHE_HOME: '' }), join(homedir(), '.cache/dogwatch'));
    assert.equal(existsSync(userCacheDir({ XDG_CACHE_HOME: join(parent, 'none') })), false, 'it makes nothing');
  });
});
