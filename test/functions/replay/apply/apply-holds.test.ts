/** Letters that are held, lost, late or seen twice, and the order in which things are done with them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SerialAudit } from '../../../../functions/replay/apply/audit-notes.ts';
import { visibilityFor } from '../../../../functions/replay/apply/hidden-letters.ts';
import { Holdings } from '../../../../functions/replay/apply/holdings.ts';
import { AuditText, applied, Operator, tenants, times } from './operator.ts';
import { World } from './world.ts';

/** Of the few letters here. */
const HIDDEN_SECONDS = visibilityFor({ visible: 2, hidden: 0, delayed: 0 });

const secondsOf = (world: World, from: number, to: number): number => {
  const at = (number: number): number => Date.parse(world.accepted[number]?.time ?? '');
  return (at(to) - at(from)) / 1000;
};

describe('applyPlan, and the letters that it holds', () => {
  it('acts on a letter that it could not keep only once it has it anew', async () => {
    for (const canaryTimeoutSeconds of [HIDDEN_SECONDS - 10, HIDDEN_SECONDS + 10]) {
      const { world, plan } = await tenants(['hangs', 'heals']);
      const fault = (call: string) => (call === 'extend' ? ({ part: 1, isDone: false, code: '' } as const) : undefined);
      const letter = world.letters.stored[1] ?? assert.fail();
      const { summary } = await applied(world, plan, { fault, settings: { canary: 1, canaryTimeoutSeconds } });
      assert.deepEqual([summary.letters.received, summary.letters.sent, world.letters.stored.length], [2, 2, 0]);
      assert.ok(letter.receiveCount > 1);
    }
  });

  it('deletes a letter again that comes again, and sends it once', async () => {
    const { world, plan } = await tenants(['hangs']);
    const copy = { ...(world.letters.stored[0] ?? assert.fail()) };
    void world.clock.sleep(20_000).then(() => world.letters.stored.push(copy));
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.received, summary.letters.sent, world.accepted.length], [1, 1, 1]);
    assert.deepEqual([world.letters.stored.length, world.letters.removed.length], [0, 2]);
  });

  it('sends an object for what a letter of the plan asks that did not come', async () => {
    const world = new World();
    world.tenant('t0', { isSettled: true });
    world.letter('t0');
    const mustRun = world.letter('t0', { mustRun: true });
    const plan = await world.plan();
    (world.letters.stored.find(({ messageId }) => messageId === mustRun) ?? assert.fail()).visibleAtMs = Number.MAX_SAFE_INTEGER;
    const { summary } = await applied(world, plan);
    assert.deepEqual([summary.letters.sent, summary.letters.notSeen, summary.sends.quiet + summary.sends.good], [1, 1, 1]);
  });

  it('takes nothing off the rate for what is not sent', async () => {
    const { world, plan } = await tenants(times(6, 'heals'));
    for (let at = 0; at < 6; at += 1) world.show(`t${at}`, 'east', 'settled');
    const before = world.clock.steadyMs();
    const { summary } = await applied(world, plan, { settings: { ratePerSecond: 0.1 } });
    assert.deepEqual(summary.letters.acknowledged, { settled: 6 });
    assert.ok(world.clock.steadyMs() - before < 10_000);
  });

  it('sends ten at a time at most', async () => {
    const { world, plan } = await tenants(times(35, 'heals'));
    const { bulk } = world;
    const sizes: number[] = [];
    const send: typeof bulk.send = (url, messages) => {
      sizes.push(messages.length);
      return bulk.send(url, messages);
    };
    Object.assign(world, { bulk: { send } });
    await applied(world, plan, { settings: { canary: 100, ratePerSecond: 500 } });
    assert.deepEqual([Math.max(...sizes), sizes.reduce((a, b) => a + b, 0)], [10, 35]);
  });

  it('knows a letter that came back before it was run again', async () => {
    for (const isSettled of [false, true]) {
      const make = async () => {
        const world = new World();
        world.tenant('t0', { behaviour: 'fails-alike', isSettled });
        world.letter('t0', { mustRun: true });
        return { world, plan: await world.plan() };
      };
      const calm = await make();
      const { operator } = await applied(calm.world, calm.plan);
      const { world, plan } = await make();
      const audit = new AuditText();
      await new Operator(world, { plan, audit, kill: { call: operator.calls.indexOf('remove') + 1, when: 'after' } }).run();
      await world.clock.advance(60_000);
      const { summary } = await applied(world, plan, { audit });
      assert.deepEqual([summary.earlierSends.bad, summary.letters.cameBack, summary.letters.sentBefore], [1, 1, 0]);
    }
  });

  it('takes what an earlier apply sent for a part of its canary', async () => {
    const { world, plan } = await tenants(times(2, 'hangs'));
    const [audit, settings] = [new AuditText(), { canary: 1, canaryTimeoutSeconds: 60 }];
    const first = new Operator(world, { plan, audit, settings });
    world.answer = () => {
      first.stop.abort();
      return { kind: 'sent' };
    };
    await first.run();
    world.answer = () => ({ kind: 'sent' });
    const { summary } = await applied(world, plan, { audit, settings });
    assert.deepEqual([summary.earlierSends.bad, summary.letters.sent], [1, 1]);
    assert.ok(secondsOf(world, 0, 1) >= 60);
  });
});

describe('Holdings', () => {
  it('goes by the newest handle', () => {
    const held = new Holdings();
    held.hold('a', 'old', 10);
    held.hold('a', 'new', 20);
    held.extend('a', 'old', 99);
    assert.deepEqual([held.handleOf('a'), held.isHeldUntil('a', 20), held.isHeldUntil('a', 21)], ['new', true, false]);
    assert.deepEqual([held.endingBefore(20), held.endingBefore(21), held.dropEnded(21), held.takeAll()], [[], ['a'], ['a'], []]);
  });
});

describe('SerialAudit', () => {
  it('writes one after the other, also after one that failed', async () => {
    const written: string[] = [];
    const gate = Promise.withResolvers<void>();
    const audit = new SerialAudit({
      append: async ([line]) => {
        if (line?.at === '1') await gate.promise;
        written.push(line?.at ?? '');
        if (line?.at === '1') throw new RangeError('full');
      },
    });
    const line = (at: string) => [{ kind: 'left', at, letters: [], reason: 'x' } as const];
    const ends = Promise.allSettled([audit.append(line('1'), 'synced'), audit.append(line('2'), 'buffered')]);
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    assert.deepEqual(
      (await ends).map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
    assert.deepEqual(written, ['1', '2']);
  });
});
