/** A `status.nextReconcileTime` that somebody else has written: nobody of ours has sent for it. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { TransientError } from '../../../functions/core/errors.ts';
import { at, branches, Deliveries } from './deliveries.ts';
import { Harness, planFor, widgets } from './harness.ts';

let h: Harness;
let sqs: Deliveries;
let requeueAfterSeconds: number | undefined;

beforeEach(() => {
  h = new Harness();
  sqs = new Deliveries(h);
  requeueAfterSeconds = 5;
  h.author = ({ object }) => ({ ...planFor(object), requeueAfterSeconds });
  h.createWidget();
});

const stored = (): unknown => h.status()['nextReconcileTime'];

describe('a time that nobody of ours stored', () => {
  const overwrite = (seconds: number) =>
    h.east.edit(widgets, { name: 'a' }, (draft) => Object.assign(draft['status'] as object, { nextReconcileTime: at(seconds) }));

  it('makes no wake-up stale: the one that was sent runs, and the chain goes on', async () => {
    await h.deliver();
    overwrite(3600);
    assert.deepEqual(branches(await sqs.pass(5)), ['requeue-after']);
    assert.deepEqual([stored(), sqs.chains()], [at(10), [at(10)]]);
  });

  it('is not kept: the run that comes first stores its own, and the wake-up of before is stale', async () => {
    await h.deliver();
    overwrite(4);
    await sqs.pass(1);
    await h.deliver({ reason: 'child-changed', mustRun: true });
    assert.deepEqual(stored(), at(6));
    assert.deepEqual(branches(await sqs.pass(5)), ['requeue-stale', 'requeue-after']);
    assert.deepEqual(sqs.chains(), [stored()]);
  });

  it('is not sent for by a record that comes again and fails', async () => {
    await h.deliver();
    overwrite(3600);
    h.east.fault({ verb: 'apply' }, { throw: new TransientError('server-error', 'no') });
    await h.deliver({}, { receiveCount: '2' });
    assert.deepEqual(sqs.chains(), [at(5)]);
  });

  it('does not put off what finalizes the object', async () => {
    h.finalizer = 'platform.example/widget';
    requeueAfterSeconds = undefined;
    await h.deliver();
    h.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
    h.east.delete(widgets, { name: 'a' });
    overwrite(30);
    await h.deliver({ reason: 'deleting' });
    assert.deepEqual([stored(), sqs.chains()], [at(60), [at(60)]]);
  });

  for (const text of ['soon', '2026-01-01T00:00:03.5Z', 7])
    it(`is replaced: ${text}`, async () => {
      h.east.edit(widgets, { name: 'a' }, (draft) => {
        draft['status'] = { nextReconcileTime: text };
      });
      await h.deliver();
      assert.deepEqual([stored(), sqs.chains()], [at(5), [at(5)]]);
    });
});
