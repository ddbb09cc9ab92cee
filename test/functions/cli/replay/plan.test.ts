/** `dogwatch replay plan` and `ls` on fakes. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { listLetters } from '../../../../functions/cli/replay/ls.ts';
import { makePlan } from '../../../../functions/cli/replay/plan.ts';
import { ConfigError, TransientError } from '../../../../functions/core/errors.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import type { FilterWords } from '../../../../functions/replay/letter-filter.ts';
import type { PlanHead, PlanItem, PlanWords } from '../../../../functions/replay/plan.ts';
import { openPlanFile } from '../../../../functions/replay/plan-file.ts';
import { after } from '../../core/example-data.ts';
import { letterBody, movedBody } from '../../replay/letters.ts';
import { ReplayScene } from './scene.ts';

const SETTLED = {
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status: 'True', reason: 'Reconciled', lastTransitionTime: '2026-03-01T12:30:00Z' }],
};
const FAILED = { conditions: [{ type: 'Ready', status: 'False', reason: 'Invalid', message: 'spec.quota: must be set' }] };

let dir: string;
let scene: ReplayScene;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-replay-'));
  scene = new ReplayScene();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function plan(words: PlanWords = {}, json = false): Promise<{ code: number; head: PlanHead; items: readonly PlanItem[] }> {
  const path = join(dir, 'plan.json');
  const file = openPlanFile(path);
  try {
    const code = await scene.clock.finish(makePlan(await scene.desk(json), scene.source, words, file));
    const { items, ...head } = JSON.parse(readFileSync(path, 'utf8')) as PlanHead & { items: PlanItem[] };
    return { code, head, items };
  } finally {
    file.dispose();
  }
}

/** Letters of four tenants, and of nobody. */
function fill(): void {
  const due = scene.tenant('due', FAILED);
  const healed = scene.tenant('healed', SETTLED);
  scene.tenant('again');
  for (let at = 0; at < 3; at += 1) scene.queue.add(letterBody({ name: 'due', uid: due }), { sentAtMs: after(60 + at).getTime() });
  scene.queue.add(movedBody({ name: 'due', uid: due }), { sentAtMs: after(-7200).getTime() });
  scene.queue.add(letterBody({ name: 'healed', uid: healed }, { code: 'forbidden' }));
  scene.queue.add(letterBody({ name: 'again', uid: 'uid-of-the-first' }));
  scene.queue.add(letterBody({ name: 'gone' }));
  scene.queue.add(letterBody({ cluster: 'west', name: 'far' }));
  scene.queue.add(letterBody({ cluster: 'north', name: 'lost' }));
  scene.queue.add('\u001b[2Jhello');
  scene.west.fault({ verb: 'get' }, { throw: new TransientError('unreachable', 'the cluster cannot be reached \u001b[31m') }, 100);
}

describe('replay plan', () => {
  it('is of no more objects than the limit says, those whose letters SQS deletes first, and says so', async () => {
    fill();
    const { code, head, items } = await plan({ limit: '1' });
    assert.equal(code, 0);
    assert.deepEqual([head.filters, head.letters, head.objects, head.receivedLetters], [{ limit: '1' }, 4, 1, 10]);
    assert.deepEqual(
      items.map(({ object, letters }) => [object?.name, letters.length]),
      [['due', 4]],
    );
  });

  it('receives nothing where the limit is no count', async () => {
    fill();
    await assert.rejects(plan({ limit: 'all' }), ({ code }: ConfigError) => code === 'usage');
    assert.equal(scene.queue.receiveCalls, 0);
  });

  it('classes each letter by its object as it is now, and holds none of them', async () => {
    fill();
    const { code, head, items } = await plan();
    assert.equal(code, 0);
    assert.deepEqual(
      items.map(({ class: name, reason, object, letters }) => [name, reason, object?.name, letters.length]),
      [
        ['to-replay', 'not-settled', 'due', 4],
        ['converged', 'settled', 'healed', 1],
        ['gone', 'gone', 'gone', 1],
        ['superseded', 'other-uid', 'again', 1],
        ['unknown', 'unknown-cluster', 'lost', 1],
        ['unknown', 'unreachable', 'far', 1],
        ['unreadable', 'foreign', undefined, 1],
      ],
    );
    assert.deepEqual([head.receivedLetters, head.letters, head.objects, head.version], [10, 10, 6, 1]);
    assert.deepEqual(items[0]?.state?.conditions, FAILED.conditions);
    assert.equal(scene.queue.hiddenCount, 0);
    assert.equal(scene.east.requestsOf('get').length, 4);
  });

  it('tells counts and reasons, and where the plan is', async () => {
    fill();
    await plan();
    const text = scene.printed.join('\n');
    assert.match(text, /^to replay +1 +4 {2}not reconciled for its generation$/m);
    assert.match(text, /^unknown +1 +1 {2}its cluster cannot be reached$/m);
    assert.match(text, /^east +Tenant {2}due +to replay +not-settled +4 +1\/- +False Invalid$/m);
    assert.match(text, /10 letters of 6 objects; nothing was sent or deleted\nplan: .*plan\.json$/);
    assert.equal(scene.said.join('\n'), 'warning: west: the cluster cannot be reached \ufffd[31m');
  });

  it('holds what matches the filters only, and says what those were', async () => {
    fill();
    const { head, items } = await plan({ cluster: 'east', code: 'undiagnosed' });
    assert.deepEqual([head.receivedLetters, head.letters, head.filters], [10, 1, { cluster: 'east', code: 'undiagnosed' }]);
    assert.deepEqual(
      items.map(({ object }) => object?.name),
      ['due'],
    );
    assert.equal(scene.west.requests.length, 0);
  });

  it('keeps spec and body out of plan and output', async () => {
    fill();
    await plan();
    assert.doesNotMatch(`${readFileSync(join(dir, 'plan.json'), 'utf8')}${scene.printed.join()}`, /hunter2|hello/);
  });

  it('is a line of JSON for a program', async () => {
    fill();
    const { head } = await plan({}, true);
    assert.deepEqual(JSON.parse(scene.printed.join('')), { ...head, path: join(dir, 'plan.json') });
  });

  it('writes a plan of an empty queue', async () => {
    const { head, items } = await plan();
    assert.deepEqual([head.letters, items, head.classes], [0, [], {}]);
  });

  it('takes back nothing it has told when it is stopped: no plan, and no letter hidden', async () => {
    fill();
    scene.queue.beforeReceive = () => scene.stop.abort();
    await assert.rejects(plan(), { code: 'ENOENT' });
    assert.deepEqual(readdirSync(dir), []);
    assert.equal(scene.queue.hiddenCount, 0);
    assert.match(scene.said.join('\n'), /^stopped: of (\d+) letters seen, \1 were given back, and nothing else was done$/);
  });

  it('does not wait for letters that are slow to be given back, but ends when they are', async () => {
    fill();
    scene.queue.isStuck = (call) => call < 3;
    const file = openPlanFile(join(dir, 'plan.json'));
    let hiddenAtWrite = 0;
    const write: typeof file.write = (head, items) => {
      hiddenAtWrite = scene.queue.hiddenCount;
      file.write(head, items);
    };
    await scene.clock.finish(makePlan(await scene.desk(), scene.source, {}, { ...file, write }));
    assert.deepEqual([hiddenAtWrite, scene.queue.hiddenCount], [10, 0]);
  });

  it('ends while it reads objects as well', async () => {
    fill();
    scene.east.fault({ verb: 'get' }, { first: () => scene.stop.abort() }, 1);
    await assert.rejects(plan(), { code: 'ENOENT' });
    assert.equal(scene.said.at(-1), 'stopped: letters are given back, and no plan was written');
  });

  it('receives nothing for a filter that is none', async () => {
    fill();
    await assert.rejects(plan({ since: 'then' }), ConfigError);
    assert.equal(scene.queue.receiveCalls, 0);
  });

  it('says that somebody else receives, in the plan as well', async () => {
    fill();
    scene.queue.takeElsewhere(2, 900);
    const { head } = await plan();
    assert.match(head.warnings.join('\n'), /2 letters hidden before we began: somebody else receives/);
    assert.deepEqual(
      scene.said.filter((line) => line.includes('hidden')),
      head.warnings.map((text) => `warning: ${text}`),
    );
  });
});

