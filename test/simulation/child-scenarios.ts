/** Schedules about children: late runs, and runs that die. */
import type { Scenario } from './scenarios.ts';
import type { Stage } from './stage.ts';

export const CHILD_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a name is used again between a status that is 404 and the look for its reason',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      const confirm = stage.hold('worker 1', 'APPLY status');
      const run = stage.start('worker 1', await stage.message('created'));
      await confirm.reached();
      stage.users.delete('a');
      const look = stage.hold('worker 1', 'GET');
      confirm.release();
      await look.reached();
      stage.users.put('a');
      look.release();
      await run.end();
    },
  },
  {
    name: 'a late run makes a child that the newer generation does not want, and a cache does not know of it yet',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      await lateChild(stage, () => stage.users.put('a', { children: [] }));
      stage.api.cachePosition = (oldest) => oldest;
      await stage.run('worker 3', 'retry');
    },
  },
  {
    name: 'a late run of an older generation writes a child and dies, and its record comes again',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      const late = await heldAtChild(stage, 'created');
      stage.users.put('a');
      await stage.run('worker 2', 'generation-changed');
      await late.writeAndDie();
    },
  },
  {
    name: 'a late run that has found out dies while it sends for another one',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      const write = stage.hold('worker 1', 'APPLY');
      const run = stage.start('worker 1', await stage.message('created'));
      await write.reached();
      stage.users.put('a', { children: [] });
      await stage.run('worker 2', 'generation-changed');
      const send = stage.hold('worker 1', 'send');
      write.release();
      await send.reached();
      await stage.pass(100);
      run.process.kill('the script says so');
    },
  },
  {
    name: 'a run for a message of a predecessor writes a child and dies, and a cache knows nothing but the deletion',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      const first = await stage.message('created');
      stage.users.delete('a');
      const deletedAt = stage.simulation.api.cluster.store.resourceVersion;
      stage.users.put('a', { children: ['x'] });
      const write = stage.hold('worker 1', 'APPLY');
      const late = stage.start('worker 1', first);
      await write.reached();
      stage.users.put('a');
      await stage.pass(5_000);
      for (const message of stage.simulation.sqs.workMessages.filter(({ receiveCount }) => receiveCount === 0)) {
        await stage.start('worker 2', message).end();
      }
      const written = stage.hold('worker 1', 'APPLY', 'after');
      write.release();
      await written.reached();
      late.process.kill('the script says so');
      stage.api.cachePosition = () => deletedAt;
      await stage.pass(181_000);
      await stage.start('worker 3', first).end();
      stage.api.cachePosition = (_oldest, newest) => newest;
    },
  },
  {
    name: 'a late run writes over the child of a successor, while no watcher looks',
    kind: 'A',
    async play(stage) {
      await overSuccessor(stage);
    },
  },
  {
    name: 'a late run writes over the child of a successor, and a cache knows nothing but the deletion',
    kind: 'A',
    async play(stage) {
      await overSuccessor(stage, (deletedAt) => {
        stage.api.cachePosition = () => deletedAt;
      });
      stage.api.cachePosition = (_oldest, newest) => newest;
    },
  },
  {
    name: 'a child is spoiled between its apply and the confirm, and the watch tells of that before it tells of the generation',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      await stage.run('worker 1', 'created');
      await stage.pass(120_000);
      // A resync's worth of reason to run: somebody deletes the child, which it makes again.
      stage.users.deleteChild('a-x');
      const woken = await stage.message('child-changed');
      stage.api.watchLagMs = (kind) => (kind.startsWith('Widget') ? 900 : 2);
      stage.users.put('a');
      const confirm = stage.hold('worker 2', 'APPLY status');
      const run = stage.start('worker 2', woken);
      await confirm.reached();
      stage.users.drift('a-x');
      await stage.pass(20);
      confirm.release();
      await run.end();
      await stage.pass(1_000);
      stage.api.watchLagMs = () => 2;
    },
  },
  {
    name: 'a run that changes nothing in its status writes late',
    kind: 'A',
    async play(stage) {
      stage.users.put('a', { children: ['x'] });
      const message = await stage.message('created');
      const confirmed = stage.hold('worker 1', 'APPLY status', 'after');
      const first = stage.start('worker 1', message);
      await confirmed.reached();
      first.process.kill('the script says so');
      const write = stage.hold('worker 2', 'APPLY');
      await stage.pass(181_000);
      const late = stage.start('worker 2', message);
      await write.reached();
      stage.users.put('a');
      await stage.run('worker 3', 'generation-changed');
      write.release();
      await late.end();
    },
  },
];

/** A run that read the object and stands before its first child. */
async function heldAtChild(stage: Stage, reason: string) {
  const write = stage.hold('worker 1', 'APPLY');
  const run = stage.start('worker 1', await stage.message(reason));
  await write.reached();
  return {
    async write(): Promise<void> {
      write.release();
      await run.end();
    },
    async writeAndDie(): Promise<void> {
      const written = stage.hold('worker 1', 'APPLY', 'after');
      write.release();
      await written.reached();
      run.process.kill('the script says so');
    },
  };
}

/** A run of the first generation writes its child after a run of the second has confirmed. */
async function lateChild(stage: Stage, change: () => void): Promise<void> {
  const late = await heldAtChild(stage, 'created');
  change();
  await stage.run('worker 2', 'generation-changed');
  await late.write();
}

/** A run for an object that is gone writes over what its successor has made; the watcher is away, so that it wakes nobody. */
async function overSuccessor(stage: Stage, beforeEnd: (deletedAt: number) => void = () => {}): Promise<void> {
  const { simulation, users } = stage;
  users.put('a', { children: ['x'] });
  const late = await heldAtChild(stage, 'created');
  users.delete('a');
  const deletedAt = simulation.api.cluster.store.resourceVersion;
  await stage.pass(100);
  users.put('a', { children: ['x'] });
  await stage.run('worker 2', 'created');
  await stage.pass(5_000);
  simulation.watching.crash();
  beforeEnd(deletedAt);
  await late.write();
  await stage.pass(1_000);
  simulation.watching.start();
  await stage.pass(1_000);
}
