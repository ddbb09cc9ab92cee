/** What goes wrong while a plan is applied, and what is done about letters that are not as the plan has them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, TransientError } from '../../../../functions/core/errors.ts';
import type { PlanToApply } from '../../../../functions/replay/apply/contract.ts';
import { exampleData } from '../../core/example-data.ts';
import { AuditText, applied, Operator, tenants, times } from './operator.ts';
import { World } from './world.ts';

const EXPIRED = new ConfigError('aws-refused', 'SQS refuses letters (ExpiredToken)');

describe('applyPlan, when services fail', () => {
  it('leaves the letters of a cluster that cannot be reached, and goes on with the others', async () => {
    const { world } = await tenants(times(3, 'heals'));
    for (let at = 0; at < 5; at += 1) {
      world.tenant(`w${at}`, { cluster: 'west' });
      world.letter(`w${at}`, { cluster: 'west' });
    }
    const plan = await world.plan();
    world.cluster('west').fault({ verb: 'get' }, { throw: new TransientError('unreachable', 'no route') }, 1000);
    const { summary, operator } = await applied(world, plan);
    assert.deepEqual([summary.end, summary.sends.good, summary.letters.left], ['done', 3, { unreachable: 5 }]);
    assert.equal(operator.events.filter(({ kind }) => kind === 'cluster-down').length, 1);
    assert.ok(world.cluster('west').requestsOf('get').length < 20);
  });

  it('does not take a blip of a cluster for its end', async () => {
    const { world, plan } = await tenants(times(3, 'heals'));
    world.cluster().fault({ verb: 'get' }, { throw: new TransientError('timeout', 'no answer') }, 2);
    const { summary } = await applied(world, plan, { settings: { canary: 3 } });
    assert.deepEqual([summary.letters.sent, summary.sends.good], [3, 3]);
  });

  it('does not judge what it sent to a cluster that goes away, and lets the others go on', async () => {
    const { world } = await tenants(['heals', 'heals', 'heals']);
    world.tenant('w', { cluster: 'west' });
    world.letter('w', { cluster: 'west' });
    const plan = await world.plan();
    world.cluster('west').fault({ verb: 'get' }, { first: () => undefined }, 1); // the look before the send
    world.cluster('west').fault({ verb: 'get' }, { throw: new TransientError('unreachable', 'no route') }, 1000);
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.end, summary.sends], ['done', { good: 3, quiet: 0, bad: 0, unjudged: 1 }]);
  });

  it('leaves what it may not read for that reason', async () => {
    const { world, plan } = await tenants(['heals', 'heals']);
    world.cluster().fault({ verb: 'get', name: 't0' }, { throw: new TransientError('forbidden', 'no right') }, 1000);
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.sent, summary.letters.left], [1, { forbidden: 1 }]);
  });

  it('ends when the credentials expire in the middle, and goes on from there by the same command', async () => {
    const { world, plan } = await tenants(times(8, 'heals'));
    const audit = new AuditText();
    let sends = 0;
    const fault = (call: string) => {
      if (call === 'send') sends += 1;
      return sends >= 4 && call === 'receive' ? { throws: EXPIRED } : undefined;
    };
    const { summary } = await applied(world, plan, { audit, fault });
    assert.deepEqual([summary.end, summary.failure?.code], ['failed', 'aws-refused']);
    assert.ok(summary.letters.sent >= 4 && summary.letters.sent < 8);
    assert.equal(world.letters.hiddenCount, 0);
    const { summary: second } = await applied(world, plan, { audit });
    assert.deepEqual([second.end, second.letters.sent + summary.letters.sent, world.letters.stored.length], ['done', 8, 0]);
    assert.equal(world.accepted.length, 8);
  });

  it('ends when the right to send is gone, with what was accepted on record', async () => {
    const { world, plan } = await tenants(times(4, 'heals'));
    const audit = new AuditText();
    world.answer = (number) => (number > 1 ? { kind: 'retry', code: 'AccessDenied' } : { kind: 'sent' });
    const settings = { canary: 4, ratePerSecond: 100 };
    const { summary } = await applied(world, plan, { audit, settings });
    assert.deepEqual([summary.end, summary.failure?.code, summary.letters.sent], ['failed', 'aws-refused', 1]);
    world.answer = () => ({ kind: 'sent' });
    const { summary: second } = await applied(world, plan, { audit, settings });
    assert.deepEqual([second.letters.sent, second.letters.sentBefore + summary.letters.sent - summary.letters.notDeleted], [3, 1]);
    assert.deepEqual([world.accepted.length, world.letters.stored.length], [4, 0]);
  });

  it('sends nothing whose intent cannot be written down', async () => {
    const { world, plan } = await tenants(times(2, 'heals'));
    let appends = 0;
    const full = new ConfigError('audit-unwritable', 'the disk is full');
    const fault = (call: string) => {
      if (call === 'append') appends += 1;
      return call === 'append' && appends > 1 ? { throws: full } : undefined;
    };
    const { summary } = await applied(world, plan, { fault });
    assert.deepEqual([summary.end, summary.failure?.code, world.accepted.length], ['failed', 'audit-unwritable', 0]);
    assert.deepEqual([world.letters.stored.length, world.letters.hiddenCount], [2, 0]);
  });

  it('deletes nothing whose result cannot be written down', async () => {
    const { world, plan } = await tenants(times(2, 'hangs'));
    let appends = 0;
    const fault = (call: string) => {
      if (call === 'append') appends += 1;
      return call === 'append' && appends === 3 ? { throws: new ConfigError('audit-unwritable', 'the disk is full') } : undefined;
    };
    const { summary } = await applied(world, plan, { fault, settings: { ratePerSecond: 100 } });
    assert.deepEqual([summary.failure?.code, world.accepted.length, world.letters.stored.length], ['audit-unwritable', 2, 2]);
    assert.deepEqual(summary.letters.left, { unrecorded: 2 });
  });

  it('never sends again what is on record as sent, and deletes it when it is seen', async () => {
    const { world, plan } = await tenants(times(3, 'hangs'));
    const audit = new AuditText();
    const fault = (call: string) => (call === 'remove' ? ({ part: 1, isDone: false, code: '' } as const) : undefined);
    const { summary } = await applied(world, plan, { audit, fault });
    assert.deepEqual([summary.letters.sent, summary.letters.notDeleted, world.letters.stored.length], [3, 3, 3]);
    const { summary: second } = await applied(world, plan, { audit });
    assert.deepEqual([second.letters.sent, second.letters.sentBefore, second.letters.notDeleted], [0, 3, 0]);
    assert.deepEqual([world.accepted.length, world.letters.stored.length], [3, 0]);
  });

  it('finishes the batch under way on a signal, gives the rest back, and leaves verdicts open', async () => {
    const { world, plan } = await tenants(times(6, 'hangs'));
    const audit = new AuditText();
    const operator = new Operator(world, { plan, audit });
    world.answer = () => {
      operator.stop.abort();
      return { kind: 'sent' };
    };
    const summary = await operator.run();
    assert.deepEqual([summary?.end, summary?.letters.sent, summary?.sends.unjudged], ['signal', 1, 1]);
    assert.deepEqual([world.letters.stored.length, world.letters.hiddenCount], [5, 0]);
    for (const name of world.behaviours.keys()) world.behaviours.set(name, 'heals');
    world.show('t0', 'east', 'settled');
    world.answer = () => ({ kind: 'sent' });
    const { summary: second } = await applied(world, plan, { audit });
    assert.deepEqual([second.earlierSends.good, second.sends.good], [1, 5]);
  });

  it('gives everything back when it is stopped while it looks', async () => {
    const { world, plan } = await tenants(times(6, 'heals'));
    const operator = new Operator(world, { plan });
    operator.stop.abort();
    const summary = await operator.run();
    assert.deepEqual([summary?.end, world.accepted.length, world.letters.hiddenCount], ['signal', 0, 0]);
  });

  it('keeps letters for as long as it takes', async () => {
    const { world, plan } = await tenants(times(2, 'hangs'));
    const { summary } = await applied(world, plan, { settings: { canary: 1, canaryTimeoutSeconds: 400 } });
    assert.equal(summary.letters.sent, 2);
    assert.ok(world.letters.extendCalls > 1);
    assert.equal(world.letters.removed.length, 2);
  });

  it('rejects with a fault of ours, once letters are given back', async () => {
    const { world, plan } = await tenants(['heals']);
    const fault = new RangeError('a fault of ours');
    await assert.rejects(new Operator(world, { plan, fault: (call) => (call === 'get' ? { throws: fault } : undefined) }).run(), fault);
    assert.equal(world.letters.hiddenCount, 0);
  });
});

describe('applyPlan, where letters are not as planned', () => {
  it('deletes letters of an object that come after its message was accepted', async () => {
    const { world } = await tenants(['hangs']);
    const late = world.letter('t0', { reason: 'child-changed', mustRun: true });
    const plan = await world.plan();
    hide(world, late, 20);
    const audit = new AuditText();
    const { summary } = await applied(world, plan, { audit });
    assert.deepEqual([summary.letters.sent, summary.letters.folded, world.letters.stored.length], [1, 1, 0]);
    assert.match(audit.text, /"kind":"fold"/);
  });

  it('leaves letters of an acknowledged object that ask for more than it shows', async () => {
    const world = new World();
    world.tenant('t0', { isSettled: true });
    world.tenant('slow', { behaviour: 'hangs' });
    world.letter('slow');
    world.letter('t0');
    const late = world.letter('t0', { mustRun: true, generation: 1 });
    const plan = onlyConverged(await world.plan());
    hide(world, late, 20);
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.acknowledged, summary.letters.left], [{ settled: 1 }, { 'changed-since-plan': 1 }]);
  });

  it('leaves a letter that is about something else than the plan says', async () => {
    const { world, plan } = await tenants(['heals', 'heals']);
    const [first, second] = plan.items;
    const swapped = {
      ...plan,
      items: [
        { ...first, letters: second?.letters },
        { ...second, letters: first?.letters },
      ],
    } as PlanToApply;
    const { summary } = await applied(world, swapped);
    assert.deepEqual([summary.letters.left, world.accepted.length], [{ 'not-as-planned': 2 }, 0]);
  });

  it('leaves what needs a run only since the plan was made', async () => {
    const world = new World();
    world.tenant('t0', { isSettled: true });
    world.letter('t0');
    const plan = await world.plan();
    world
      .cluster()
      .edit({ group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' }, { name: 't0' }, (draft) => {
        draft['spec'] = { v: 2 };
      });
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.left, world.accepted.length], [{ 'changed-since-plan': 1 }, 0]);
  });

  for (const again of [false, true]) {
    it(`${again ? 'sends' : 'leaves'} a letter that was replayed twice, ${again ? 'with' : 'without'} again`, async () => {
      const world = new World();
      world.tenant('t0');
      world.letter('t0', { replay: { count: 2, of: 'x', by: 'otto', at: exampleData().firstSeenAt } });
      const { summary } = await applied(world, await world.plan(), { settings: { again } });
      assert.deepEqual(summary.letters.left, again ? {} : { 'replayed-twice': 1 });
      assert.deepEqual(
        world.accepted.map(({ data }) => data.replay?.count),
        again ? [3] : [],
      );
    });
  }

  it('tells of letters that are not there any more, or with somebody else', async () => {
    const { world, plan } = await tenants(['heals', 'heals']);
    world.letters.takeElsewhere(1, 3600);
    world.letters.stored.splice(1, 1);
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.end, summary.letters.notSeen, summary.letters.received], ['done', 2, 0]);
  });
});

/** Somebody else has the letter for so long. */
function hide(world: World, messageId: string, seconds: number): void {
  const letter = world.letters.stored.find((one) => one.messageId === messageId) ?? assert.fail();
  letter.visibleAtMs = world.clock.now().getTime() + seconds * 1000;
}

/** As if the letters that must run had not been looked at. */
function onlyConverged(plan: PlanToApply): PlanToApply {
  const items = plan.items.map((item) => ({
    ...item,
    ...(item.object?.name === 't0' ? { class: 'converged' as const, reason: 'settled' } : {}),
    letters: item.letters.map(({ mustRun: _, ...letter }) => letter),
  }));
  return { ...plan, items };
}
