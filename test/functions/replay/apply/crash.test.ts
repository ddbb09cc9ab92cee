/** Apply killed at every call of SQS, every GET and every write of its audit, and run anew: nothing is lost, and one batch at most is sent twice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import type { ApplySettings, ApplySummary, PlanToApply } from '../../../../functions/replay/apply/contract.ts';
import { assertNothingLost, repeatedSends } from './invariants.ts';
import { AuditText, assertSums, type Kill, Operator, type PortCall, tenants } from './operator.ts';
import { World } from './world.ts';

/** One letter or more of each kind, in two clusters. */
async function scene(): Promise<{ readonly world: World; readonly plan: PlanToApply }> {
  const world = new World();
  world.tenant('a');
  world.letter('a');
  world.letter('a', { reason: 'child-changed', mustRun: true });
  world.tenant('b', { behaviour: 'fails' });
  world.letter('b');
  world.tenant('c', { cluster: 'west' });
  world.letter('c', { cluster: 'west' });
  world.tenant('d', { behaviour: 'fails-alike' });
  world.letter('d');
  world.tenant('e', { isSettled: true });
  world.letter('e', { mustRun: true });
  world.tenant('idle', { annotations: { 'dogwatch.dev/paused': '' } });
  world.letter('idle');
  world.tenant('well', { isSettled: true });
  world.letter('well');
  world.letter('gone', { uid: 'uid-of-gone' });
  world.tenant('other');
  world.letter('other', { uid: 'uid-of-other' });
  world.claimLetter('claim', 'uid-of-claim');
  world.letters.add('nobody knows this text');
  world.tenant('healed');
  world.letter('healed');
  const plan = await world.plan();
  world.show('healed', 'east', 'settled');
  world.tenant('new');
  world.letter('new');
  return { world, plan };
}

/** One whose verdict takes so long that letters have to be kept. */
async function longScene(): Promise<{ readonly world: World; readonly plan: PlanToApply }> {
  const { world } = await tenants(['hangs', 'heals']);
  world.letters.add('nobody knows this text');
  return { world, plan: await world.plan() };
}

/** Runs until killed, then anew at once, while letters are hidden still, until it is through. */
async function trial(
  kill: Kill | undefined,
  make = scene,
  settings: Partial<ApplySettings> = {},
): Promise<{ world: World; plan: PlanToApply; calls: readonly PortCall[]; audit: string; summary: ApplySummary }> {
  const { world, plan } = await make();
  const audit = new AuditText();
  const first = new Operator(world, { plan, audit, settings, ...(kill === undefined ? {} : { kill }) });
  let summary = await first.run();
  if (kill !== undefined) {
    assert.equal(summary, undefined, 'it was killed');
    summary = await new Operator(world, { plan, audit, settings }).run();
  }
  assert.ok(summary !== undefined);
  await world.clock.advance(10_000);
  return { world, plan, calls: first.calls, audit: audit.text, summary };
}

/** Which generation of which object is reconciled. */
function reconciled(world: World): unknown {
  return [...world.clusters].flatMap(([name, cluster]) =>
    cluster
      .objects(tenant.resource)
      .map(({ metadata, ...object }) => [name, metadata.name, (object['status'] as { observedGeneration?: number }).observedGeneration]),
  );
}

describe('applyPlan, killed at any call', async () => {
  const calm = await trial(undefined);

  it('does the plan when nobody kills it', () => {
    assertNothingLost({ world: calm.world, items: calm.plan.items, audits: [calm.audit] });
    assertSums(calm.summary, calm.plan);
    assert.equal(calm.summary.end, 'done');
    assert.deepEqual(calm.world.finalized, ['uid-of-claim']);
    assert.deepEqual(new Set(calm.calls), new Set(['append', 'receive', 'extend', 'get', 'send', 'remove', 'release']));
  });

  for (const when of ['before', 'middle', 'after'] as const) {
    it(`loses nothing, and ends as if nothing had happened (${when} each call)`, async () => {
      for (let call = 1; call <= calm.calls.length; call += 1) {
        if (when === 'middle' && calm.calls[call - 1] !== 'append') continue;
        const { world, plan, audit, summary } = await trial({ call, when });
        const what = `killed ${when} call ${call}, ${calm.calls[call - 1]}`;
        try {
          assertNothingLost({ world, items: plan.items, audits: [audit] });
          assertSums(summary, plan);
          assert.equal(summary.end, 'done');
          assert.deepEqual(world.left(), calm.world.left());
          assert.deepEqual(reconciled(world), reconciled(calm.world));
          assert.deepEqual(new Set(world.finalized), new Set(calm.world.finalized));
          const repeated = repeatedSends(world);
          assert.ok(repeated.count <= 10 && repeated.instants.size <= 1, `${repeated.count} were sent twice`);
        } catch (error) {
          assert.ok(error instanceof Error);
          error.message = `${what}: ${error.message}`;
          throw error;
        }
      }
    });
  }

  it('loses nothing where it is killed while it keeps letters', async () => {
    const settings = { canary: 1, canaryTimeoutSeconds: 200 };
    const { calls, world: undisturbed } = await trial(undefined, longScene, settings);
    const extensions = calls.flatMap((name, at) => (name === 'extend' ? [at + 1] : []));
    assert.ok(extensions.length > 0);
    for (const call of extensions) {
      for (const when of ['before', 'after'] as const) {
        const { world, plan, audit, summary } = await trial({ call, when }, longScene, settings);
        assertNothingLost({ world, items: plan.items, audits: [audit] });
        assertSums(summary, plan);
        assert.deepEqual(world.left(), undisturbed.left());
        assert.equal(repeatedSends(world).count, 0);
      }
    }
  });
});
