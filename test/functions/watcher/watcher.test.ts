import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { TransientError } from '../../../functions/core/errors.ts';
import { DRAIN_MS } from '../../../functions/watcher/watcher.ts';
import { RETRY, SENT } from '../../fakes/queue.ts';
import { tenants } from './scene.ts';
import { projects, queueUrls, stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

describe('a watcher', () => {
  it('watches every kind in every cluster, each cell alone', async () => {
    const scene = new WatcherScene('east', 'west');
    await scene.start([tenants, projects]);
    assert.deepEqual(scene.phases(), [
      'east Tenant.platform.example streaming',
      'east Project.platform.example streaming',
      'west Tenant.platform.example streaming',
      'west Project.platform.example streaming',
    ]);
    scene.cluster('west').create(projects, { name: 'p' });
    scene.cluster('east').create(tenants, { name: 'p' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent().sort(), ['east Tenant created p', 'west Project created p']);
  });

  it('serves one cluster while another never answers, and that one too when it does', async () => {
    const scene = new WatcherScene('east', 'west');
    scene.cluster('east').fault({ verb: 'list' }, { throw: new TransientError('timeout', 'no answer in time') }, 3);
    scene.cluster('east').create(tenants, { name: 'e' });
    await scene.start();
    scene.cluster('west').create(tenants, { name: 'w' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['west Tenant created w']);
    const ready = await scene.get('/readyz');
    assert.equal(ready.status, 200);
    assert.match(ready.text, /"cluster":"east".*"phase":"failing".*"code":"timeout"/);
    await scene.clock.advance(60_000);
    assert.deepEqual(scene.sent(), ['west Tenant created w', 'east Tenant sweep e']);
  });

  it('sends changes to the live queue and what it finds at its start to the bulk queue', async () => {
    const scene = new WatcherScene('east');
    scene.cluster('east').create(tenants, { name: 'old' });
    await scene.start();
    scene.cluster('east').create(tenants, { name: 'new' });
    await scene.clock.settle();
    assert.deepEqual(
      scene.queue.envelopes(queueUrls.bulk).map(({ data }) => data.name),
      ['old'],
    );
    assert.deepEqual(
      scene.queue.envelopes(queueUrls.live).map(({ data }) => data.name),
      ['new'],
    );
  });

  it('sends nothing at a start over settled objects', async () => {
    const scene = new WatcherScene('east');
    for (let index = 0; index < 200; index += 1) {
      scene.cluster('east').create(tenants, { name: `t-${index}` }, { status: { observedGeneration: 1 } });
    }
    await scene.start();
    assert.deepEqual([scene.queue.calls.length, scene.watcher.statuses()[0]?.objectCount], [0, 200]);
  });

  it('runs every object once in the time of a resync, however many there are', async () => {
    const scene = new WatcherScene('east');
    for (let index = 0; index < 200; index += 1) {
      for (const type of [tenants, projects])
        scene.cluster('east').create(type, { name: `t-${index}` }, { status: { observedGeneration: 1 } });
    }
    await scene.start([tenants, projects], { resyncSeconds: 20 });
    await scene.clock.advance(60_000);
    const counts = Map.groupBy(scene.sent(), (line) => line);
    assert.equal(counts.size, 400);
    assert.ok([...counts.values()].every(({ length }) => length >= 2));
  });

  it('publishes what its cells and its outbox do', async () => {
    const scene = new WatcherScene('east');
    scene.cluster('east').create(tenants, { name: 'a' });
    await scene.start();
    scene.cluster('east').restart();
    await scene.clock.advance(5_000);
    scene.queue.answer = () => RETRY;
    scene.cluster('east').create(tenants, { name: 'b' });
    await scene.clock.settle();
    scene.cluster('east').edit(tenants, { name: 'b' }, (draft) => {
      draft['spec'] = { size: 2 };
    });
    await scene.clock.settle();
    const { text } = await scene.get('/metrics');
    const cell = '{cluster="east",kind="Tenant.platform.example",role="primary"}';
    const sends = 'dogwatch_sends_total{cluster="east",kind="Tenant.platform.example"';
    for (const line of [
      `dogwatch_cell_streaming${cell} 1`,
      `dogwatch_known_objects${cell} 2`,
      `dogwatch_unsettled_objects${cell} 2`,
      `dogwatch_oldest_unsettled_seconds${cell} 5`,
      `dogwatch_last_event_age_seconds${cell} 0`,
      `dogwatch_relists_total${cell} 1`,
      `dogwatch_reconnects_total${cell} 1`,
      'dogwatch_outbox_depth{cluster="east",kind="Tenant.platform.example"} 1',
      `${sends},lane="bulk",result="sent"} 1`,
      `${sends},lane="live",result="sent"} 0`,
      `${sends},lane="live",result="retry"} 1`,
      `${sends},lane="live",result="refused"} 0`,
      'workqueue_depth{name="outbox"} 1',
      'workqueue_adds_total{name="outbox"} 2',
      'workqueue_retries_total{name="outbox"} 1',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line} in\n${text.replaceAll(/^(#|process_|nodejs_).*\n/gm, '')}`);
    }
    assert.match(text, /^process_resident_memory_bytes \d+$/m);
  });
});

describe('a watcher that stops', () => {
  it('sends what is dirty although the queue had just failed, then is gone', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    scene.queue.answer = () => RETRY;
    for (let index = 0; index < 25; index += 1) scene.cluster('east').create(tenants, { name: `t-${index}` });
    await scene.clock.advance(2_000);
    scene.queue.answer = () => SENT;
    const result = await scene.watcher.stop();
    assert.deepEqual(result, { left: 0 });
    assert.equal(new Set(scene.sent()).size, 25);
    assert.deepEqual([scene.cluster('east').openWatches().length, scene.clock.sleeperCount], [0, 0]);
    await scene.watcher.done;
    await assert.rejects(scene.get('/livez'));
  });

  it('gives up after its time when the queue takes nothing, and says how much is left', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    scene.queue.answer = () => RETRY;
    for (let index = 0; index < 3; index += 1) scene.cluster('east').create(tenants, { name: `t-${index}` });
    await scene.clock.settle();
    const stopping = scene.watcher.stop();
    await scene.clock.advance(DRAIN_MS);
    assert.deepEqual(await stopping, { left: 3 });
    assert.deepEqual(scene.log.lines.at(-1)?.fields, { left: 3 });
  });

  it('stops once however often it is asked', async () => {
    const scene = new WatcherScene('east');
    await scene.start();
    const [one, two] = await Promise.all([scene.watcher.stop(), scene.watcher.stop()]);
    assert.deepEqual([one, two, scene.log.count('watcher stopping')], [{ left: 0 }, { left: 0 }, 1]);
  });

  it('stops while a cluster never answers', async () => {
    const scene = new WatcherScene('east');
    scene.cluster('east').fault({ verb: 'list' }, { hang: true });
    await scene.start();
    assert.deepEqual([(await scene.get('/readyz')).status, await scene.watcher.stop()], [503, { left: 0 }]);
  });
});
