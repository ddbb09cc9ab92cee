/** A cluster that is restored from an older copy of its etcd: B19 of test/README.md. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransientError } from '../../../functions/core/errors.ts';
import { Scene, tenants } from './scene.ts';

const unreachable = (): TransientError => new TransientError('unreachable', 'the connection broke');
const WENT_BACK = 'the cluster went back in time; everything is read again';

describe('a cluster that went back in time (B19)', () => {
  it('is noticed before a resume; its lower versions are the truth', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    scene.create('c', 1);
    scene.cluster.store.resourceVersion = 9_000;
    scene.change('a');
    await scene.start();
    scene.sent();
    scene.openWatch.fail(unreachable());
    scene.cluster.store.resourceVersion = 2_000;
    scene.cluster.delete(tenants, { name: 'c' });
    scene.change('a');
    scene.create('b');
    await scene.clock.advance(2_000);
    assert.deepEqual(scene.sent(), ['created b', 'deleted c', 'generation-changed a']);
    assert.equal(scene.openWatch.options.resourceVersion, '2003');
    await scene.stop();
  });

  it('is noticed under a silent stream within the probe interval', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    scene.cluster.store.resourceVersion = 9_000;
    await scene.start();
    const silent = scene.openWatch;
    silent.paused = true;
    scene.cluster.store.resourceVersion = 2_000;
    scene.change('a');
    await scene.clock.advance(300_000);
    assert.deepEqual([scene.sent(), silent.open, scene.openWatch.options.resourceVersion], [['generation-changed a'], false, '2001']);
    await scene.stop();
  });
});

describe('a cluster that went back in time and has passed our position by the time we ask (B19)', () => {
  /** What the watch had seen when the cluster was restored to a copy from before, by what the new history then tells. */
  const HISTORIES: readonly (readonly [string, (scene: Scene) => void, readonly string[], number])[] = [
    ['a change', (scene) => scene.change('a'), ['generation-changed a'], 1],
    ['a creation', (scene) => scene.create('new'), ['deleted new'], 0],
    ['a deletion', (scene) => scene.cluster.delete(tenants, { name: 'a' }), ['created a'], 1],
    ['a deletion and a new object of that name', recreate, ['created a', 'deleted a'], 1],
  ];

  for (const [what, act, expected, warnings] of HISTORIES) {
    for (const how of ['after a failure', 'under a silent stream'] as const) {
      it(`is noticed ${how} by ${what} that never was`, async () => {
        const scene = new Scene();
        scene.create('a');
        scene.create('z', 1);
        await scene.start();
        const restore = scene.cluster.store.snapshot();
        act(scene);
        await scene.clock.settle();
        scene.sent();
        if (how === 'after a failure') scene.openWatch.fail(unreachable());
        else scene.openWatch.paused = true;
        restore();
        for (const name of ['b', 'c', 'd', 'e']) scene.create(name, 1);
        await scene.clock.advance(how === 'after a failure' ? 2_000 : 300_000);
        const sent = scene.sent().filter((one) => !one.startsWith('resync'));
        assert.deepEqual([sent, scene.log.count(WENT_BACK)], [expected, warnings]);
        assert.equal(scene.openWatch.options.resourceVersion, String(scene.cluster.store.resourceVersion));
        await scene.stop();
      });
    }
  }

  it('is not suspected for a deletion in an outage: it is found by one list', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    scene.create('last', 1);
    await scene.start();
    scene.openWatch.fail(unreachable());
    scene.cluster.delete(tenants, { name: 'last' });
    await scene.clock.advance(2_000);
    assert.deepEqual([scene.sent(), scene.log.count(WENT_BACK), scene.count('list')], [['deleted last'], 0, 3]);
    await scene.stop();
  });

  it('is not suspected for a deletion that the stream has told', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    scene.cluster.delete(tenants, { name: 'a' });
    await scene.clock.advance(600_000);
    assert.deepEqual([scene.sent(), scene.count('watch')], [['deleted a'], 1]);
    await scene.stop();
  });
});

function recreate(scene: Scene): void {
  scene.cluster.delete(tenants, { name: 'a' });
  scene.create('a');
}