describe('replay ls', () => {
  const ls = async (words: FilterWords = {}, json = false): Promise<number> =>
    scene.clock.finish(listLetters(await scene.desk(json), words));

  it('lists by cluster, kind and code, what SQS deletes first at the top', async () => {
    fill();
    scene.queue.retentionSeconds = 4 * 86_400;
    assert.equal(await ls(), 0);
    assert.deepEqual(scene.printed, [
      'CLUSTER  KIND    CODE         LETTERS  OBJECTS  OLDEST                NEWEST                LEFT',
      'east     Tenant  undiagnosed        1        1  2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  3d 20h',
      'east     Tenant  invalid            5        3  2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  3d 23h',
      'east     Tenant  forbidden          1        1  2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  3d 23h',
      'north    Tenant  invalid            1        1  2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  3d 23h',
      'west     Tenant  invalid            1        1  2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  3d 23h',
      '-        -       foreign            1        0  2026-03-01T13:00:00Z  2026-03-01T13:00:00Z  3d 23h',
      'dogwatch-dead-letters: 10 letters of 6 objects',
    ]);
    assert.equal(scene.queue.hiddenCount, 0);
    assert.deepEqual([scene.east.requests.length, scene.west.requests.length], [0, 0]);
  });

  it('says of how many they are, where filters leave some out', async () => {
    fill();
    await ls({ code: 'forbidden' });
    assert.equal(scene.printed.at(-1), 'dogwatch-dead-letters: 1 letter (of 10) of 1 object');
  });

  it('shows a code that plays with the terminal as harmless text', async () => {
    scene.queue.add(letterBody({}, { code: '\u001b[2Jboo\u202e' }));
    await ls();
    assert.match(scene.printed[1] ?? '', /\ufffd\[2Jboo\ufffd/);
  });

  it('is a line of JSON for a program', async () => {
    fill();
    await ls({ cluster: 'east' }, true);
    const { received, letters, objects, groups } = JSON.parse(scene.printed.join('')) as Record<string, unknown>;
    assert.deepEqual([received, letters, objects], [10, 7, 4]);
    assert.deepEqual((groups as object[])[0], {
      ...{ cluster: 'east', kind: 'Tenant', group: tenant.resource.group, code: 'undiagnosed', letters: 1, objects: 1 },
      ...{ oldest: '2026-03-01T12:00:00.000Z', newest: '2026-03-01T12:00:00.000Z', expires: '2026-03-15T10:00:00.000Z' },
    });
  });

  it('says so where there is none', async () => {
    assert.equal(await ls(), 0);
    assert.deepEqual(scene.printed, ['dogwatch-dead-letters: 0 letters of 0 objects']);
  });

  it('lists nothing when it is stopped', async () => {
    fill();
    scene.stop.abort();
    assert.equal(await ls(), 1);
    assert.deepEqual(scene.printed, []);
  });
});
