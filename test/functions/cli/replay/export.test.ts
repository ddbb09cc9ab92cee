import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { exportLetters } from '../../../../functions/cli/replay/export.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { openExportFolder } from '../../../../functions/replay/export-folder.ts';
import type { FilterWords } from '../../../../functions/replay/letter-filter.ts';
import { letterBody } from '../../replay/letters.ts';
import { ReplayScene } from './scene.ts';

let dir: string;
let folder: string;
let scene: ReplayScene;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-export-'));
  folder = join(dir, 'letters');
  scene = new ReplayScene();
  scene.queue.add(letterBody({ name: 'a' }), { attributes: { code: 'invalid', cluster: 'east' } });
  scene.queue.add(letterBody({ name: 'b', cluster: 'west' }, { code: 'forbidden' }));
  scene.queue.add('not\nJSON \u2028 at all');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function run(words: FilterWords = {}, json = false): Promise<number> {
  const out = openExportFolder(folder);
  try {
    return await scene.clock.finish(exportLetters(await scene.desk(json), words, out));
  } finally {
    out.dispose();
  }
}
const exported = (): Record<string, unknown>[] =>
  readFileSync(join(folder, 'letters.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('replay export', () => {
  it('has each letter as it is, in a line, and leaves all in the queue', async () => {
    assert.equal(await run(), 0);
    assert.deepEqual(
      exported().map(({ body }) => body),
      scene.queue.stored.map(({ body }) => body),
    );
    assert.deepEqual(exported()[0], {
      ...{ messageId: 'message-1', sentAt: '2026-03-01T13:00:00.000Z', receiveCount: 1 },
      ...{ attributes: { code: 'invalid', cluster: 'east' }, body: letterBody({ name: 'a' }), kind: 'diagnosed', code: 'invalid' },
    });
    assert.deepEqual([scene.queue.stored.length, scene.queue.hiddenCount, scene.queue.removeCalls], [3, 0, 0]);
    assert.deepEqual(scene.printed, [
      'dogwatch-dead-letters: 3 letters of 3 exported; nothing was sent or deleted',
      `letters: ${join(folder, 'letters.jsonl')}`,
    ]);
  });

  it('says beside them what they are, and is for its owner only', async () => {
    await run({ code: 'forbidden' });
    assert.equal(exported().length, 1);
    const about = JSON.parse(readFileSync(join(folder, 'export.json'), 'utf8'));
    assert.deepEqual([about.filters, about.letters, about.receivedLetters, about.version], [{ code: 'forbidden' }, 1, 3, 1]);
    assert.deepEqual(readdirSync(folder).sort(), ['export.json', 'letters.jsonl']);
    assert.deepEqual(
      [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o600, 0o600],
    );
  });

  it('is one line of JSON for a program', async () => {
    await run({}, true);
    assert.equal(scene.printed.length, 1);
    assert.equal(JSON.parse(scene.printed[0] ?? '').path, join(folder, 'letters.jsonl'));
  });

  it('takes an empty folder, and one that is not there', async () => {
    mkdirSync(folder);
    assert.equal(await run(), 0);
    folder = join(dir, 'deep', 'er');
    assert.equal(await run(), 0);
  });

  it('refuses a folder with anything in it, and what is none, and receives nothing', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, '.hidden'), '');
    await assert.rejects(run(), (error) => error instanceof ConfigError && /it has files in it; name another folder$/.test(error.message));
    folder = join(folder, '.hidden');
    await assert.rejects(run(), /it is no folder; name another folder$/);
    folder = '';
    await assert.rejects(run(), /its name is empty/);
    assert.equal(scene.queue.receiveCalls, 0);
  });

  it('leaves nothing behind where it is stopped', async () => {
    scene.queue.beforeReceive = () => scene.stop.abort();
    assert.equal(await run(), 1);
    assert.equal(scene.said.at(-1), 'no letter was exported');
    assert.ok(!existsSync(folder));
  });

  it('leaves nothing behind where the queue fails', async () => {
    scene.queue.beforeReceive = () => {
      throw new ConfigError('aws-refused', 'expired');
    };
    mkdirSync(folder);
    await assert.rejects(run(), { code: 'aws-refused' });
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('gives letters back where the disk is full', async () => {
    const out = openExportFolder(folder);
    const add = (): void => {
      throw new ConfigError('out-unwritable', 'ENOSPC');
    };
    await assert.rejects(scene.clock.finish(exportLetters(await scene.desk(), {}, { ...out, add })), { code: 'out-unwritable' });
    out.dispose();
    assert.equal(scene.queue.hiddenCount, 0);
    assert.ok(!existsSync(folder));
  });
});
