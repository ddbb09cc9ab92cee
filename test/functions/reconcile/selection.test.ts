/** What becomes of a message whose object its reconciler does not want to see. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { hasLabel } from '../../../functions/core/predicates.ts';
import type { WatchDeclaration } from '../../../functions/core/watch-rules.ts';
import { RETRY, SENT } from '../../fakes/queue.ts';
import { Deliveries } from './deliveries.ts';
import { Harness, planFor } from './harness.ts';

/** A Widget that was selected and reconciled, and then lost its label. */
async function left(watch: WatchDeclaration = { labelSelector: 'touched=yes' }): Promise<Harness> {
  const harness = new Harness();
  harness.watch = watch;
  harness.createWidget();
  harness.label('yes');
  assert.equal((await harness.deliver())['branch'], 'reconciled');
  harness.label('no');
  harness.takeRequests();
  return harness;
}

describe('a run for an object that left the selection', () => {
  const messages: readonly Partial<EnvelopeData>[] = [
    { reason: 'deleted' },
    { reason: 'retry', mustRun: true },
    { reason: 'child-changed', mustRun: true },
    { reason: 'resync', mustRun: true },
  ];
  for (const message of messages) {
    it(`only reads, and is done, when it was sent as ${message.reason} (B11)`, async () => {
      const harness = await left();
      harness.setConfig([]);
      const before = harness.east.objects(configMaps);
      const line = await harness.deliver(message);
      assert.deepEqual([line['branch'], line['disposition']], ['not-selected', 'done']);
      // A cache may be behind, save for the message that the cluster sent because the object left.
      const reads = message.reason === 'deleted' ? 1 : 2;
      assert.deepEqual(harness.takeRequests(), Array(reads).fill('get Widget'));
      assert.deepEqual(harness.east.objects(configMaps), before);
      assert.equal(harness.queue.accepted.length, 0);
    });
  }

  it('is over as well where the predicate or a field says so', async () => {
    for (const watch of [{ predicate: hasLabel('touched', 'yes') }, { fieldSelector: 'metadata.labels.touched=yes' }]) {
      const harness = await left(watch);
      assert.equal((await harness.deliver({ mustRun: true }))['branch'], 'not-selected');
    }
  });

  it('sends for the time that the object waits for, where the run that stored it died before it did', async () => {
    const harness = await left();
    harness.author = ({ object }) => ({ ...planFor(object), requeueAfterSeconds: 60 });
    harness.label('yes');
    const record = { messageId: 'm', receiveCount: '1' };
    harness.queue.answer = () => RETRY;
    assert.deepEqual(await harness.invoke(harness.recordFor({ mustRun: true, reason: 'resync' }, record)), ['m']);
    harness.queue.answer = () => SENT;
    harness.label('no');
    const line = await harness.deliver({ mustRun: true, reason: 'resync' }, { ...record, receiveCount: '2' });
    assert.equal(line['branch'], 'not-selected');
    const [wakeUp] = harness.queue.envelopes();
    assert.deepEqual([wakeUp?.data.reason, wakeUp?.data.notBefore], ['requeue', harness.status()['nextReconcileTime']]);
    harness.label('yes');
    assert.equal((await harness.redeliver())['branch'], 'requeue-after');
  });

  it('runs as a wake-up where only a cache shows that it left: the run after its return has left the time to it', async () => {
    const harness = await left();
    const sqs = new Deliveries(harness);
    const cached = harness.widget();
    harness.author = ({ object }) => ({ ...planFor(object), requeueAfterSeconds: 60 });
    harness.label('yes');
    await harness.deliver({ reason: 'selected', mustRun: true });
    await harness.deliver({ reason: 'selected', mustRun: true });
    const { get } = harness.east.client;
    const fromCache: typeof get = async (type, address, options) =>
      options?.resourceVersion === undefined ? get(type, address, options) : cached;
    Object.assign(harness.east.client, { get: fromCache });
    const lines = await sqs.pass(60);
    assert.deepEqual(
      lines.map((line) => line['branch']),
      ['requeue-after'],
    );
    assert.deepEqual(sqs.chains(), [harness.status()['nextReconcileTime']]);
  });

  it('tells of a pause first', async () => {
    const harness = await left();
    harness.east.edit(
      { ...configMaps, kind: 'Widget', group: 'platform.example', plural: 'widgets', scope: 'Cluster' },
      { name: 'a' },
      (draft) => {
        draft['metadata'] = { ...(draft['metadata'] as object), annotations: { 'dogwatch.dev/paused': 'true' } };
      },
    );
    assert.equal((await harness.deliver({ reason: 'paused' }))['branch'], 'paused');
  });
});

describe('a run for an object that came back into the selection', () => {
  it('repairs what happened to its children meanwhile, although its generation is settled', async () => {
    const harness = await left();
    harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
    harness.label('yes');
    assert.equal((await harness.deliver({ reason: 'deleted' }))['branch'], 'settled');
    assert.deepEqual(harness.configNames(), []);
    assert.equal((await harness.deliver({ reason: 'selected', mustRun: true }))['branch'], 'reconciled');
    assert.deepEqual(harness.configNames(), ['one']);
  });

  it('folds with the deletion that it had looked like', async () => {
    const harness = await left();
    harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
    const deleted = harness.recordFor({ reason: 'deleted' });
    harness.label('yes');
    assert.deepEqual(await harness.invoke(deleted, harness.recordFor({ reason: 'selected', mustRun: true })), []);
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.deepEqual(harness.configNames(), ['one']);
  });
});
