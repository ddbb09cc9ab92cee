/** Objects of one name, one after the other: what one left outside is its own, whatever order their messages come in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TerminalError } from '../../../functions/core/errors.ts';
import { Harness, widgets } from './harness.ts';
import { FINALIZER, FOREIGN, OutsideHarness } from './outside-world.ts';
import { DEAD_LETTER_QUEUE_URL } from './records.ts';

/** Two Widgets of one name, the first one's leftovers outside, and a message of it. */
async function replaced(over: Parameters<OutsideHarness['recordFor']>[0] = {}) {
  const harness = new OutsideHarness();
  harness.createWidget();
  await harness.deliver({ reason: 'created' });
  const record = harness.recordFor({ reason: 'generation-changed', ...over });
  const first = harness.uid();
  harness.setFinalizers([]);
  harness.deleteWidget();
  harness.createWidget('a', ['other']);
  harness.takeRequests();
  harness.inputs.length = 0;
  return { harness, record, first, second: harness.uid() };
}

const outside = (harness: OutsideHarness) => [...harness.outside.things.keys()];

describe('a message about an object that is gone or replaced', () => {
  it('finalizes its own uid, touches nothing of the other one, and gives that a message', async () => {
    const { harness, record, first, second } = await replaced();
    harness.outside.ensure(second, 'made by its own run');
    await harness.invoke(record);
    assert.equal(harness.lastRun()['branch'], 'overtaken-replacement');
    assert.deepEqual(
      harness.finalized.map(({ uid, object }) => [uid, object]),
      [[first, undefined]],
    );
    assert.deepEqual([outside(harness), harness.takeRequests(), harness.inputs.length], [[second], ['get Widget'], 0]);
    const [data] = harness.sent();
    const { resourceVersion, generation } = harness.widget()?.metadata ?? {};
    assert.deepEqual([data?.uid, data?.resourceVersion, data?.generation], [second, resourceVersion, generation]);
    assert.deepEqual([data?.mustRun, data?.reason, data?.attempt], [true, 'retry', 2]);
    assert.ok((harness.queue.accepted[0]?.message.delaySeconds ?? 0) >= 1);
    await harness.redeliver();
    assert.deepEqual([harness.lastRun()['branch'], harness.inputs[0]?.object.metadata.uid], ['reconciled', second]);
  });

  for (const reason of ['created', 'retry', 'requeue', 'child-changed', 'resync', 'sweep', 'deleted'] as const) {
    it(`does so for the reason ${reason}, also where the other one is being deleted`, async () => {
      const { harness, record, first } = await replaced({ reason, attempt: 3, mustRun: false });
      harness.setFinalizers([FOREIGN, FINALIZER]);
      harness.deleteWidget();
      await harness.invoke(record);
      assert.equal(harness.lastRun()['branch'], 'overtaken-replacement');
      assert.deepEqual([harness.finalized.map(({ uid }) => uid), harness.finalizers()], [[first], [FOREIGN, FINALIZER]]);
      await harness.redeliver();
      assert.deepEqual([harness.lastRun()['branch'], outside(harness)], ['finalized', []]);
    });
  }

  it('that is delivered late, twice and at once brings nothing back and leaves nothing (B49)', async () => {
    const harness = new OutsideHarness();
    harness.createWidget();
    const created = harness.recordFor({ reason: 'created' });
    await harness.invoke(created);
    harness.deleteWidget();
    await harness.deliver({ reason: 'deleting' });
    await harness.redeliver();
    await Promise.all([harness.invoke(created), harness.invoke(created), harness.invoke(created, created)]);
    assert.deepEqual([harness.east.objects(widgets), outside(harness)], [[], []]);
    assert.deepEqual([harness.inputs.length, harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)], [1, []]);
  });

  it('without a uid is about what has the name, and about nothing where nothing has', async () => {
    const { harness, second } = await replaced();
    await harness.deliver({ uid: undefined, mustRun: true });
    assert.deepEqual([harness.lastRun()['branch'], harness.inputs[0]?.object.metadata.uid], ['reconciled', second]);
    harness.setFinalizers([]);
    harness.deleteWidget();
    assert.equal((await harness.deliver({ uid: undefined, mustRun: true }))['branch'], 'gone');
    assert.deepEqual(harness.finalized, []);
  });

  it('is not folded into one about the other object', async () => {
    const { harness, record, first, second } = await replaced({ reason: 'deleted' });
    await harness.invoke(record, harness.recordFor({ reason: 'created' }));
    assert.deepEqual(
      [harness.finalized.map(({ uid }) => uid), harness.inputs.map(({ object }) => object.metadata.uid)],
      [[first], [second]],
    );
    assert.deepEqual(outside(harness), [second]);
  });

  it('stays one about that object when its finalize fails', async () => {
    const { harness, record, first } = await replaced();
    harness.finalize = () => {
      throw new Error('boom');
    };
    await harness.invoke(record);
    assert.deepEqual([harness.sent()[0]?.uid, harness.sent()[0]?.attempt, harness.widget()?.['status']], [first, 2, undefined]);
  });

  it('whose kind is not served any more is finalized: the CRD went and took the object with it', async () => {
    const { harness, record } = await replaced({ reason: 'deleted' });
    harness.east.unserve(widgets);
    await harness.invoke(record);
    assert.deepEqual([harness.lastRun()['branch'], outside(harness)], ['finalized', []]);
  });
});

describe('a run that is given up', () => {
  for (const isReplaced of [false, true]) {
    it(`gets one more for the uid that it acted on where its object is ${isReplaced ? 'replaced' : 'gone'} by then`, async () => {
      const harness = new OutsideHarness();
      harness.createWidget();
      const first = harness.uid();
      harness.author = () => {
        harness.setFinalizers([]);
        harness.deleteWidget();
        if (isReplaced) harness.createWidget('a', ['other']);
        throw new TerminalError('no-such-plan', 'choose another plan');
      };
      const line = await harness.deliver({ reason: 'created', uid: undefined });
      assert.deepEqual([line['disposition'], line['branch'], outside(harness)], ['requeue', 'overtaken-replacement', [first]]);
      assert.deepEqual([harness.sent()[0]?.uid, harness.sent()[0]?.mustRun], [first, true]);
      await harness.redeliver();
      assert.deepEqual([outside(harness), harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)], [[], []]);
      assert.equal(harness.lastRun()['branch'], isReplaced ? 'overtaken-replacement' : 'finalized');
    });
  }

  it('is a letter all the same where its object is still there', async () => {
    const harness = new OutsideHarness();
    harness.createWidget();
    harness.author = () => {
      throw new TerminalError('no-such-plan', 'choose another plan');
    };
    assert.equal((await harness.deliver({ reason: 'created' }))['disposition'], 'dead-letter');
    assert.deepEqual([harness.finalizers(), outside(harness)], [[FINALIZER], [harness.uid()]]);
  });
});

describe('a kind without a finalizer', () => {
  it('reconciles whatever has the name, as ever', async () => {
    const harness = new Harness();
    harness.createWidget();
    const record = harness.recordFor({ reason: 'created' });
    harness.east.delete(widgets, { name: 'a' });
    harness.createWidget('a', ['other']);
    await harness.invoke(record);
    assert.deepEqual([harness.lastRun()['branch'], harness.widget()?.metadata.finalizers], ['reconciled', undefined]);
  });
});
