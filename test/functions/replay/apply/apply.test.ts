import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSums, Operator } from './operator.ts';
import { World } from './world.ts';

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
    world.letter('well', { generation: 1 });
    const operator = new Operator(world, { plan });
    const summary = await operator.run();
    assert.ok(summary);
    assertSums(summary, plan);
  });
});
