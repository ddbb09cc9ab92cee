/** Objects that were there before their owner: taken over where the Plan says so, and never from another controller. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../../events/labels.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { Harness, planFor } from './harness.ts';

let h: Harness;
const TAKEN = { namespace: 'widget-a', name: 'taken' };
const taken = () => h.east.object(configMaps, TAKEN);
const reference = (more: object) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'other', uid: 'other-uid', ...more });

beforeEach(() => {
  h = new Harness();
  h.author = ({ object }) => ({ ...planFor(object), adopt: true });
  h.createWidget('a', ['one', 'taken']);
});

describe('adopt', () => {
  it('takes over an object without a controller, with what others wrote into it', async () => {
    h.east.create(configMaps, TAKEN, { metadata: { labels: { team: 'x' }, ownerReferences: [reference({})] }, data: { theirs: 'kept' } });
    const { uid } = taken()?.metadata ?? {};
    assert.equal((await h.deliver({ reason: 'created' }))['branch'], 'reconciled');
    const { metadata, ...fields } = taken() ?? {};
    const owner = h.widget()?.metadata.uid ?? '';
    assert.equal(metadata?.uid, uid, 'it is the same object');
    assert.deepEqual(metadata?.labels, { team: 'x', [OWNER_LABEL]: owner });
    assert.equal(metadata?.annotations?.[OWNER_REF_ANNOTATION], 'east/platform.example/Widget//a');
    const controllers = metadata?.ownerReferences?.filter(({ controller }) => controller === true);
    assert.deepEqual(
      controllers?.map((one) => one.uid),
      [owner],
    );
    assert.deepEqual((fields as { data?: unknown }).data, { theirs: 'kept', name: 'taken' });
  });

  it('deletes what was adopted once the Plan drops it, like every other child', async () => {
    h.createConfig('taken');
    await h.deliver({ reason: 'created' });
    h.setConfig(['one']);
    await h.deliver();
    assert.equal(taken(), undefined);
    assert.deepEqual(h.configNames(), ['one']);
  });

  it('leaves an object to the controller that it has', async () => {
    h.east.create(configMaps, TAKEN, { metadata: { ownerReferences: [reference({ controller: true })] } });
    const before = taken();
    const line = await h.deliver({ reason: 'created' });
    assert.deepEqual([line['branch'], line['code']], ['refused', 'child-not-owned']);
    assert.deepEqual(taken(), before);
    assert.deepEqual(h.configNames(), ['taken'], 'nothing is written before every child was looked at');
  });

  it('waits for an object that is being deleted', async () => {
    h.east.create(configMaps, TAKEN, { metadata: { finalizers: ['lab.example/hold'] } });
    h.east.delete(configMaps, TAKEN);
    const line = await h.deliver({ reason: 'created' });
    assert.deepEqual([line['branch'], line['code']], ['waiting', 'predecessor']);
    h.east.edit(configMaps, TAKEN, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: [] };
    });
    assert.equal((await h.redeliver())['branch'], 'reconciled');
    assert.equal(taken()?.metadata.labels?.[OWNER_LABEL], h.widget()?.metadata.uid);
  });

  for (const adopt of [undefined, false])
    it(`does not happen where the Plan says ${adopt}`, async () => {
      h.author = ({ object }) => ({ ...planFor(object), adopt });
      h.createConfig('taken');
      assert.equal((await h.deliver({ reason: 'created' }))['code'], 'child-not-owned');
      assert.deepEqual(taken()?.metadata.labels, undefined);
    });

  it('takes back a child whose marks somebody took off, reference and label both', async () => {
    await h.deliver({ reason: 'created' });
    h.east.edit(configMaps, TAKEN, (draft) => {
      const { labels: _l, annotations: _a, ownerReferences: _o, ...metadata } = draft['metadata'] as Record<string, unknown>;
      draft['metadata'] = metadata;
    });
    assert.equal((await h.deliver({ reason: 'child-changed', mustRun: true }))['branch'], 'reconciled');
    assert.equal(taken()?.metadata.labels?.[OWNER_LABEL], h.widget()?.metadata.uid);
  });
});
