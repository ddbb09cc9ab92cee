/** What a watcher sends of objects that a finalizer of ours keeps, and of those that it kept. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { describeResource } from '../../../functions/core/described-resource.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { hasLabel } from '../../../functions/core/predicates.ts';
import { watchRules } from '../../../functions/core/watch-rules.ts';
import type { WatchedReconciler } from '../../../functions/watcher/cells.ts';
import type { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { envelopeOf } from '../../fakes/queue.ts';
import { tenants } from './scene.ts';
import { projects, stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

const OURS = 'platform.example/queue';
const SETTLED = { spec: { size: 1 }, status: { observedGeneration: 1 } };
const finalization = { name: OURS, finalize: async () => ({ done: true }) as const };
/** Neither heartbeats nor resyncs. */
const QUIET = { heartbeatSeconds: 1e8, resyncSeconds: 1e9 };
const withFinalizer: WatchedReconciler = { resource: tenants as never, revision: 1, finalization };

/** A settled Tenant with a finalizer: ours, if nothing else is said. */
function create(cluster: FakeCluster, name: string, metadata: object = {}): string {
  return cluster.create(tenants, { name }, { metadata: { finalizers: [OURS], ...metadata }, ...SETTLED }).metadata.uid;
}

/** Somebody writes to its metadata. */
function edit(cluster: FakeCluster, name: string, metadata: object): void {
  cluster.edit(tenants, { name }, (draft) => {
    draft['metadata'] = { ...(draft['metadata'] as object), ...metadata };
  });
}

/** What was sent since the last call: `reason name queue`, what must run, and the delay where there is one. */
function sentBy({ queue }: WatcherScene): string[] {
  return queue.accepted.splice(0).map(({ queueUrl, message }) => {
    const { reason, name, mustRun } = envelopeOf(message).data;
    const delay = message.delaySeconds === 0 ? '' : ` +${message.delaySeconds}`;
    return `${reason} ${name} ${queueUrl.split('/').at(-1)}${mustRun ? ' must-run' : ''}${delay}`;
  });
}

async function sceneOf(kinds: readonly WatchedReconciler[] = [withFinalizer], config = {}): Promise<[WatcherScene, FakeCluster]> {
  const scene = new WatcherScene('east');
  await scene.start(kinds, { ...QUIET, ...config });
  return [scene, scene.cluster('east')];
}

describe('the deletion of an object with our finalizer', () => {
  it('is sent when it begins, and when it is over with a delay that outlasts every run that saw the object alive', async () => {
    const [scene, east] = await sceneOf();
    create(east, 'a');
    east.delete(tenants, { name: 'a' });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleting a live']);
    edit(east, 'a', { finalizers: [] });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live +35']);
  });

  it('is delayed by the time-out that the function has', async () => {
    const [scene, east] = await sceneOf([withFinalizer], { functionTimeoutSeconds: 895 });
    create(east, 'a', { finalizers: [] });
    east.delete(tenants, { name: 'a' });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live +900']);
  });

  it('is not delayed for a kind that has nothing to undo', async () => {
    const [scene, east] = await sceneOf([withFinalizer, { resource: projects as never, revision: 1 }]);
    east.create(projects, { name: 'a' }, SETTLED);
    east.delete(projects, { name: 'a' });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live']);
  });

  it('is sent once more where only the finalizer of somebody else is left, when that is off too', async () => {
    const [scene, east] = await sceneOf();
    create(east, 'a', { finalizers: [OURS, 'example.com/hold'] });
    east.delete(tenants, { name: 'a' });
    await scene.clock.settle();
    edit(east, 'a', { finalizers: ['example.com/hold'] });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleting a live']);
    assert.equal(scene.watcher.statuses()[0]?.unsettledCount, 0);
    edit(east, 'a', { finalizers: [] });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live +35']);
  });

  it('is found by the next list where it came to its end in a gap', async () => {
    const [scene, east] = await sceneOf();
    create(east, 'a');
    await scene.clock.settle();
    scene.queue.accepted.splice(0);
    east.openWatches()[0]?.fail(new Error('lost'));
    east.delete(tenants, { name: 'a' });
    edit(east, 'a', { finalizers: [] });
    east.restart();
    await scene.clock.advance(60_000);
    assert.deepEqual(sentBy(scene), ['deleted a live +35']);
  });

  it('is never lost behind another object of the name, nor is that one', async () => {
    const [scene, east] = await sceneOf();
    const first = create(east, 'a');
    await scene.clock.settle();
    scene.queue.accepted.splice(0);
    scene.queue.hold();
    east.delete(tenants, { name: 'a' });
    await scene.clock.settle(); // in a call that gets no answer yet
    edit(east, 'a', { finalizers: [] });
    const second = east.create(tenants, { name: 'a' }, { spec: { size: 2 } }).metadata.uid;
    await scene.clock.settle();
    scene.queue.release();
    await scene.clock.settle();
    const sent = scene.queue.accepted.map(({ message }) => [envelopeOf(message).data.uid, message.delaySeconds]);
    assert.deepEqual(sent, [
      [first, 0],
      [second, 0],
      [first, 35],
    ]);
    assert.deepEqual(sentBy(scene), ['deleting a live', 'created a live', 'deleted a live +35']);
  });
});

