/** From letters and readings to a plan, and to its file. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after as afterAll, describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { changesSince } from '../../../functions/replay/changes.ts';
import { LetterReader } from '../../../functions/replay/letter-record.ts';
import { countClasses, PLAN_VERSION, type PlanHead, type PlanItem } from '../../../functions/replay/plan.ts';
import { defaultPlanName, openPlanFile } from '../../../functions/replay/plan-file.ts';
import type { Reading } from '../../../functions/replay/verdict.ts';
import { after } from '../core/example-data.ts';
import { letterBody, movedBody, record, TARGET } from './letters.ts';
import { draftOf, planItems } from './plans.ts';

const RECONCILERS = [tenant as unknown as Reconciler];
const found = (uid: string, isSettled = false): Reading => ({
  kind: 'found',
  state: {
    ...{ uid, resourceVersion: '9', generation: 2, observedGeneration: 1, observedRevision: 1, isSettled, isStalled: false },
    ...{ isDeleting: false, isHeld: false, isPaused: false, isSelected: true, conditions: [] },
  },
});
const short = (items: readonly PlanItem[]): unknown[] =>
  items.map(({ class: name, reason, object, letters }) => [name, reason, object?.name, letters.map(({ messageId }) => messageId).join()]);

describe('PlanDraft', () => {
  it('folds the letters of one object, and tells those of its predecessors apart', () => {
    const letters = [
      record({ messageId: 'a' }),
      record({ messageId: 'b', uid: undefined }),
      record({ messageId: 'c', uid: 'uid-0' }),
      record({ messageId: 'd', uid: 'uid-0' }),
    ];
    const items = planItems(letters, new Map([[TARGET, found('uid-1')]]), RECONCILERS);
    assert.deepEqual(short(items), [
      ['to-replay', 'not-settled', 't', 'a,b'],
      ['superseded', 'other-uid', 't', 'c,d'],
    ]);
  });

  it('has every letter once, in the order of the classes', () => {
    const west = { ...TARGET, cluster: 'west' };
    const gone = { ...TARGET, name: 'gone' };
    const settled = { ...TARGET, name: 'settled' };
    const letters = [
      record({ messageId: 'foreign', kind: 'foreign', target: undefined, cluster: undefined, code: 'foreign' }),
      record({ messageId: 'beat', kind: 'heartbeat', target: undefined, code: 'heartbeat' }),
      record({ messageId: 'west', target: west, cluster: 'west' }),
      record({ messageId: 'gone', target: gone }),
      record({ messageId: 'settled', target: settled }),
      record({ messageId: 'due' }),
      record({ messageId: 'newer', kind: 'other-release', target: undefined, code: 'newer-type' }),
    ];
    const readings = new Map<typeof TARGET, Reading>([
      [TARGET, found('uid-1')],
      [west, { kind: 'untold', code: 'unreachable' }],
      [gone, { kind: 'absent' }],
      [settled, found('uid-1', true)],
    ]);
    const items = planItems(letters, readings, RECONCILERS);
    assert.deepEqual(short(items), [
      ['to-replay', 'not-settled', 't', 'due'],
      ['converged', 'heartbeat', undefined, 'beat'],
      ['converged', 'settled', 'settled', 'settled'],
      ['gone', 'gone', 'gone', 'gone'],
      ['unknown', 'unreachable', 't', 'west'],
      ['unreadable', 'foreign', undefined, 'foreign'],
      ['unreadable', 'newer-type', undefined, 'newer'],
    ]);
    const draft = draftOf(letters, RECONCILERS);
    for (const target of draft.targets) draft.judge(target, readings.get(target) as Reading);
    assert.deepEqual(countClasses(draft.items()).converged, {
      ...{ letters: 2, objects: 1 },
      reasons: { heartbeat: { letters: 1, objects: 0 }, settled: { letters: 1, objects: 1 } },
    });
  });

  it('keeps what is needed to find a letter again, and to know what it was', () => {
    const letters = [record({ receiveCount: 3, mustRun: true, replayCount: 2 })];
    const [item] = planItems(letters, new Map([[TARGET, { kind: 'absent' }]]), RECONCILERS, 3600);
    assert.deepEqual(item?.letters, [
      {
        ...{
          messageId: 'message-1',
          code: 'invalid',
          uid: 'uid-1',
          generation: 2,
          reason: 'generation-changed',
          mustRun: true,
          replays: 2,
        },
        ...{ firstSeenAt: '2026-03-01T12:00:00.000Z', deadLetteredAt: '2026-03-01T12:01:00.000Z' },
        ...{ expiresAt: '2026-03-01T13:01:00.000Z', receiveCount: 3 },
      },
    ]);
    const { namespace: _, ...place } = TARGET;
    assert.deepEqual(item?.object, place);
  });
});

describe('LetterReader', () => {
  const received = (body: string) => ({
    messageId: 'm',
    receiptHandle: 'h',
    body,
    attributes: {},
    sentAtMs: after(60).getTime(),
    receiveCount: 2,
  });

  it('remembers of a diagnosed letter what its last run read', () => {
    const { kind, code, generation, firstSeenMs, deadLetteredMs, sentMs } = new LetterReader().recordOf(
      received(letterBody({ generation: 4 })),
    );
    assert.deepEqual([kind, code, generation], ['diagnosed', 'invalid', 4]);
    assert.deepEqual([firstSeenMs, deadLetteredMs, sentMs], [after(0).getTime(), after(60).getTime(), after(60).getTime()]);
  });

  it('shares one target between the letters of an object, and no other', () => {
    const reader = new LetterReader();
    const targets = [movedBody(), letterBody(), movedBody({ uid: 'uid-2' }), movedBody({ cluster: 'west' }), movedBody({ name: 'u' })].map(
      (body) => reader.recordOf(received(body)).target,
    );
    assert.equal(new Set(targets).size, 3);
    assert.deepEqual(targets[0], TARGET);
  });

  it('keeps no body', () => {
    assert.doesNotMatch(JSON.stringify(new LetterReader().recordOf(received(letterBody({}, { message: 'hunter2' })))), /hunter2/);
  });
});

describe('changesSince', () => {
  it('names the writers since then, and their fields, but neither us nor values', () => {
    const entry = (manager: string, time: string, fieldsV1: object) => ({ manager, operation: 'Update', time, fieldsV1 }) as never;
    const metadata = {
      ...{ name: 't', uid: 'u', resourceVersion: '1' },
      managedFields: [
        entry('kubectl-edit', '2026-03-01T12:10:00Z', { 'f:spec': { '.': {}, 'f:quota': { 'f:cpu': {} }, 'f:owner': {} } }),
        entry('argocd', '2026-03-01T12:05:00Z', { 'f:metadata': { 'f:labels': {} } }),
        entry('kubectl-create', '2026-03-01T11:00:00Z', { 'f:spec': {} }),
        entry('dogwatch', '2026-03-01T12:20:00Z', { 'f:status': {} }),
      ],
    };
    assert.deepEqual(changesSince({ apiVersion: 'v1', kind: 'X', metadata }, after(60).getTime()), [
      { manager: 'argocd', at: '2026-03-01T12:05:00Z', fields: ['metadata.labels'] },
      { manager: 'kubectl-edit', at: '2026-03-01T12:10:00Z', fields: ['spec.quota', 'spec.owner'] },
    ]);
  });
});

describe('a plan file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-plan-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const head: PlanHead = {
    ...{ plan: 'dogwatch-replay', version: PLAN_VERSION, madeAt: after(0).toISOString() },
    queue: { url: 'u', arn: 'a', retentionSeconds: 1, depth: { visible: 1, hidden: 0, delayed: 0 } },
    ...{ filters: {}, receivedLetters: 1, letters: 1, objects: 1, classes: {}, warnings: [] },
  };
  const items: PlanItem[] = Array.from({ length: 3000 }, (_, at) => ({
    class: 'gone',
    reason: 'gone',
    letters: [{ messageId: `m${at}`, code: 'é'.repeat(99) }],
  }));

  it('holds all of the plan, and is read by its owner only', () => {
    const file = openPlanFile(join(dir, 'plan.json'));
    assert.ok(!existsSync(file.path));
    file.write(head, items);
    assert.deepEqual(JSON.parse(readFileSync(file.path, 'utf8')), { ...head, items });
    assert.deepEqual(readdirSync(dir), ['plan.json']);
  });

  it('is whole JSON without items', () => {
    const file = openPlanFile(join(dir, 'empty.json'));
    file.write(head, []);
    assert.deepEqual(JSON.parse(readFileSync(file.path, 'utf8')), { ...head, items: [] });
  });

  it('leaves nothing behind where it is given up', () => {
    const before = readdirSync(dir);
    const file = openPlanFile(join(dir, 'given-up.json'));
    assert.notDeepEqual(readdirSync(dir), before);
    file.dispose();
    file.dispose();
    assert.deepEqual(readdirSync(dir), before);
  });

  it('never takes the place of a file, also of one that came in between', () => {
    const path = join(dir, 'taken.json');
    const file = openPlanFile(path);
    writeFileSync(path, 'mine');
    assert.throws(
      () => file.write(head, items),
      (error) => error instanceof ConfigError && /is there already/.test(error.message),
    );
    assert.throws(
      () => openPlanFile(path),
      (error) => error instanceof ConfigError && error.code === 'out-unwritable',
    );
    assert.equal(readFileSync(path, 'utf8'), 'mine');
    assert.ok(!readdirSync(dir).some((name) => name.endsWith('.part')));
  });

  it('says at once where it cannot be written', () => {
    writeFileSync(join(dir, 'no-folder'), '');
    assert.throws(
      () => openPlanFile(join(dir, 'no-folder', 'x.json')),
      (error) => error instanceof ConfigError && /ENOTDIR; name another file with --out/.test(error.message),
    );
  });

  it('says that its folder is not there', () => {
    assert.throws(
      () => openPlanFile(join(dir, 'no', 'x.json')),
      (error) => error instanceof ConfigError && /its folder does not exist/.test(error.message),
    );
  });

  it('has the time in its name where nobody names it', () => {
    assert.equal(defaultPlanName(after(0)), 'dogwatch-plan-20260301T120000Z.json');
  });
});
