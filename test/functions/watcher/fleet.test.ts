import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { Fleet } from '../../../functions/watcher/fleet.ts';
import { CONFIRM_MS, READ_MS, type RegisteredCluster } from '../../../functions/watcher/registry-watch.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { RETRY, SENT } from '../../fakes/queue.ts';
import { FakeLog, tenants } from './scene.ts';
import { projects, stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

/** The longest time until a change of the registry takes effect. */
const FOLLOWS_MS = READ_MS + CONFIRM_MS;
const ADDED = 'cluster added from the registry';
const REMOVED = 'cluster taken from the registry; it is watched no more';
const MOVED = 'cluster is reached in another way; it is watched anew';
const UNCONNECTED = 'cluster cannot be connected; the others go on';

/** The registry says something else, and enough time goes by for it to take effect. */
async function register(scene: WatcherScene, ...clusters: RegisteredCluster[]): Promise<void> {
  scene.registered = clusters;
  await scene.clock.advance(FOLLOWS_MS);
}

/** What a stream is known by: its watch, and how many calls it took. */
function streamOf(scene: WatcherScene, name: string): unknown[] {
  const cluster = scene.cluster(name);
  return [...cluster.openWatches(), cluster.requests.length];
}

describe('a fleet', () => {
  it('begins with a cluster that comes into the registry, and sends what it finds there', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const east = streamOf(scene, 'east');
    const west = scene.addCluster('west');
    scene.cluster('west').create(tenants, { name: 'old' });
    await register(scene, ...scene.registered, west);
    scene.cluster('west').create(tenants, { name: 'new' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['west Tenant sweep old', 'west Tenant created new']);
    assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming', 'west Tenant.platform.example streaming']);
    assert.deepEqual([streamOf(scene, 'east'), scene.log.count(ADDED)], [east, 1]);
  });

  it('lets a cluster go that leaves the registry: nothing more of it is read, sent or shown', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const east = streamOf(scene, 'east');
    scene.queue.answer = () => RETRY;
    for (const name of ['east', 'west']) scene.cluster(name).create(tenants, { name: 'waits' });
    await scene.clock.settle();
    await register(scene, ...scene.registered.slice(0, 1));
    scene.queue.answer = () => SENT;
    scene.cluster('west').create(tenants, { name: 'unseen' });
    await scene.clock.advance(60_000);
    assert.deepEqual(scene.sent(), ['east Tenant created waits']);
    assert.deepEqual([scene.cluster('west').openWatches().length, scene.clients], [0, ['east', 'west', '-west']]);
    assert.deepEqual([streamOf(scene, 'east'), scene.log.count(REMOVED)], [east, 1]);
    for (const path of ['/readyz', '/metrics']) {
      const { text } = await scene.get(path);
      assert.deepEqual([text.includes('west'), text.includes('east')], [false, true], path);
    }
  });

  it('lets a send end that is under way for a cluster that leaves', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    scene.queue.hold();
    scene.cluster('west').create(tenants, { name: 'on-its-way' });
    await scene.clock.settle();
    scene.cluster('west').edit(tenants, { name: 'on-its-way' }, (draft) => {
      draft['spec'] = { size: 2 };
    });
    await register(scene, ...scene.registered.slice(0, 1));
    scene.queue.release();
    await scene.clock.advance(1_000);
    assert.deepEqual(scene.sent(), ['west Tenant created on-its-way']);
    assert.deepEqual(await scene.watcher.stop(), { left: 0 });
  });

  it('counts on when a cluster leaves: what it added was added', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    for (const name of ['east', 'west']) scene.cluster(name).create(tenants, { name: 'a' });
    await scene.clock.settle();
    await register(scene, ...scene.registered.slice(0, 1));
    assert.match((await scene.get('/metrics')).text, /^workqueue_adds_total\{name="outbox"\} 2$/m);
  });

  for (const [what, change] of [
    [
      'with another kubeconfig',
      (west: RegisteredCluster) => ({ ...west, entry: { ...west.entry, access: { kind: 'in-cluster' as const } } }),
    ],
    [
      'with another context',
      (west: RegisteredCluster) => {
        const access = { kind: 'file', path: '/etc/west.yaml', context: 'other' } as const;
        return { ...west, entry: { ...west.entry, access } };
      },
    ],
    ['at another address', (west: RegisteredCluster) => ({ ...west, server: 'https://elsewhere' })],
  ] as const) {
    it(`begins anew with a cluster that is reached ${what}, and with no other`, async () => {
      const scene = new WatcherScene('east', 'west');
      await scene.start();
      const [east, west] = scene.registered as [RegisteredCluster, RegisteredCluster];
      const before = streamOf(scene, 'east');
      const [watch] = scene.cluster('west').openWatches();
      await register(scene, east, change(west));
      assert.deepEqual([watch?.open, scene.cluster('west').openWatches().length, scene.log.count(MOVED)], [false, 1, 1]);
      assert.deepEqual([streamOf(scene, 'east'), scene.clients], [before, ['east', 'west', 'west', '-west']]);
      assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming', 'west Tenant.platform.example streaming']);
    });
  }

  it('begins nothing anew where nothing changed: another order, a kubeconfig that cannot be read now, an address found out', async () => {
    const scene = new WatcherScene('east', 'west');
    const [east, west] = scene.registered as [RegisteredCluster, RegisteredCluster];
    scene.registered = [east, { ...west, server: undefined }];
    await scene.start();
    const before = [streamOf(scene, 'east'), streamOf(scene, 'west')];
    const moved = { ...west, entry: { ...west.entry, where: 'clusters.yml: clusters[0] (west)' } };
    const unread = { ...west, server: undefined };
    for (const registered of [
      [moved, east],
      [{ ...east, server: undefined }, west],
      [east, west],
      [east, unread],
    ]) {
      await register(scene, ...registered);
      await scene.clock.advance(READ_MS);
    }
    assert.deepEqual([streamOf(scene, 'east'), streamOf(scene, 'west')], before);
    await register(scene, east, { ...west, server: 'https://elsewhere' });
    assert.equal(scene.log.count(MOVED), 1, 'the address that was found out is remembered');
  });

  it('changes nothing while the registry is unusable', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const before = [streamOf(scene, 'east'), streamOf(scene, 'west')];
    scene.registryFault = new ConfigError('registry-invalid', 'clusters.yml: clusters is empty; name at least one cluster');
    await scene.clock.advance(60_000);
    assert.deepEqual([streamOf(scene, 'east'), streamOf(scene, 'west')], before);
    scene.registryFault = undefined;
    await register(scene, ...scene.registered.slice(0, 1));
    assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming']);
  });

  it('takes a cluster that comes back as a new one', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const both = scene.registered;
    await register(scene, ...both.slice(0, 1));
    scene.cluster('west').create(tenants, { name: 'meanwhile' });
    await register(scene, ...both);
    assert.deepEqual(scene.sent(), ['west Tenant sweep meanwhile']);
    assert.deepEqual(
      scene.watcher.statuses().map(({ relistCount }) => relistCount),
      [0, 0],
    );
  });
});

