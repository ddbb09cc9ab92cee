/** A watcher that dies, and its successor: what the cluster itself remembers is found again, and nothing else is promised. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { REFUSED, RETRY, SENT } from '../../fakes/queue.ts';
import { tenants } from './scene.ts';
import { stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

/** A scene whose watcher is the successor of another's, over the same cluster. */
async function successorOf(scene: WatcherScene): Promise<WatcherScene> {
  const next = new WatcherScene('east');
  next.clusters.set('east', scene.cluster('east'));
  await next.start();
  return next;
}

describe('a watcher that starts after another died', () => {
  it('sends again what SQS had not taken, and what it had, once (B32)', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const names = Array.from({ length: 10 }, (_, index) => `t${index}`);
    const special = new Map([
      ['t7', RETRY],
      ['t8', REFUSED],
      ['t9', undefined],
    ]);
    scene.queue.answer = ({ body }) => {
      const [, name = ''] = /"name":"(t\d)"/.exec(body) ?? [];
      return special.has(name) ? special.get(name) : SENT;
    };
    for (const name of names) scene.cluster('east').create(tenants, { name });
    await scene.clock.settle();
    assert.equal(scene.queue.accepted.length, 7);
    const next = await successorOf(scene);
    assert.deepEqual(
      next.sent().sort(),
      names.map((name) => `east Tenant sweep ${name}`),
    );
  });

  it('tells of a deletion in the gap only where a finalizer kept the object (B07)', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const east = scene.cluster('east');
    const settled = { status: { observedGeneration: 1 } };
    east.create(tenants, { name: 'kept' }, { metadata: { finalizers: ['example.com/hold'] }, ...settled });
    east.create(tenants, { name: 'gone' }, settled);
    await scene.clock.settle();
    await scene.watcher.stop();
    for (const name of ['kept', 'gone']) east.delete(tenants, { name });
    const next = await successorOf(scene);
    assert.deepEqual(next.sent(), [], 'the finalizer is not ours, and what vanished is promised by nobody');
    east.edit(tenants, { name: 'kept' }, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: [] };
    });
    await next.clock.settle();
    assert.deepEqual(next.sent(), ['east Tenant deleted kept']);
  });
});
