/**
 * The function killed at each of its calls in turn (API server, queue, outside), before the call has its effect and after, while others
 * change its object: when all messages are through, what is outside is what the objects want, and nothing was made twice. The life of
 * an object that nobody else touches, with watcher and real servers: test/functions/reconcilers/queue-claim-runs.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { widgets } from './harness.ts';
import { type Death, FINALIZER, FOREIGN, OutsideHarness } from './outside-world.ts';

const CALLS_MAX = 25;

/** Runs `story` with every death there is, until one story is over before its process would have died. */
async function withEveryDeath(story: (death: Death) => Promise<OutsideHarness>): Promise<number> {
  for (let at = 1; at <= CALLS_MAX; at += 1) {
    const killed: boolean[] = [];
    for (const when of ['before', 'after'] as const) {
      try {
        killed.push((await story({ at, when })).wasKilled);
      } catch (error) {
        throw new Error(`killed ${when} call ${at}`, { cause: error });
      }
    }
    if (!killed.includes(true)) return at - 1;
  }
  throw new Error(`more than ${CALLS_MAX} calls`);
}

function assertSettled(harness: OutsideHarness, config: readonly string[]): void {
  const { generation } = harness.widget()?.metadata ?? {};
  assert.equal(harness.status()['observedGeneration'], generation);
  assert.deepEqual([...harness.outside.things], [[harness.uid(), JSON.stringify({ config })]]);
  assert.ok(harness.finalizers().includes(FINALIZER));
}

function assertNothingLeft(harness: OutsideHarness): void {
  assert.deepEqual(harness.east.objects(widgets), []);
  assert.deepEqual([...harness.outside.things], []);
}

/** Each uid had its effect made once, or once more after it was finalized for good by a run that came too late. */
function assertNothingDoubled(harness: OutsideHarness): void {
  assert.equal(new Set(harness.outside.made).size, harness.outside.made.length);
}

describe('a process killed at any of its calls', () => {
  it('over an object that is being deleted, and that another finalizer keeps: ours goes, with no message of the watcher', async () => {
    const calls = await withEveryDeath(async (death) => {
      const harness = new OutsideHarness();
      harness.createWith([FOREIGN]);
      await harness.deliver({ reason: 'created' });
      harness.deleteWidget();
      harness.send({ reason: 'deleting' });
      harness.nextDeath = death;
      await harness.drain();
      assert.deepEqual([[...harness.outside.things], harness.finalizers()], [[], [FOREIGN]]);
      harness.setFinalizers([]);
      assertNothingLeft(harness);
      return harness;
    });
    // A change of this number is no fault, none at all is.
    assert.ok(calls >= 4, `${calls} calls`);
  });

  it('over a changed object that is deleted before the message comes again', async () => {
    await withEveryDeath(async (death) => {
      const harness = new OutsideHarness();
      harness.createWidget();
      await harness.deliver({ reason: 'created' });
      harness.setConfig(['two']);
      harness.send({ reason: 'generation-changed' });
      harness.nextDeath = death;
      await harness.deliverNext();
      harness.deleteWidget();
      harness.send({ reason: 'deleting' });
      await harness.drain();
      assertNothingLeft(harness);
      return harness;
    });
  });

  it('over an object that is made again under its name before the message comes again', async () => {
    await withEveryDeath(async (death) => {
      const harness = new OutsideHarness();
      harness.createWidget();
      const uid = harness.uid();
      harness.send({ reason: 'created' });
      harness.nextDeath = death;
      await harness.deliverNext();
      harness.deleteWidget();
      harness.send({ reason: harness.widget() === undefined ? 'deleted' : 'deleting', uid });
      await harness.deliverLast();
      harness.createWidget('a', ['other']);
      harness.send({ reason: 'created' });
      await harness.drain();
      assertSettled(harness, ['other']);
      assertNothingDoubled(harness);
      return harness;
    });
  });
});

describe('a run that is late', () => {
  /** A run that waits right before it makes something outside, until it is told to go on. */
  function held(harness: OutsideHarness): () => void {
    const gate = Promise.withResolvers<void>();
    harness.beforeOutside = () => {
      harness.beforeOutside = () => {};
      return gate.promise;
    };
    return gate.resolve;
  }

  it('undoes what it made after the object was finalized and gone', async () => {
    const harness = new OutsideHarness();
    harness.createWidget();
    const goOn = held(harness);
    const late = harness.begin(harness.recordFor({ reason: 'created' }));
    await harness.clock.settle();
    harness.deleteWidget();
    await harness.deliver({ reason: 'deleting' });
    assert.equal(harness.widget(), undefined);
    goOn();
    await harness.finish(late);
    assertNothingLeft(harness);
  });

  it('that dies, with its message acknowledged by another, is cleared by the `deleted` that was sent first', async () => {
    for (const isReplaced of [false, true]) {
      const harness = new OutsideHarness();
      harness.createWidget();
      const uid = harness.uid();
      const created = harness.recordFor({ reason: 'created' });
      await harness.invoke(created);
      harness.deleteWidget();
      harness.send({ reason: 'deleting' });
      await harness.deliverNext();
      assert.equal(harness.widget(), undefined);
      // A duplicate of the first message had read the object alive.
      harness.outside.ensure(uid, 'late');
      if (isReplaced) harness.createWidget('a', ['other']);
      await harness.drain();
      assert.deepEqual([...harness.outside.things.keys()], isReplaced ? [harness.uid()] : []);
    }
  });

  it('beside another one of the same message: one effect, one finalizer, both acknowledged or sent again', async () => {
    const harness = new OutsideHarness();
    harness.createWidget();
    const goOn = held(harness);
    const record = harness.recordFor({ reason: 'created' });
    const first = harness.begin(record);
    await harness.clock.settle();
    await harness.invoke(record);
    goOn();
    await harness.finish(first);
    await harness.drain();
    assertSettled(harness, ['one']);
    assertNothingDoubled(harness);
  });
});
