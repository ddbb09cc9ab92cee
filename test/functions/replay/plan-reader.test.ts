import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { openPlanFile } from '../../../functions/replay/plan-file.ts';
import { checkPlanQueue, readPlan } from '../../../functions/replay/plan-reader.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dogwatch-plan-')));
after(() => rmSync(dir, { recursive: true, force: true }));

const OBJECT = { cluster: 'east', group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', name: 't' };
const STATE = {
  ...{ uid: 'uid-1', resourceVersion: '1', isSettled: false, isStalled: true, isDeleting: false, isHeld: false, isPaused: false },
  ...{ isSelected: true, conditions: [{ type: 'Ready', status: 'False' }] },
};
const LETTER = { messageId: 'message-1', code: 'invalid', uid: 'uid-1', generation: 2 };
const ITEM = { class: 'to-replay', reason: 'stalled', object: OBJECT, state: STATE, letters: [LETTER] };
const QUEUE = { url: 'https://sqs.example/0/dogwatch-dead-letters', arn: 'arn:aws:sqs:eu-west-1:0:dogwatch-dead-letters' };
const PLAN = { plan: 'dogwatch-replay', version: 1, madeAt: '2026-03-01T12:00:00.000Z', queue: QUEUE, items: [ITEM] };

let count = 0;
function fileOf(content: string | Uint8Array): string {
  count += 1;
  const path = join(dir, `plan-${count}.json`);
  writeFileSync(path, content);
  return path;
}
const planOf = (over: object): string => fileOf(JSON.stringify({ ...PLAN, ...over }));
const itemOf = (over: object): string => planOf({ items: [ITEM, { ...ITEM, letters: [{ ...LETTER, messageId: 'message-2' }], ...over }] });

describe('readPlan', () => {
  it('reads what replay plan writes, with the hash of its bytes', () => {
    const path = join(dir, 'written.json');
    const head = {
      ...({
        plan: 'dogwatch-replay',
        version: 1,
        madeAt: PLAN.madeAt,
        filters: { cluster: 'east' },
        receivedLetters: 2,
        letters: 1,
      } as const),
      queue: { ...QUEUE, retentionSeconds: undefined, depth: { visible: 2, hidden: 0, delayed: 0 } },
      ...{ objects: 1, classes: {}, warnings: [] },
    };
    const state = { ...STATE, generation: 2, observedGeneration: undefined, observedRevision: undefined } as const;
    openPlanFile(path).write(head, [
      { class: 'to-replay', reason: 'stalled', object: OBJECT, state: { ...state, conditions: [] }, letters: [LETTER] },
    ]);
    const plan = readPlan(path);
    assert.deepEqual([plan.path, plan.madeAt, plan.queue], [path, PLAN.madeAt, QUEUE]);
    assert.deepEqual(plan.items[0]?.letters, [LETTER]);
    assert.deepEqual([plan.items[0]?.object, plan.items[0]?.state?.generation], [OBJECT, 2]);
    assert.match(plan.sha256, /^[0-9a-f]{64}$/);
    writeFileSync(path, readFileSync(path, 'utf8').replace('stalled', 'not-settled'));
    assert.notEqual(readPlan(path).sha256, plan.sha256);
  });

  it('takes one that was edited by hand: shorter, in another form, with fields of somebody else', () => {
    const { items } = readPlan(
      fileOf(`\ufeff${JSON.stringify({ ...PLAN, note: 'mine', items: [{ ...ITEM, state: undefined, note: 1 }] }, undefined, 7)}\r\n\n`),
    );
    assert.deepEqual([items.length, items[0]?.state], [1, undefined]);
    assert.deepEqual(readPlan(planOf({ items: [] })).items, []);
  });

  it('has one name, whatever it is called', () => {
    const path = planOf({});
    symlinkSync(path, join(dir, 'link.json'));
    assert.equal(readPlan(join(dir, 'link.json')).path, path);
  });

  const huge = join(dir, 'huge.json');
  before(() => {
    writeFileSync(huge, '');
    truncateSync(huge, 500_000_000); // takes no room on the disk
    mkdirSync(join(dir, 'folder.json'));
  });

  const whole = JSON.stringify(PLAN, undefined, 1);
  const faults: readonly [name: string, path: () => string, code: string, says: RegExp][] = [
    ['an empty name', () => '', 'plan-unreadable', /its name is empty$/],
    ['nothing there', () => join(dir, 'absent.json'), 'plan-unreadable', /absent\.json cannot be used: it is not there$/],
    ['a file for a folder', () => join(planOf({}), 'x.json'), 'plan-unreadable', /it is not there$/],
    ['a folder', () => join(dir, 'folder.json'), 'plan-unreadable', /it is a folder$/],
    ['a device', () => '/dev/zero', 'plan-unreadable', /it is no file$/],
    ['an empty file', () => fileOf(''), 'plan-unreadable', /it is empty$/],
    ['half a gigabyte', () => huge, 'plan-unreadable', /larger than any plan; make plans of fewer letters/],
    ['bytes', () => fileOf(new Uint8Array([0x7b, 0xff, 0xfe])), 'plan-damaged', /it is no text in UTF-8$/],
    ['words', () => fileOf('apply this please: hunter2'), 'plan-damaged', /it is not JSON$/],
    ['a comma too many', () => fileOf(whole.replace('"items"', ', "items"')), 'plan-damaged', /it is not JSON \(line \d+, column \d+\)$/],
    ['half of it', () => fileOf(whole.slice(0, whole.length / 2)), 'plan-damaged', /it is cut off: the end of it is missing/],
    ['all but its last brace', () => fileOf(whole.slice(0, -1)), 'plan-damaged', /it is cut off/],
    ['a list', () => fileOf('[]'), 'no-plan', /no plan of dogwatch replay$/],
    ['null', () => fileOf('null'), 'no-plan', /no plan of dogwatch replay$/],
    ['other JSON', () => planOf({ plan: 'terraform' }), 'no-plan', /no plan of dogwatch replay$/],
    [
      'a later version',
      () => planOf({ version: 2, items: 'otherwise' }),
      'plan-version',
      /version 2, and this release knows 1; make a new plan$/,
    ],
    ['no version', () => planOf({ version: undefined }), 'plan-version', /version none/],
    ['no queue', () => planOf({ queue: undefined }), 'plan-damaged', /: queue: /],
    ['no items', () => planOf({ items: undefined }), 'plan-damaged', /: items: /],
    ['a time that is none', () => planOf({ madeAt: 'yesterday' }), 'plan-damaged', /: madeAt: /],
    ['an unknown class', () => itemOf({ class: 'to-delete' }), 'plan-damaged', /: items\[1\]\.class: /],
    ['no letters', () => itemOf({ letters: [] }), 'plan-damaged', /: items\[1\]\.letters: /],
    ['a letter without id', () => itemOf({ letters: [{ code: 'x' }] }), 'plan-damaged', /: items\[1\]\.letters\[0\]\.messageId: /],
    ['half an object', () => itemOf({ object: { name: 't' } }), 'plan-damaged', /: items\[1\]\.object\.cluster: /],
    ['a state that is none', () => itemOf({ state: { ...STATE, isSettled: 'yes' } }), 'plan-damaged', /: items\[1\]\.state\.isSettled: /],
    ['nothing to replay', () => itemOf({ object: undefined }), 'plan-damaged', /items\[1\] is to be replayed, but is about no object$/],
    ['a letter twice', () => itemOf({ letters: [LETTER] }), 'plan-damaged', /the letter message-1 stands in items\[0\] and in items\[1\]/],
  ];
  for (const [name, path, code, says] of faults) {
    it(`says in a line what is wrong with ${name}, and quotes nothing of it`, () => {
      assert.throws(
        () => readPlan(path()),
        (error) => {
          assert.ok(error instanceof ConfigError, String(error));
          assert.equal(error.code, code);
          assert.match(error.message, says);
          assert.doesNotMatch(error.message, /\n|hunter2/);
          return true;
        },
      );
    });
  }

  it('says of one that we may not read that we may not', { skip: process.getuid?.() === 0 && 'root may read everything' }, () => {
    const path = planOf({});
    chmodSync(path, 0);
    assert.throws(() => readPlan(path), /we may not read it$/);
  });
});

describe('checkPlanQueue', () => {
  const rows = [
    ['its own', QUEUE, true],
    ['its own by another URL', { ...QUEUE, url: 'http://127.0.0.1:9324/0/dogwatch-dead-letters' }, true],
    ['one of another account', { ...QUEUE, arn: 'arn:aws:sqs:eu-west-1:1:dogwatch-dead-letters' }, false],
    ['one of another region', { ...QUEUE, arn: 'arn:aws:sqs:us-east-1:0:dogwatch-dead-letters' }, false],
    ['one that does not say its ARN, by its URL', { ...QUEUE, arn: '' }, true],
    ['another that does not say its ARN', { arn: '', url: 'https://sqs.example/0/other' }, false],
  ] as const;
  for (const [name, queue, isSame] of rows) {
    it(`${isSame ? 'lets a plan near' : 'keeps a plan from'} ${name}`, () => {
      const check = (): void => checkPlanQueue({ path: '/plan.json', queue: QUEUE }, queue);
      if (isSame) check();
      else
        assert.throws(
          check,
          (error) => error instanceof ConfigError && error.code === 'other-queue' && /is of arn:.*, and this is /.test(error.message),
        );
    });
  }
});
