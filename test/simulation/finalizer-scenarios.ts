/** Schedules about what is left outside the cluster. */
import type { Scenario } from './scenarios.ts';
import type { ScriptedRun, Stage } from './stage.ts';

export const FINALIZER_SCENARIOS: readonly Scenario[] = [
  {
    name: 'an object is made, changed and deleted, and nobody else is there',
    kind: 'B',
    async play(stage) {
      stage.simulation.invariants.isAlone = true;
      stage.users.put('a');
      await stage.run('worker 1', 'created');
      stage.users.put('a');
      await stage.run('worker 1', 'generation-changed');
      stage.users.delete('a');
      await stage.run('worker 1', 'deleting');
    },
  },
  {
    name: 'an object is gone before its finalizer is added',
    kind: 'B',
    async play(stage) {
      stage.users.put('a');
      const add = stage.hold('worker 1', 'APPLY');
      const run = stage.start('worker 1', await stage.message('created'));
      await add.reached();
      stage.users.delete('a');
      add.release();
      await run.end();
    },
  },
  {
    name: 'a late run acts and dies, and another object has the name when its uid is looked after',
    kind: 'B',
    async play(stage) {
      const { late } = await lateRun(stage);
      await stage.run('worker 2', 'deleting');
      stage.users.put('a');
      await stage.pass(100);
      await actAndDie(stage, late);
    },
  },
  {
    name: 'a late run acts, its message has another holder who acknowledges it, and the watcher sees no deletion',
    kind: 'B',
    async play(stage) {
      const { late, message } = await lateRun(stage);
      const deleting = await stage.message('deleting');
      stage.simulation.watching.crash();
      await stage.start('worker 2', deleting).end();
      await stage.start('worker 3', message).end();
      await actAndDie(stage, late);
    },
  },
  {
    name: 'a late run acts for an object that is gone, and the watcher sees no deletion',
    kind: 'B',
    async play(stage) {
      const { late, act } = await lateRun(stage);
      const deleting = await stage.message('deleting');
      stage.simulation.watching.crash();
      await stage.start('worker 2', deleting).end();
      act.release();
      await late.end();
    },
  },
  {
    name: 'a run that changes nothing in its status acts late',
    kind: 'B',
    async play(stage) {
      stage.users.put('a');
      const message = await stage.message('created');
      const confirmed = stage.hold('worker 1', 'APPLY status', 'after');
      const first = stage.start('worker 1', message);
      await confirmed.reached();
      first.process.kill('the script says so');
      const act = stage.hold('worker 2', 'reconcile');
      await stage.pass(181_000);
      const late = stage.start('worker 2', message);
      await act.reached();
      stage.users.put('a');
      await stage.run('worker 3', 'generation-changed');
      act.release();
      await late.end();
    },
  },
  {
    name: 'the finalizer of a predecessor is about to come off when another object has the name',
    kind: 'B',
    async play(stage) {
      stage.users.put('a');
      await stage.run('worker 1', 'created');
      stage.users.delete('a');
      const off = stage.hold('worker 1', 'PATCH finalizers');
      const message = await stage.message('deleting');
      const run = stage.start('worker 1', message);
      await off.reached();
      await stage.start('worker 2', message).end();
      await stage.pass(100);
      stage.users.put('a');
      await stage.run('worker 3', 'created');
      off.release();
      await run.end();
    },
  },
];

/** A run that has put the finalizer on and stands before its act, while the object is being deleted. */
async function lateRun(stage: Stage) {
  stage.users.put('a');
  const act = stage.hold('worker 1', 'reconcile');
  const message = await stage.message('created');
  const late = stage.start('worker 1', message);
  await act.reached();
  stage.users.delete('a');
  return { late, act, message };
}

/** What it does outside is done, and nobody hears of it. */
async function actAndDie(stage: Stage, late: ScriptedRun): Promise<void> {
  const acted = stage.hold('worker 1', 'reconcile', 'after');
  stage.releaseAll();
  await acted.reached();
  late.process.kill('the script says so');
}
