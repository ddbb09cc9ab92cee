/** Wake-ups of objects that are paused, or were a moment ago. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PAUSED_ANNOTATION } from '../../../events/labels.ts';
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';
import { at, Deliveries } from './deliveries.ts';
import { Harness, planFor, widgets } from './harness.ts';

let h: Harness;
let sqs: Deliveries;
let requeueAfterSeconds: number;

beforeEach(() => {
  h = new Harness();
  sqs = new Deliveries(h);
  requeueAfterSeconds = 5;
  h.author = ({ object }) => ({ ...planFor(object), requeueAfterSeconds });
  h.createWidget();
});

const stored = (): unknown => h.status()['nextReconcileTime'];
const annotate = (annotations: Record<string, string>): KubernetesObject =>
  h.east.edit(widgets, { name: 'a' }, (draft) => Object.assign(draft['metadata'] as object, { annotations }));

describe('a wake-up and a pause', () => {
  it('a record that comes again while the object is paused sends for the time that the object still waits for', async () => {
    requeueAfterSeconds = 60;
    sqs.isTaken = () => false;
    await h.deliver();
    sqs.isTaken = () => true;
    annotate({ [PAUSED_ANNOTATION]: '' });
    const line = await h.deliver({}, { receiveCount: '2' });
    assert.deepEqual([line['branch'], sqs.chains()], ['paused', [at(60)]]);
    annotate({});
    await h.deliver({ reason: 'resumed', mustRun: true });
    assert.deepEqual([stored(), sqs.chains()], [at(60), [at(60)]]);
  });

  it('runs where only a cache still shows the pause: the run after the pause has left the time to it', async () => {
    requeueAfterSeconds = 60;
    await h.deliver();
    const cached = annotate({ [PAUSED_ANNOTATION]: '' });
    annotate({});
    await h.deliver({ reason: 'resumed', mustRun: true });
    const { get } = h.east.client;
    const fromCache: typeof get = async (type, address, options) =>
      options?.resourceVersion === undefined ? get(type, address, options) : cached;
    Object.assign(h.east.client, { get: fromCache });
    const lines = await sqs.pass(60);
    assert.deepEqual(
      lines.map((line) => line['branch']),
      ['requeue-after'],
    );
    assert.deepEqual([stored(), sqs.chains()], [at(120), [at(120)]]);
  });

  it('that ended at the pause is followed by one of the run after it, whose clock is a little behind', async () => {
    await h.deliver();
    annotate({ [PAUSED_ANNOTATION]: '' });
    assert.deepEqual(
      (await sqs.pass(5)).map((line) => line['branch']),
      ['paused'],
    );
    annotate({});
    h.clock.setForward(-2000);
    assert.equal((await h.deliver({ reason: 'resumed', mustRun: true }))['branch'], 'requeue-after');
    assert.deepEqual([stored(), sqs.chains()], [at(8), [at(8)]]);
  });

  it('that is about to come when the pause ends is stale: the run after the pause has stored another time', async () => {
    await h.deliver();
    annotate({ [PAUSED_ANNOTATION]: '' });
    annotate({});
    await sqs.pass(3);
    await h.deliver({ reason: 'resumed', mustRun: true });
    const lines = await sqs.pass(5);
    assert.deepEqual(
      lines.map((line) => line['branch']),
      ['requeue-stale', 'requeue-after'],
    );
    assert.deepEqual(sqs.chains(), [stored()]);
  });
});