describe('the heartbeat of a fleet', () => {
  it('beats for the clusters that there are, also for one that cannot be connected', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start([tenants], { heartbeatSeconds: 60 });
    await scene.clock.advance(60_000);
    assert.deepEqual(beats(scene), ['east streaming', 'west streaming']);
    const north = scene.addCluster('north');
    scene.connectFaults.set('north', new ConfigError('kubeconfig-invalid', '/etc/north.yaml: current-context is not set'));
    await register(scene, scene.registered[0] as RegisteredCluster, north);
    await scene.clock.advance(60_000 - FOLLOWS_MS);
    assert.deepEqual(beats(scene), ['east streaming', 'north failing']);
    await scene.watcher.stop();
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('ends the watcher where the queue says that it can never be used', async () => {
    const scene = new WatcherScene('east');
    await scene.start([tenants], { heartbeatSeconds: 60 });
    const ended = assert.rejects(scene.watcher.done, /deployed wrongly/);
    scene.queue.answer = () => {
      throw new ConfigError('queue', 'deployed wrongly');
    };
    await scene.clock.advance(60_000);
    await ended;
  });
});

/** The heartbeats since the last call, by cluster, with the phase of its first cell. */
function beats(scene: WatcherScene): string[] {
  const accepted = scene.queue.accepted.splice(0).map(({ message }) => JSON.parse(message.body) as { type: string; data: Beat });
  return accepted
    .filter(({ type }) => type === 'dev.dogwatch.heartbeat.v1')
    .map(({ data }) => `${data.cluster} ${data.cells[0]?.phase}`)
    .sort();
}

interface Beat {
  readonly cluster: string;
  readonly cells: readonly { readonly phase: string }[];
}

describe('a cluster whose kubeconfig is wrong at run time', () => {
  const fault = new ConfigError('kubeconfig-invalid', '/etc/west.yaml: current-context is not set');

  it('is told of once and shown as failing, while the others go on, and begins once it is right', async () => {
    const scene = new WatcherScene('east');
    await scene.start([tenants, projects]);
    const east = streamOf(scene, 'east');
    const west = scene.addCluster('west');
    scene.connectFaults.set('west', fault);
    await register(scene, ...scene.registered, west);
    await scene.clock.advance(60_000);
    assert.deepEqual([streamOf(scene, 'east'), scene.log.count(UNCONNECTED)], [east, 1]);
    const { status, text } = await scene.get('/readyz');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      [status, ...lines.map(({ cluster, kind, phase, error }) => [cluster, kind, phase, error])],
      [
        200,
        ['east', 'Tenant.platform.example', 'streaming', undefined],
        ['east', 'Project.platform.example', 'streaming', undefined],
        ['west', 'Tenant.platform.example', 'failing', { code: fault.code, message: fault.message }],
        ['west', 'Project.platform.example', 'failing', { code: fault.code, message: fault.message }],
      ],
    );
    assert.match((await scene.get('/metrics')).text, /^dogwatch_cell_streaming\{cluster="west".*\} 0$/m);
    scene.connectFaults.clear();
    await scene.clock.advance(FOLLOWS_MS);
    assert.deepEqual(scene.phases().slice(2), ['west Tenant.platform.example streaming', 'west Project.platform.example streaming']);
    assert.equal(scene.log.count('cluster can be connected again'), 1);
  });

  it('is told of again for another reason, and shows since when it fails', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const west = scene.addCluster('west');
    scene.connectFaults.set('west', fault);
    await register(scene, ...scene.registered, west);
    const since = scene.watcher.statuses()[1]?.sinceMs;
    scene.connectFaults.set('west', new RangeError('a bug of ours'));
    await scene.clock.advance(FOLLOWS_MS);
    const told = scene.log.lines.filter(({ message }) => message === UNCONNECTED).map(({ fields }) => [fields['code'], 'error' in fields]);
    assert.deepEqual(told, [
      [fault.code, false],
      ['unclassified', true],
    ]);
    assert.deepEqual(scene.watcher.statuses()[1]?.sinceMs, since);
  });

  it('is not watched in the old way meanwhile: that may be another cluster by now', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    scene.connectFaults.set('west', fault);
    await register(scene, ...scene.registered.slice(0, 1), scene.addCluster('west', '/etc/other.yaml'));
    assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming', 'west Tenant.platform.example failing']);
    assert.equal(scene.cluster('west').openWatches().length, 0);
  });

  it('leaves the registry like any other', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const [east] = scene.registered as [RegisteredCluster];
    scene.connectFaults.set('west', fault);
    await register(scene, east, scene.addCluster('west'));
    await register(scene, east);
    assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming']);
  });
});

