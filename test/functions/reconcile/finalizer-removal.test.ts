import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { widgets } from './harness.ts';
import { FINALIZER, FOREIGN, OutsideHarness } from './outside-world.ts';

/** An object with these finalizers that is being deleted; `first` happens right before the first `times` patches of them. */
async function meeting(
  finalizers: readonly string[],
  first: (harness: OutsideHarness) => void | Promise<void>,
  times = 1,
): Promise<OutsideHarness> {
  const harness = new OutsideHarness();
  harness.createWith(finalizers);
  await harness.deliver({ reason: 'created' });
  harness.deleteWidget();
  harness.east.fault({ verb: 'patchFinalizers' }, { first: () => first(harness) }, times);
  return harness;
}

const lists = (harness: OutsideHarness) => harness.east.requestsOf('patchFinalizers').map(({ detail }) => detail['finalizers']);

describe('taking the finalizer off', () => {
  it('names the uid and the resourceVersion that were read, and the list less ours', async () => {
    const harness = await meeting(['example.com/x', FINALIZER, 'example.com/y'], () => {});
    const { uid, resourceVersion } = harness.widget()?.metadata ?? {};
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
    const finalizers = ['example.com/x', 'example.com/y'];
    assert.deepEqual(harness.east.requestsOf('patchFinalizers')[0]?.detail, { uid, resourceVersion, finalizers });
    assert.deepEqual(harness.finalizers(), finalizers);
  });

  it('brings no finalizer of others back that went after the read (B51)', async () => {
    const harness = await meeting([FOREIGN, FINALIZER], (at) => at.setFinalizers([FINALIZER]));
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['branch'], line['rereadCount'], lists(harness)], ['finalized', 1, [[FOREIGN], []]]);
    assert.equal(harness.widget(), undefined);
    const read = harness.east.requestsOf('get').at(-1);
    assert.equal(read?.detail['resourceVersion'], undefined);
  });

  it('takes off no finalizer of others whose place in the list is another by then (B51)', async () => {
    const [x, y] = ['example.com/x', 'example.com/y'];
    const harness = await meeting([x, FINALIZER, y], (at) => at.setFinalizers([FINALIZER, y]));
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
    assert.deepEqual([lists(harness), harness.finalizers()], [[[x, y], [y]], [y]]);
  });

  it('finalizes and sends once, however often it has to read again, and gives way in the end', async () => {
    const harness = await meeting([FINALIZER], (at) => void at.label(`edit ${at.east.requests.length}`), 99);
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['branch'], line['rereadCount'], lists(harness).length], ['overtaken-foreign-fields', 3, 4]);
    const [deleted, retry] = harness.sent();
    assert.deepEqual([harness.sent().length, deleted?.reason, harness.finalized.length], [2, 'deleted', 1]);
    assert.deepEqual([retry?.reason, retry?.uid, retry?.attempt], ['retry', harness.uid(), 1]);
    assert.ok((harness.queue.accepted[1]?.message.delaySeconds ?? 0) >= 1);
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });

  it('is over where the object is gone, or another one has its name', async () => {
    for (const replaced of [false, true]) {
      const harness = await meeting([FINALIZER], (at) => {
        at.setFinalizers([]);
        if (replaced) at.createWith([FINALIZER], ['other']);
      });
      assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
      assert.deepEqual(harness.finalizers(), replaced ? [FINALIZER] : []);
      assert.equal(harness.widget()?.metadata.deletionTimestamp, undefined);
    }
  });

  it('is over where the API server says that the uid is another one', async () => {
    const harness = await meeting([FINALIZER], () => {
      throw new ConflictError('uid-conflict', 'another object has the name');
    });
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['branch'], line['rereadCount'], lists(harness).length], ['finalized', undefined, 1]);
  });

  it('is over where another run was first', async () => {
    const harness = await meeting([FOREIGN, FINALIZER], (at) => at.setFinalizers([FOREIGN]));
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
    assert.deepEqual([lists(harness).length, harness.finalizers()], [1, [FOREIGN]]);
  });

  it('waits where the object is paused by then', async () => {
    const harness = await meeting([FINALIZER], (at) =>
      at.setMetadata((metadata) => ({ ...metadata, annotations: { [PAUSED_ANNOTATION]: '' } })),
    );
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'paused');
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });

  it('does not happen to an object that a restored etcd has brought back', async () => {
    const harness = await meeting([FINALIZER], (at) => at.setMetadata(({ deletionTimestamp: _, ...metadata }) => metadata));
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'overtaken-newer-spec');
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
    await harness.redeliver();
    assert.deepEqual([...harness.outside.things.keys()], [harness.uid()]);
  });

  it('is tried again after a failure of the API server, whatever became of it there', async () => {
    for (const fault of [{ throw: new TransientError('server-error', 'no') }, { lose: new TransientError('unreachable', 'reset') }]) {
      const harness = await meeting([FINALIZER], () => {}, 0);
      harness.east.fault({ verb: 'patchFinalizers' }, fault);
      assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'transient');
      assert.equal((await harness.redeliver())['branch'], 'finalized');
      assert.deepEqual([harness.widget(), harness.outside.things.size], [undefined, 0]);
    }
  });

  it('makes one message a try where it fails for long: no `deleted` that finds the finalizer on makes another', async () => {
    const harness = await meeting([FINALIZER], () => {}, 0);
    harness.east.fault({ verb: 'patchFinalizers' }, { throw: new TransientError('forbidden', 'no right to patch') }, 40);
    harness.send({ reason: 'deleting' });
    for (let delivery = 1; delivery <= 30; delivery += 1) {
      await harness.deliverNext();
      assert.ok(harness.waitingCount <= 4, `${harness.waitingCount} messages after ${delivery} deliveries`);
    }
    const reasons = harness.sent().map(({ reason }) => reason);
    const countOf = (reason: string) => reasons.filter((one) => one === reason).length;
    assert.equal(countOf('deleted'), countOf('retry'));
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });

  it('that is refused for good is a letter, with the object and its finalizer still there', async () => {
    const harness = await meeting([FINALIZER], () => {
      throw new TerminalError('invalid', 'no');
    });
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['disposition'], line['code']], ['dead-letter', 'invalid']);
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
    assert.equal(harness.condition('Stalled')?.['status'], 'True');
  });

  it('that is refused after one more read shows nothing on an object whose conditions are one value in its CRD', async () => {
    let tries = 0;
    const harness = await meeting(
      [FINALIZER],
      (at) => {
        tries += 1;
        if (tries === 2) throw new TerminalError('invalid', 'no');
        at.label('theirs');
      },
      2,
    );
    const conditions = [{ type: 'Synced', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const theirs = { manager: 'other', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': { 'f:conditions': {} } } };
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['status'] = { conditions };
      draft['metadata'] = { ...(draft['metadata'] as object), managedFields: [theirs] };
    });
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['disposition'], line['rereadCount']], ['dead-letter', 1]);
    assert.deepEqual(harness.status()['conditions'], conditions);
  });

  it('leaves the watcher’s own `deleted` for a finalizer that somebody took off by hand', async () => {
    const harness = new OutsideHarness();
    harness.createWidget();
    await harness.deliver({ reason: 'created' });
    const record = harness.recordFor({ reason: 'deleted' });
    harness.setFinalizers([]);
    harness.deleteWidget();
    assert.equal(harness.outside.things.size, 1);
    await harness.invoke(record);
    assert.deepEqual([harness.lastRun()['branch'], harness.outside.things.size], ['finalized', 0]);
    assert.deepEqual(harness.east.objects(widgets), []);
  });
});
