/** `dogwatch replay drop` on fakes, with its file on disk. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { classesOf } from '../../../../functions/cli/replay/drop.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { letterBody } from '../../replay/letters.ts';
import { ActingScene } from './acting-scene.ts';

let scene: ActingScene;
beforeEach(() => {
  scene = new ActingScene();
});
afterEach(() => scene.dispose());

/** A failing tenant of two letters, one that is healed, one that is gone, one of a cluster nobody knows, and nobody's. */
async function night(): Promise<void> {
  const { world } = scene;
  world.tenant('due');
  world.letter('due');
  world.letter('due');
  world.tenant('well', { isSettled: true });
  world.letter('well');
  world.letter('gone', { uid: 'uid-of-gone' });
  world.letters.add(letterBody({ cluster: 'north', name: 'lost\u001b[2J' }));
  world.letters.add('hello');
  await scene.plan();
}

describe('replay drop', () => {
  it('deletes what needs nothing and what nobody can read, after a yes, and keeps it', async () => {
    await night();
    scene.answer = 'y';
    assert.equal(await scene.drop({}), 0);
    assert.deepEqual(scene.asked, ['go on with 3 letters? (y/N) ']);
    assert.deepEqual(scene.told, [
      'dogwatch-dead-letters, by the plan of 2026-03-01T13:00:00.000Z:',
      '  to be deleted, with nothing in their place: 3 letters of 2 objects (1 converged, 1 gone, 1 unreadable)',
      '  to be left: 3 letters of 2 objects (2 to replay, 1 unknown)',
      `  each is written to ${scene.dir}/night.dropped.jsonl before`,
    ]);
    assert.deepEqual(scene.printed, [
      '       3  dropped',
      '       3  of the plan, and left',
      '6 letters received; done',
      `letters: ${scene.dir}/night.dropped.jsonl`,
    ]);
    assert.deepEqual(
      scene.lines('dropped').map(({ kind, class: name }) => name ?? kind),
      ['begin', 'converged', 'gone', 'unreadable', 'deleted', 'end'],
    );
    assert.equal(scene.lines('dropped')[3]?.['body'], 'hello');
    assert.deepEqual([scene.world.letters.stored.length, scene.world.letters.hiddenCount], [3, 0]);
    assert.equal(scene.world.accepted.length, 0);
  });

  it('names the objects whose letters are to go although they need something, or nobody knows', async () => {
    await night();
    scene.answer = 'n';
    assert.equal(await scene.drop({ class: ['to-replay', 'unknown'] }), 1);
    assert.deepEqual(scene.told.slice(1, 4), [
      '  to replay: east: Tenant due: 2 letters: not reconciled for its generation',
      '  unknown: north: Tenant lost\ufffd[2J: 1 letter: its cluster is not in the registry',
      '  to be deleted, with nothing in their place: 3 letters of 2 objects (2 to replay, 1 unknown)',
    ]);
    assert.deepEqual(
      [scene.told.at(-1), readdirSync(scene.dir), scene.world.letters.receiveCalls],
      ['nothing was done', ['night.json'], 0],
    );
  });

  it('has its file to itself while it asks, and leaves it to the process that has it, asking nobody', async () => {
    await night();
    scene.answer = 'n';
    assert.equal(await scene.drop({}), 1);
    assert.ok(scene.whenAsked.includes('night.dropped.jsonl.lock'));
    scene.asked.length = 0;
    writeFileSync(join(scene.dir, 'night.dropped.jsonl.lock'), JSON.stringify({ pid: process.pid, host: 'elsewhere' }));
    await assert.rejects(scene.drop({}), { code: 'audit-locked' });
    assert.deepEqual([scene.asked, scene.world.letters.receiveCalls], [[], 0]);
  });

  it('leaves no file behind where nobody is there to say yes', async () => {
    await night();
    await assert.rejects(scene.drop({}), { code: 'not-confirmed' });
    assert.deepEqual(readdirSync(scene.dir), ['night.json']);
  });

  it('is one line of JSON for a program', async () => {
    await night();
    assert.equal(await scene.drop({ yes: true, json: true, class: ['unreadable'] }), 0);
    assert.equal(scene.printed.length, 1);
    const { end, letters, classes, path } = JSON.parse(scene.printed[0] ?? '');
    assert.deepEqual(
      [end, letters.dropped, classes, letters.missed, path],
      ['done', 1, ['unreadable'], 0, `${scene.dir}/night.dropped.jsonl`],
    );
  });

  it('has nothing left to do the second time, and asks nobody', async () => {
    await night();
    await scene.drop();
    assert.equal(await scene.drop({}), 0);
    assert.match(
      scene.told.join('\n'),
      /done with before: 3 letters of these classes\n {2}to be deleted, with nothing in their place: 0 letters$/m,
    );
    assert.match(scene.printed.join('\n'), /^ +3 {2}dropped before$/m);
  });

  it('does not miss what an apply has deleted, and an apply does not miss what was dropped', async () => {
    await night();
    assert.equal(await scene.drop({ yes: true, class: ['unreadable', 'gone'] }), 0);
    assert.equal(await scene.apply(), 0, scene.printed.join('\n'));
    assert.equal(await scene.drop(), 0, scene.printed.join('\n'));
    assert.deepEqual(
      scene.world.letters.stored.map(({ body }) => body),
      [letterBody({ cluster: 'north', name: 'lost\u001b[2J' })],
    );
  });

  it('misses a letter, too, where as many come again that an apply was done with', async () => {
    await night();
    const { letters } = scene.world;
    const remove = letters.remove.bind(letters);
    letters.remove = async (handles) => [...handles.keys()];
    await scene.apply();
    letters.remove = remove;
    const other = letters.stored.find(({ body }) => body === 'hello') ?? assert.fail();
    other.visibleAtMs = Number.MAX_SAFE_INTEGER;
    assert.equal(await scene.drop(), 1);
    assert.match(scene.printed.join('\n'), /^ +1 {2}of the plan, and not seen/m);
  });

  it('says what somebody else has', async () => {
    await night();
    scene.world.letters.takeElsewhere(6, 40_000);
    assert.equal(await scene.drop(), 1);
    assert.match(scene.printed.join('\n'), /^ +3 {2}of the plan, and not seen: somebody else has them, or they are gone$/m);
  });

  it('says of what is in its file that cannot be read', async () => {
    await night();
    writeFileSync(join(scene.dir, 'night.dropped.jsonl'), '{"kind":"letter","messageId":"message-3","bo');
    assert.equal(await scene.drop(), 0);
    assert.match(
      scene.told.join('\n'),
      /^warning: 1 line of .*night\.dropped\.jsonl cannot be read; no letter counts as written by them$/m,
    );
  });

  it('keeps away from the letters of another queue', async () => {
    await night();
    const { letters } = scene.world;
    const own = await letters.describe();
    letters.describe = async () => ({ ...own, arn: 'arn:of:another' });
    await assert.rejects(scene.drop(), (error) => error instanceof ConfigError && error.code === 'other-queue');
    assert.equal(letters.receiveCalls, 0);
  });
});

describe('the classes of a drop', () => {
  it('are those that need nothing, and what cannot be read', () => {
    assert.deepEqual([...classesOf(undefined)], ['converged', 'gone', 'superseded', 'unreadable']);
    assert.deepEqual([...classesOf(['unknown'])], ['unknown']);
  });

  for (const word of ['', 'Gone', 'to replay', 'all'])
    it(`do not include ${JSON.stringify(word)}`, () =>
      assert.throws(
        () => classesOf(['gone', word]),
        /is no class of a plan; there are to-replay, converged, gone, superseded, unknown, unreadable$/,
      ));
});