describe('a fleet with a fault of ours in a cell', () => {
  it('ends the watcher', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    const ended = assert.rejects(scene.watcher.done, /no dice/);
    scene.clock.random = () => {
      throw new RangeError('no dice');
    };
    scene.cluster('west').restart();
    await ended;
  });

  it('tells of it also where the cluster has left by then, and waits for it when it stops', async () => {
    const ending = Promise.withResolvers<void>();
    const { entry, server } = new WatcherScene('east').registered[0] as RegisteredCluster;
    const cell = { run: () => ending.promise, status: () => assert.fail('not asked') };
    const fleet = new Fleet({
      connect: () => assert.fail('not asked'),
      createCells: () => ({ cells: [cell], sources: [] }),
      kinds: [],
      outbox: { add: () => undefined, remove: () => undefined },
      clock: new FakeClock(),
      log: new FakeLog(),
    });
    fleet.start({ entry, server, client: new FakeCluster().client });
    fleet.apply([]);
    let isStopped = false;
    const stopping = fleet.stop().then(() => {
      isStopped = true;
    });
    await new FakeClock().settle();
    assert.equal(isStopped, false);
    ending.reject(new RangeError('a bug of ours'));
    await assert.rejects(fleet.fault, /a bug of ours/);
    await stopping;
  });
});

