/** Schedules about objects that want to be run again: one chain of wake-ups each, never lost for long. */
import type { Scenario } from './scenarios.ts';
import type { Stage } from './stage.ts';

export const WAKE_UP_SCENARIOS: readonly Scenario[] = [
  {
    name: 'the wake-up is lost, and healing finds the object overdue',
    kind: 'C',
    async play(stage) {
      stage.users.put('a', { everySeconds: 60 });
      await stage.run('worker 1', 'created');
      stage.simulation.sqs.purge();
      await stage.run('worker 1', 'sweep');
    },
  },
  {
    name: 'a run that was woken stores the next time and dies before it sends for it',
    kind: 'C',
    async play(stage) {
      await wokenAndDead(stage);
    },
  },
  {
    name: 'a run that was woken stores the next time and dies, and its record is overtaken',
    kind: 'C',
    async play(stage) {
      const message = await wokenAndDead(stage);
      await stage.pass(181_000);
      const confirm = stage.hold('worker 2', 'APPLY status');
      const again = stage.start('worker 2', message);
      await confirm.reached();
      stage.users.put('a');
      await stage.run('worker 3', 'generation-changed');
      confirm.release();
      await again.end();
      await stage.run('worker 3', 'retry');
    },
  },
  {
    name: 'a run that was woken stores the next time and dies, and its record finds the object paused',
    kind: 'C',
    async play(stage) {
      const message = await wokenAndDead(stage);
      stage.users.pause('a', true);
      await stage.run('worker 2', 'paused');
      await stage.pass(181_000);
      await stage.start('worker 2', message).end();
      stage.users.pause('a', false);
      await stage.run('worker 2', 'resumed');
    },
  },
  {
    name: 'a wake-up finds a cache that still shows a pause which is over',
    kind: 'C',
    async play(stage) {
      stage.users.put('a', { everySeconds: 60 });
      await stage.run('worker 1', 'created');
      stage.users.pause('a', true);
      const pausedAt = stage.simulation.api.cluster.store.resourceVersion;
      await stage.run('worker 1', 'paused');
      stage.users.pause('a', false);
      await stage.run('worker 1', 'resumed');
      stage.api.cachePosition = () => pausedAt;
      await stage.run('worker 1', 'requeue');
      stage.api.cachePosition = (_oldest, newest) => newest;
    },
  },
  {
    name: 'a confirm stores a time, and its answer is lost',
    kind: 'C',
    async play(stage) {
      stage.users.put('a', { everySeconds: 1_000 });
      stage.loseAnswer('worker 1', 'APPLY status');
      await stage.run('worker 1', 'created');
    },
  },
  {
    name: 'children change all the time, and the wake-up is not put off',
    kind: 'C',
    async play(stage) {
      stage.users.put('a', { everySeconds: 30, children: ['x'] });
      await stage.run('worker 1', 'created');
      await stage.pass(5_000);
      stage.users.deleteChild('a-x');
      await stage.run('worker 1', 'child-changed');
      const { sqs, invariants } = stage.simulation;
      if (sqs.workMessages.length !== 1) invariants.found('two-chains', `${sqs.workMessages.length} messages wait`);
    },
  },
];

/** A wake-up whose run dies between the confirm and the send. */
async function wokenAndDead(stage: Stage) {
  stage.users.put('a', { everySeconds: 1_000 });
  await stage.run('worker 1', 'created');
  await stage.pass(1_000_000);
  const message = await dueMessage(stage);
  const confirmed = stage.hold('worker 1', 'APPLY status', 'after');
  const run = stage.start('worker 1', message);
  await confirmed.reached();
  run.process.kill('the script says so');
  return message;
}

/** The wake-up once it is due: hops are sent on. */
async function dueMessage(stage: Stage) {
  for (;;) {
    const message = await stage.message('requeue');
    const { notBefore } = (JSON.parse(message.body) as { data: { notBefore: string } }).data;
    if (Date.parse(notBefore) <= stage.simulation.time.nowMs) return message;
    await stage.start('worker 1', message).end();
  }
}
