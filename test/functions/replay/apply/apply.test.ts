import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplySettings } from '../../../../functions/replay/apply/contract.ts';
import { AuditText, applied, tenants, times } from './operator.ts';
import { World } from './world.ts';

const NONE = { good: 0, quiet: 0, bad: 0, unjudged: 0 };

const reach = (stopAt: number): Partial<ApplySettings> => ({ stopAt });

describe('applyPlan', () => {
  it('does the plan, and accounts for every letter', async () => {
    const world = new World();
    world.tenant('a');
    world.letter('a');
    world.letter('a', { reason: 'child-changed', mustRun: true });
    world.tenant('b', { behaviour: 'fails' });
    world.letter('b');
    world.tenant('well', { isSettled: true });
    world.letter('well');
    world.letter('gone', { uid: 'gone-uid' });
    world.letters.add('nobody knows this text');
    const plan = await world.plan();
    world.letter('well');
    const { summary } = await applied(world, plan);
    assert.equal(summary.end, 'done');
    assert.deepEqual(summary.letters, {
      ...{ received: 8, sent: 2, folded: 1, sentBefore: 0, acknowledged: { settled: 1, gone: 1 }, left: { unreadable: 1 }, notOfPlan: 2 },
      ...{ notSeen: 0, missed: 0, notDeleted: 0, notReleased: 0, cameBack: 1 },
    });
    assert.deepEqual(summary.sends, { ...NONE, good: 1, bad: 1 });
    assert.deepEqual(world.left(), ['-/- foreign', 'east/b child-not-owned', 'east/well child-not-owned']);
    assert.equal(world.letters.hiddenCount, 0);
  });

  it('sends a new budget to the bulk queue, for the cluster as its group', async () => {
    const { world, plan } = await tenants(['heals']);
    const { bulk } = world;
    const sent: unknown[] = [];
    Object.assign(world, {
      bulk: {
        send: (...[url, messages]: Parameters<typeof bulk.send>) => {
          sent.push([url, messages.map(({ delaySeconds, groupId, attributes }) => [delaySeconds, groupId, attributes])]);
          return bulk.send(url, messages);
        },
      },
    });
    await applied(world, plan);
    assert.deepEqual(sent, [['https://sqs/bulk', [[0, 'east', undefined]]]]);
    const { data } = world.accepted[0] ?? assert.fail();
    assert.deepEqual([data.reason, data.mustRun, data.attempt, data.diagnosis], ['replay', true, 1, undefined]);
    assert.deepEqual(data.replay, { count: 1, of: 'message-1', by: 'anna', at: '2026-03-01T13:00:02.000Z' });
  });

  it('sends nothing more before every object of the canary has a verdict, and then one more for each good one', async () => {
    const { world, plan } = await tenants(times(12, 'heals'));
    const { operator } = await applied(world, plan, { settings: { canary: 3, ratePerSecond: 100 } });
    let underWay = 0;
    let good = 0;
    let sent = 0;
    for (const event of operator.events) {
      if (event.kind === 'sent') {
        sent += 1;
        underWay += 1;
        assert.ok(sent <= 3 || good >= 3, 'canary');
        assert.ok(underWay <= 3 + good, `${underWay} under way after ${good} good ones`);
      }
      if (event.kind === 'verdict') {
        underWay -= 1;
        good += 1;
      }
    }
    assert.equal(sent, 12);
    assert.equal(operator.events.filter(({ kind }) => kind === 'canary-over').length, 1);
  });

  it('sends no more to a cluster in a second than the rate allows, and more to two clusters', async () => {
    const { world } = await tenants(times(10, 'heals'));
    for (let at = 10; at < 16; at += 1) {
      world.tenant(`t${at}`, { cluster: 'west' });
      world.letter(`t${at}`, { cluster: 'west' });
    }
    await applied(world, await world.plan(), { settings: { canary: 100, ratePerSecond: 2 } });
    const perSecond = Map.groupBy(world.accepted, ({ data, time }) => `${data.cluster} ${time.slice(0, 19)}`);
    assert.ok([...perSecond.values()].every(({ length }) => length <= 2));
    assert.equal(Math.max(...[...Map.groupBy(world.accepted, ({ time }) => time.slice(0, 19)).values()].map(({ length }) => length)), 4);
  });

  it('stops by itself while the cause persists, gives the rest back, and finishes when it is gone', async () => {
    const { world, plan } = await tenants(times(20, 'fails-alike'));
    const audit = new AuditText();
    const { summary } = await applied(world, plan, { audit, settings: { ...reach(0.2), canary: 5 } });
    assert.equal(summary.end, 'too-many-bad');
    assert.deepEqual([summary.letters.sent, summary.letters.left, summary.letters.cameBack], [5, { 'not-reached': 15 }, 5]);
    assert.equal(world.letters.hiddenCount, 0);
    for (const name of world.behaviours.keys()) world.behaviours.set(name, 'heals');
    const { summary: second } = await applied(world, plan, { audit, settings: { ...reach(0.2), canary: 5 } });
    assert.deepEqual([second.end, second.letters.sent, second.letters.notSeen, second.letters.notOfPlan], ['done', 15, 5, 5]);
    const next = await world.plan();
    const { summary: third } = await applied(world, next);
    assert.deepEqual([third.end, third.letters.sent, world.letters.stored.length], ['done', 5, 0]);
    assert.deepEqual(new Set(world.accepted.slice(20).map(({ data }) => data.replay?.count)), new Set([2]));
  });

  it('bears as many bad ones as it is told to', async () => {
    const { world, plan } = await tenants([...times(1, 'fails'), ...times(4, 'heals'), ...times(5, 'heals')]);
    const { summary } = await applied(world, plan, { settings: { ...reach(0.2), canary: 5 } });
    assert.deepEqual([summary.end, summary.sends], ['done', { ...NONE, good: 9, bad: 1 }]);
  });

  it('takes for bad what is not reconciled in time', async () => {
    const { world, plan } = await tenants(['hangs']);
    const { summary, operator } = await applied(world, plan);
    assert.deepEqual(summary.sends, { ...NONE, bad: 1 });
    const verdict = operator.events.find(({ kind }) => kind === 'verdict');
    assert.deepEqual(verdict?.kind === 'verdict' && [verdict.verdict, verdict.reason], ['bad', 'timeout']);
  });

  it('reads each object once before it acts, and at growing intervals after it', async () => {
    const { world, plan } = await tenants(['hangs', 'hangs']);
    world.tenant('well', { isSettled: true });
    const { operator } = await applied(world, plan, { settings: { canaryTimeoutSeconds: 300 } });
    const gets = operator.calls.filter((call) => call === 'get').length;
    assert.ok(gets <= 2 * (1 + 36), String(gets));
  });

  it('sends again those only that were not accepted, and leaves in the queue what never is', async () => {
    const { world, plan } = await tenants(['heals', 'heals', 'heals']);
    world.answer = (_, { data }) => (data.name === 't1' ? { kind: 'retry', code: 'ThrottlingException' } : { kind: 'sent' });
    const { summary } = await applied(world, plan, { settings: { canary: 3 } });
    assert.deepEqual([summary.end, summary.letters.sent, summary.letters.left], ['done', 2, { 'not-accepted': 1 }]);
    assert.deepEqual(world.left(), ['east/t1 child-not-owned']);
    assert.deepEqual(
      world.accepted.map(({ data }) => data.name),
      ['t0', 't2'],
    );
  });

  it('leaves what SQS refuses', async () => {
    const { world, plan } = await tenants(['heals']);
    world.answer = () => ({ kind: 'refused', code: 'InvalidMessageContents', message: 'no' });
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.left, world.letters.stored.length], [{ refused: 1 }, 1]);
  });

  it('stops where nothing is accepted any more', async () => {
    const { world, plan } = await tenants(times(30, 'heals'));
    world.answer = () => ({ kind: 'retry', code: 'QueueDoesNotExist' });
    const { summary } = await applied(world, plan, { settings: { canary: 30, ratePerSecond: 100 } });
    assert.deepEqual([summary.end, summary.failure?.code], ['failed', 'nothing-accepted']);
    assert.deepEqual([world.letters.stored.length, world.letters.hiddenCount], [30, 0]);
  });
});