describe('an object that a pause or a predicate holds back', () => {
  it('is told of when its deletion begins, when the pause ends, and when it is gone', async () => {
    const [scene, east] = await sceneOf();
    create(east, 'a', { annotations: { [PAUSED_ANNOTATION]: '' } });
    east.delete(tenants, { name: 'a' });
    await scene.clock.advance(3_600_000);
    assert.deepEqual(sentBy(scene), ['deleting a live']);
    edit(east, 'a', { annotations: {} });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['resumed a live must-run']);
    edit(east, 'a', { finalizers: [] });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live +35']);
  });

  it('is told of when its deletion begins and while it lasts, whatever the predicate says', async () => {
    const watch = watchRules('Tenant', { predicate: hasLabel('managed') }, true);
    const [scene, east] = await sceneOf([{ ...withFinalizer, watch }]);
    create(east, 'a');
    edit(east, 'a', { labels: { other: 'x' } });
    await scene.clock.advance(3_600_000);
    assert.deepEqual(sentBy(scene), []);
    east.delete(tenants, { name: 'a' });
    await scene.clock.advance(610_000);
    assert.deepEqual(sentBy(scene), ['deleting a live', 'sweep a bulk']);
    edit(east, 'a', { finalizers: [] });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted a live +35']);
  });
});

describe('a watcher that starts while objects are being deleted', () => {
  it('sends those with our finalizer, and again until they are gone', async () => {
    const scene = new WatcherScene('east');
    const east = scene.cluster('east');
    create(east, 'ours');
    create(east, 'theirs', { finalizers: ['example.com/hold'] });
    for (const name of ['ours', 'theirs']) east.delete(tenants, { name });
    await scene.start([withFinalizer], QUIET);
    assert.deepEqual(sentBy(scene), ['sweep ours bulk']);
    assert.equal(scene.watcher.statuses()[0]?.unsettledCount, 1);
    await scene.clock.advance(610_000);
    assert.deepEqual(sentBy(scene), ['sweep ours bulk']);
    edit(east, 'ours', { finalizers: [] });
    await scene.clock.advance(7_200_000);
    assert.deepEqual(sentBy(scene), ['deleted ours live +35']);
    assert.equal(scene.watcher.statuses()[0]?.unsettledCount, 0);
  });

  it('does the same for a kind that is not ours, of which it heals nothing else', async () => {
    const scene = new WatcherScene('east');
    const east = scene.cluster('east');
    const described: WatchedReconciler = { resource: describeResource(configMaps), revision: 1, finalization };
    const at = { namespace: 'team', name: 'going' };
    for (const name of ['going', 'living']) east.create(configMaps, { ...at, name }, { metadata: { finalizers: [OURS] } });
    east.delete(configMaps, at);
    await scene.start([described], QUIET);
    assert.deepEqual(sentBy(scene).sort(), ['sweep going bulk', 'sweep living bulk']);
    await scene.clock.advance(1_900_000);
    assert.deepEqual(sentBy(scene), ['sweep going bulk', 'sweep going bulk']);
    east.edit(configMaps, at, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: [] };
    });
    await scene.clock.settle();
    assert.deepEqual(sentBy(scene), ['deleted going live +35']);
  });
});
