/** `dogwatch replay apply` on fakes, with its audit on disk. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { checkBulkQueue } from '../../../../functions/cli/replay/apply.ts';
import { ConfigError, TransientError } from '../../../../functions/core/errors.ts';
import { LETTERS_URL } from '../../../fakes/letter-queue.ts';
import { letterBody } from '../../replay/letters.ts';
import { ActingScene } from './acting-scene.ts';

let scene: ActingScene;
beforeEach(() => {
  scene = new ActingScene();
});
afterEach(() => scene.dispose());

/** Of 3 failing tenants of two letters each, one that is healed, one that is gone, and nobody's. */
async function night(behaviour: 'heals' | 'fails' = 'heals'): Promise<void> {
  const { world } = scene;
  for (const name of ['a', 'b', 'c']) {
    world.tenant(name, { behaviour });
    world.letter(name);
    world.letter(name);
  }
  world.tenant('well', { isSettled: true });
  world.letter('well');
  world.letter('gone', { uid: 'uid-of-gone' });
  world.letters.add(letterBody({ cluster: 'north', name: 'far' }));
  world.letters.add('hello');
  await scene.plan();
}

describe('replay apply', () => {
  it('does the plan after a yes, tells what came of each letter, and leaves the rest', async () => {
    await night();
    scene.answer = 'y';
    assert.equal(await scene.apply({ canary: '2' }), 0);
    assert.deepEqual(scene.asked, ['go on with 8 letters? (y/N) ']);
    assert.deepEqual(scene.told.slice(0, 7), [
      'dogwatch-dead-letters, by the plan of 2026-03-01T13:00:00.000Z:',
      '  to be sent again: 6 letters of 3 objects',
      '    2 first, and the others once those are reconciled, at most 5 a second in a cluster',
      '    nothing more once over 20% failed again, or were not reconciled in 300 s',
      '  to be deleted, since nothing is to be done: 2 letters of 2 objects (1 converged, 1 gone)',
      '  to be left: 2 letters of 1 object (1 unknown, 1 unreadable)',
      `  each object is looked at again right before; what is done is written to ${scene.dir}/night.audit.jsonl`,
    ]);
    assert.deepEqual(scene.printed, [
      '       3  sent again, of as many objects: 3 good',
      '       3  more of those objects, deleted with them',
      '       1  deleted: reconciled since',
      '       1  deleted: not in its cluster any more',
      '       1  left: the plan could not tell what they need; make a new one',
      '       1  left: they do not say what they are about; drop or export them',
      '10 letters received; done',
      `audit: ${scene.dir}/night.audit.jsonl`,
    ]);
    assert.deepEqual([scene.world.letters.stored.length, scene.world.letters.hiddenCount, scene.world.accepted.length], [2, 0, 3]);
  });

  it('has the plan to itself while it asks; does nothing after a no, and leaves no audit behind', async () => {
    await night();
    scene.answer = '';
    assert.equal(await scene.apply({}), 1);
    assert.ok(scene.whenAsked.includes('night.audit.jsonl.lock'));
    assert.deepEqual(
      [scene.told.at(-1), scene.world.letters.receiveCalls, readdirSync(scene.dir)],
      ['nothing was done', 0, ['night.json']],
    );
  });

  it('leaves no audit behind where nobody is there to say yes', async () => {
    await night();
    await assert.rejects(scene.apply({}), { code: 'not-confirmed' });
    assert.deepEqual(readdirSync(scene.dir), ['night.json']);
  });

  it('keeps what was done before after a no', async () => {
    await night('fails');
    await scene.apply({ yes: true, canary: '1', stopAt: '0%' });
    const before = scene.lines('audit');
    scene.answer = '';
    assert.equal(await scene.apply({}), 1);
    assert.equal(scene.asked.length, 1);
    assert.deepEqual(scene.lines('audit'), before);
  });

  it('is one line of JSON for a program, and nothing else', async () => {
    await night();
    assert.equal(await scene.apply({ yes: true, json: true }), 0);
    assert.equal(scene.printed.length, 1);
    const { end, letters, sends, audit } = JSON.parse(scene.printed[0] ?? '');
    assert.deepEqual(
      [end, letters.received, letters.sent, sends.good, letters.missed, audit],
      ['done', 10, 3, 3, 0, `${scene.dir}/night.audit.jsonl`],
    );
  });

  it('stops by itself while the cause persists, and says which objects failed', async () => {
    await night('fails');
    assert.equal(await scene.apply({ yes: true, canary: '1', stopAt: '0%' }), 1);
    const told = scene.told.join('\n');
    assert.match(told, /^bad: east: Tenant [abc]: failed again: (Ready is False|its letter is back)$/m);
    assert.match(told, /^stopping: over 0% of the objects failed again; nothing more is sent$/m);
    assert.match(
      scene.printed.join('\n'),
      /1 {2}sent again, of as many objects: 1 bad\n(.*\n)*.*stopped by itself, since too many failed again/,
    );
    assert.equal(scene.world.accepted.length, 1);
  });

  it('goes on where it was, and does not miss what is done with', async () => {
    await night('fails');
    await scene.apply({ yes: true, canary: '1', stopAt: '0%' });
    for (const name of ['a', 'b', 'c']) scene.world.behaviours.set(name, 'heals');
    await scene.world.clock.advance(400_000);
    scene.told.length = 0;
    scene.printed.length = 0;
    assert.equal(await scene.apply({ yes: true }), 0, scene.printed.join('\n'));
    assert.match(scene.told.join('\n'), /done with before: \d letters of the plan\n {2}to be sent again: 4 letters of 2 objects$/m);
    assert.match(scene.printed.join('\n'), /2 {2}sent again, of as many objects: 2 good/);
    assert.doesNotMatch(scene.printed.join('\n'), /not seen/);
    // And once more, when all is done.
    scene.answer = undefined;
    assert.equal(await scene.apply({}), 0);
  });

  it('misses a letter that somebody else has, and says so', async () => {
    await night();
    scene.world.letters.takeElsewhere(1, 40_000);
    assert.equal(await scene.apply(), 1);
    assert.match(scene.printed.join('\n'), /^ +1 {2}of the plan, and not seen: somebody else has them, or they are gone$/m);
  });

  it('misses a letter, too, where as many come again that were done with before', async () => {
    await night();
    const { letters } = scene.world;
    const remove = letters.remove.bind(letters);
    letters.remove = async (handles) => [...handles.keys()];
    await scene.apply();
    letters.remove = remove;
    const other = letters.stored.find(({ body }) => body === 'hello') ?? assert.fail();
    other.visibleAtMs = Number.MAX_SAFE_INTEGER;
    scene.printed.length = 0;
    assert.equal(await scene.apply(), 1);
    assert.match(scene.printed.join('\n'), /^ +1 {2}of the plan, and not seen/m);
  });

  it('tells of a cluster that is down, and what is left for that', async () => {
    scene.world.tenant('far', { cluster: 'west' });
    scene.world.letter('far', { cluster: 'west' });
    await scene.plan();
    scene.world.cluster('west').fault({ verb: 'get' }, { throw: new TransientError('unreachable', 'no way \u001b[2J') }, 100);
    assert.equal(await scene.apply(), 1);
    assert.match(scene.told.join('\n'), /^warning: west: no way \ufffd\[2J; its letters are left$/m);
    assert.match(scene.printed.join('\n'), /^ +1 {2}left: its cluster cannot be reached$/m);
  });

  it('says why it stopped where credentials expire, and that it goes on from there', async () => {
    await night();
    const { letters } = scene.world;
    letters.beforeReceive = (call) => {
      if (call > 3) throw new ConfigError('aws-refused', 'SQS refuses letters (ExpiredToken); look at the AWS credentials');
    };
    assert.equal(await scene.apply(), 1);
    assert.match(
      scene.printed.join('\n'),
      /stopped: SQS refuses letters \(ExpiredToken\); look at the AWS credentials; the same command goes on from here$/m,
    );
    assert.equal(letters.hiddenCount, 0);
  });

  it('ends after a signal with what is under way, and gives back the rest', async () => {
    await night();
    scene.world.answer = () => {
      scene.stop.abort();
      return { kind: 'sent' };
    };
    assert.equal(await scene.apply(), 1);
    assert.match(scene.printed.at(-2) ?? '', /stopped; the same command goes on from here$/);
    assert.equal(scene.world.letters.hiddenCount, 0);
    assert.ok(!existsSync(join(scene.dir, 'night.audit.jsonl.lock')));
  });

  it('does not take what was sent by another plan of that name for letters that came since', async () => {
    const { world } = scene;
    const { letters } = world;
    world.tenant('a', { behaviour: 'fails' });
    world.letter('a');
    await scene.plan();
    const remove = letters.remove.bind(letters);
    letters.remove = async (handles) => [...handles.keys()];
    await scene.apply();
    letters.remove = remove;
    await world.clock.advance(400_000);
    await scene.plan();
    const before = letters.stored.length;
    await assert.rejects(scene.apply(), { code: 'audit-other-plan' });
    assert.deepEqual([before, letters.stored.length, letters.hiddenCount], [2, 2, 0]);
  });

  it('leaves a plan alone that another process works on, and asks nobody', async () => {
    await night();
    scene.answer = 'y';
    writeFileSync(join(scene.dir, 'night.audit.jsonl.lock'), JSON.stringify({ pid: process.pid, host: 'elsewhere' }));
    await assert.rejects(
      scene.apply({}),
      (error) => error instanceof ConfigError && /process \d+ on elsewhere works on this plan/.test(error.message),
    );
    assert.deepEqual([scene.asked, scene.world.letters.receiveCalls], [[], 0]);
  });
});

describe('the bulk queue of an apply', () => {
  const dead = { url: LETTERS_URL, arn: 'arn:of:dead-letters' };
  const rows: readonly [name: string, url: string, answer: string | undefined | Error, code: string | undefined][] = [
    ['whose dead letters these are', 'https://sqs/0/bulk', 'arn:of:dead-letters', undefined],
    ['that does not say whose they are', 'https://sqs/0/bulk', undefined, undefined],
    ['that we may not ask', 'https://sqs/0/bulk', new ConfigError('aws-refused', 'no'), undefined],
    ['of another stage', 'https://sqs/0/bulk', 'arn:of:other-dead-letters', 'other-stage'],
    ['that is not there', 'https://sqs/0/bulk', new ConfigError('queue-missing', 'no'), 'queue-missing'],
    ['that does not answer', 'https://sqs/0/bulk', new TransientError('queue-unreachable', 'no'), 'queue-unreachable'],
    ['that is the dead-letter queue', 'https://other/0/dogwatch-dead-letters', undefined, 'other-stage'],
  ];
  for (const [name, url, answer, code] of rows) {
    it(`${code === undefined ? 'may be' : 'may not be'} one ${name}`, async () => {
      const check = checkBulkQueue(url, dead, async () => {
        if (answer instanceof Error) throw answer;
        return { redriveTargetArn: answer };
      });
      if (code === undefined) await check;
      else await assert.rejects(check, { code });
    });
  }
});
