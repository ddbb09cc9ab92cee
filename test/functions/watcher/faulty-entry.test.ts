import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { CONFIRM_MS, READ_MS, type RegisteredCluster } from '../../../functions/watcher/registry-watch.ts';
import { stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

const UNUSABLE = 'registry entry cannot be used; the cluster is watched as before';
const USABLE = 'registry entry can be used again';

/** Enough time for a change of the registry to take effect. */
async function register(scene: WatcherScene, ...clusters: RegisteredCluster[]): Promise<void> {
  scene.registered = clusters;
  await scene.clock.advance(READ_MS + CONFIRM_MS);
}

function faulty(cluster: RegisteredCluster, key: string): RegisteredCluster {
  const problem = `${cluster.entry.where}: unknown key ${key}`;
  return { entry: { ...cluster.entry, access: { kind: 'faulty', problem } }, server: undefined };
}

describe('an entry of the registry that becomes faulty while its cluster is watched', () => {
  it('is told of once for each reason, and the cluster is watched as before', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const [east, west] = scene.registered as [RegisteredCluster, RegisteredCluster];
    const before = [scene.cluster('west').openWatches(), scene.cluster('west').requests.length];
    await register(scene, east, faulty(west, 'kubeconfg'));
    await scene.clock.advance(60_000);
    await register(scene, east, faulty(west, 'contxt'));
    assert.deepEqual([scene.cluster('west').openWatches(), scene.cluster('west').requests.length], before);
    assert.deepEqual(
      scene.log.lines.filter(({ message }) => message === UNUSABLE).map(({ level, fields }) => [level, fields]),
      ['kubeconfg', 'contxt'].map((key) => [
        'error',
        { cluster: 'west', code: 'entry-invalid', reason: `${west.entry.where}: unknown key ${key}` },
      ]),
    );
    await register(scene, east, west);
    await scene.clock.advance(60_000);
    assert.deepEqual([scene.cluster('west').openWatches(), scene.cluster('west').requests.length], before);
    assert.deepEqual([scene.log.count(USABLE), scene.clients], [1, ['east', 'west']]);
  });

  it('begins anew once it is mended and says another way', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const [east] = scene.registered as [RegisteredCluster];
    await register(scene, faulty(east, 'kubeconfg'));
    await register(scene, { ...east, entry: { ...east.entry, access: { kind: 'in-cluster' } } });
    assert.deepEqual([scene.clients, scene.phases()], [['east', 'east', '-east'], ['east Tenant.platform.example streaming']]);
  });

  it('ends with its entry, faulty or not', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const [east, west] = scene.registered as [RegisteredCluster, RegisteredCluster];
    await register(scene, east, faulty(west, 'kubeconfg'));
    await register(scene, east);
    assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming']);
  });
});