describe('a watcher that stops while its fleet changes', () => {
  it('waits for no cluster that left, and begins none', async () => {
    const scene = new WatcherScene('east', 'west');
    scene.cluster('west').fault({ verb: 'list' }, { hang: true });
    await scene.start();
    scene.registered = [scene.registered[0] as RegisteredCluster, scene.addCluster('north')];
    await scene.clock.advanceUntil(() => scene.clock.nextInMs === CONFIRM_MS, FOLLOWS_MS);
    await scene.watcher.stop();
    await scene.clock.advance(60_000);
    assert.deepEqual([scene.cluster('north').requests.length, scene.clock.sleeperCount], [0, 0]);
    await scene.watcher.done;
  });

  it('closes every client', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    await register(scene, scene.registered[1] as RegisteredCluster, scene.addCluster('north'));
    await scene.watcher.stop();
    assert.deepEqual(scene.clients.toSorted(), ['-east', '-north', '-west', 'east', 'north', 'west']);
  });
});

describe('clusters with objects of one name, and of one uid (B23)', () => {
  it('keep them apart in what is sent, deleted and shown', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start();
    for (const name of ['east', 'west']) scene.cluster(name).create(tenants, { name: 'same' });
    const uids = ['east', 'west'].map((name) => scene.cluster(name).object(tenants, { name: 'same' })?.metadata.uid);
    assert.equal(uids[0], uids[1], 'as after a backup was restored into another cluster');
    await scene.clock.settle();
    scene.cluster('east').delete(tenants, { name: 'same' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent().sort(), ['east Tenant created same', 'east Tenant deleted same', 'west Tenant created same']);
    assert.deepEqual(
      scene.watcher.statuses().map(({ objectCount }) => objectCount),
      [0, 1],
    );
    assert.deepEqual(new Set(scene.queue.accepted.map(({ message }) => message.groupId)), new Set(['east', 'west']));
  });
});

describe('the outbox of a fleet', () => {
  it('sends a change in one cluster after at most one batch of each other cell, whatever their backlog', async () => {
    const scene = new WatcherScene('east', 'north', 'west');
    await scene.start([tenants, projects]);
    scene.queue.hold();
    for (const name of ['east', 'north']) {
      for (const type of [tenants, projects]) {
        for (let index = 0; index < 500; index += 1) scene.cluster(name).create(type, { name: `t-${index}` });
      }
    }
    await scene.clock.settle();
    scene.cluster('west').create(tenants, { name: 'one' });
    await scene.clock.settle();
    const before = scene.queue.calls.length;
    scene.queue.release();
    await scene.clock.advance(1_000);
    const at = scene.queue.calls.findIndex(({ messages }) => messages.some(({ groupId }) => groupId === 'west'));
    assert.ok(
      at - before <= 4,
      `batch ${at} of ${scene.queue.calls.length}, ${before} of them before the change: at most one of each other cell`,
    );
  });
});
