/** Messages about one object that meet another, or that say of a living object that it is gone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import { Harness, widgets } from './harness.ts';

describe('a deletion message', () => {
  it('about an object that lives does nothing to it: it only left a selection (B11)', async () => {
    const harness = new Harness();
    const { uid } = harness.createWidget().metadata;
    await harness.deliver({ reason: 'created' });
    const before = harness.widget();
    assert.deepEqual(await harness.invoke(harness.recordFor({ uid, reason: 'deleted' })), []);
    assert.equal(harness.lastRun()['branch'], 'settled');
    assert.deepEqual([harness.widget(), harness.configNames(), harness.east.requestsOf('delete')], [before, ['one'], []]);
  });

  for (const order of [
    ['deleted', 'created'],
    ['created', 'deleted'],
  ] as const) {
    it(`about an object and the creation of another of the name end with that one, ${order.join(' first, then ')} (B08)`, async () => {
      const harness = new Harness();
      const { uid: old } = harness.createWidget().metadata;
      await harness.deliver({ reason: 'created' });
      harness.east.delete(widgets, { name: 'a' });
      harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
      harness.east.delete(namespaces, { name: 'widget-a' });
      const { uid } = harness.createWidget('a', ['two']).metadata;
      for (const reason of order) await harness.deliver({ reason, uid: reason === 'deleted' ? old : uid });
      assert.deepEqual([harness.widget()?.metadata.uid, harness.status()['observedGeneration'], harness.configNames()], [uid, 1, ['two']]);
      assert.deepEqual(harness.east.requestsOf('delete'), []);
      assert.equal(harness.inputs.length, 2, 'one run for each object');
    });
  }
});

describe('messages out of a backlog', () => {
  it('of older and of settled generations cost one read: nothing is written, and the status does not move (B45)', async () => {
    const harness = new Harness();
    harness.createWidget();
    for (const name of ['two', 'three', 'four', 'five']) harness.setConfig([name]);
    await harness.deliver();
    assert.equal(harness.status()['observedGeneration'], 5);
    harness.takeRequests();
    const before = harness.widget();
    const { resourceVersion } = before?.metadata ?? {};
    const old = [3, 5, 4].map((generation) =>
      harness.recordFor({ generation, resourceVersion: `${Number(resourceVersion) - 6 + generation}` }),
    );
    assert.deepEqual(await harness.invoke(...old), []);
    assert.deepEqual([harness.lastRun()['branch'], harness.takeRequests()], ['settled', ['get Widget']]);
    for (const record of old) await harness.invoke(record);
    assert.deepEqual(harness.takeRequests(), ['get Widget', 'get Widget', 'get Widget']);
    assert.deepEqual([harness.widget(), harness.inputs.length], [before, 1]);
  });

  it('never claim a generation whose spec was not used: an edit before the confirm leaves the status as it was (B45)', async () => {
    const harness = new Harness();
    harness.createWidget();
    for (const name of ['two', 'three', 'four', 'five']) harness.setConfig([name]);
    await harness.deliver();
    harness.setConfig(['six']);
    harness.east.fault({ verb: 'applyStatus' }, { first: () => void harness.setConfig(['seven']) });
    assert.deepEqual([(await harness.deliver())['branch'], harness.lastRun()['generation']], ['overtaken-newer-spec', 6]);
    assert.equal(harness.status()['observedGeneration'], 5);
    await harness.redeliver();
    assert.deepEqual([harness.status()['observedGeneration'], harness.configNames()], [7, ['seven']]);
    await harness.deliver();
    assert.equal(harness.lastRun()['branch'], 'settled');
  });
});
