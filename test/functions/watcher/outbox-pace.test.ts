import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RETRY, SENT } from '../../fakes/queue.ts';
import { BULK, LIVE, range, Scene } from './outbox-scene.ts';

const listed = (): boolean => true;

/** Messages in the bulk queue so far. */
const bulkCount = (scene: Scene): number => scene.uids(BULK).length;

/** A scene whose source is past its start and has no tokens left. */
async function healingScene(resyncsPerSecond?: () => number): Promise<{ scene: Scene; source: ReturnType<Scene['source']> }> {
  const scene = new Scene();
  const source = scene.source('east', listed, resyncsPerSecond);
  scene.start();
  await scene.clock.settle();
  scene.sweep(source, 'first', 10);
  await scene.clock.settle();
  assert.equal(bulkCount(scene), 10);
  scene.queue.accepted.length = 0;
  return { scene, source };
}

describe('outbox: pace of repairs', () => {
  it('sends what a start finds at 200 a second for each cluster', async () => {
    const scene = new Scene();
    const [east, west] = [scene.source('east'), scene.source('west')];
    scene.sweep(east, 'e', 900);
    scene.sweep(west, 'w', 900);
    scene.start();
    await scene.clock.settle();
    assert.equal(bulkCount(scene), 400);
    await scene.clock.advance(1000);
    assert.equal(bulkCount(scene), 800);
    const east800 = scene.queue.accepted.filter(({ message }) => message.groupId === 'east').length;
    assert.equal(east800, 400);
    await scene.end();
  });

  it('shares the tokens of a cluster between its cells', async () => {
    const scene = new Scene();
    for (const kind of range(4)) scene.sweep(scene.source('east'), `k${kind}`, 100);
    scene.start();
    await scene.clock.settle();
    assert.equal(bulkCount(scene), 200);
    await scene.end();
  });

  it('heals at 2 a second, in whole batches', async () => {
    const { scene, source } = await healingScene();
    scene.sweep(source, 'h', 100);
    await scene.clock.advance(4999);
    assert.equal(bulkCount(scene), 0);
    await scene.clock.advance(1);
    assert.equal(bulkCount(scene), 10);
    await scene.clock.advance(20_000);
    assert.equal(bulkCount(scene), 50);
    assert.ok(scene.queue.calls.every(({ messages }) => messages.length === 10));
    await scene.end();
  });

  it('goes as fast as a resync needs and a fifth faster, so that it comes to its end', async () => {
    const { scene, source } = await healingScene(() => 3.1);
    scene.sweep(source, 'r', 1000);
    await scene.clock.advance(100_000);
    assert.equal(bulkCount(scene), 400);
    await scene.end();
  });

  it('adds up what the kinds of one cluster need, and not what another needs', async () => {
    const { scene, source } = await healingScene(() => 5);
    scene.source('east', listed, () => 5);
    scene.source('west', listed, () => 100);
    scene.sweep(source, 'r', 1000);
    await scene.clock.advance(50_000);
    assert.equal(bulkCount(scene), 600);
    await scene.end();
  });

  it('follows the objects as they come and go', async () => {
    let perSecond = 1;
    const { scene, source } = await healingScene(() => perSecond);
    scene.sweep(source, 'r', 5000);
    await scene.clock.advance(50_000);
    assert.equal(bulkCount(scene), 100);
    perSecond = 50;
    await scene.clock.advance(55_000);
    const grown = bulkCount(scene);
    assert.ok(grown > 2900 && grown < 3400, `${grown}`);
    perSecond = 0.5;
    await scene.clock.advance(5_000); // what had gathered by then
    const shrunk = bulkCount(scene);
    await scene.clock.advance(50_000);
    assert.equal(bulkCount(scene) - shrunk, 100);
    await scene.end();
  });

  it('lets a start go no slower than a resync needs', async () => {
    const scene = new Scene();
    const source = scene.source('east', listed, () => 250);
    scene.sweep(source, 's', 900);
    scene.start();
    await scene.clock.settle();
    assert.equal(bulkCount(scene), 200);
    await scene.clock.advance(1000);
    assert.equal(bulkCount(scene), 500);
    await scene.end();
  });

  it('goes at the pace of a start until the first list is complete and what it found is sent', async () => {
    const scene = new Scene();
    let isListed = false;
    const source = scene.source('east', () => isListed);
    scene.start();
    scene.sweep(source, 'page1', 30);
    await scene.clock.settle();
    scene.sweep(source, 'page2', 400);
    isListed = true;
    await scene.clock.settle();
    scene.sweep(source, 'late', 20);
    await scene.clock.advance(1500);
    assert.equal(bulkCount(scene), 450);
    scene.sweep(source, 'healing', 20);
    await scene.clock.advance(1000);
    assert.equal(bulkCount(scene), 460);
    await scene.end();
  });

  it('heals one kind slowly while another of the cluster was never listed', async () => {
    const scene = new Scene();
    scene.source('east');
    const source = scene.source('east', listed);
    scene.start();
    await scene.clock.settle();
    scene.sweep(source, 'h', 100);
    await scene.clock.settle();
    assert.equal(bulkCount(scene), 10);
    await scene.end();
  });

  it('never makes a change wait', async () => {
    const { scene, source } = await healingScene();
    scene.sweep(source, 'h', 100);
    await scene.clock.settle();
    for (const index of range(500)) scene.mark(source, `live-${index}`);
    scene.mark(source, 'h-3');
    await scene.clock.settle();
    assert.equal(scene.uids(LIVE).length, 501);
    assert.equal(bulkCount(scene), 0);
    await scene.end();
  });

  it('gives a cluster that came back a full bucket, and keeps nothing of one that has gone', async () => {
    const scene = new Scene();
    const first = scene.source('east');
    scene.sweep(first, 'a', 300);
    scene.start();
    await scene.clock.settle();
    scene.outbox.remove(first);
    const second = scene.source('east');
    scene.sweep(second, 'b', 300);
    await scene.clock.settle();
    assert.deepEqual([scene.uids(BULK).filter((uid) => uid?.startsWith('b')).length, bulkCount(scene)], [200, 400]);
    await scene.end();
  });
});

describe('outbox: while the bulk queue is full', () => {
  it('pauses repairs over 1,000 messages, asks every 3 s, and goes on when there is room', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.level = (url) => (url === BULK ? 1001 : 0);
    scene.sweep(source, 's', 50);
    scene.start();
    await scene.clock.advance(30_000);
    assert.equal(bulkCount(scene), 0);
    assert.ok(scene.queue.depthCount >= 10 && scene.queue.depthCount <= 12, `${scene.queue.depthCount} questions in 30 s`);
    scene.mark(source, 'live');
    await scene.clock.settle();
    assert.deepEqual(scene.uids(LIVE), ['live']);
    scene.queue.level = () => 900;
    await scene.clock.advance(3000);
    assert.equal(bulkCount(scene), 50);
    await scene.end();
  });

  it('counts what it sent since the last answer', async () => {
    const scene = new Scene();
    for (const index of range(20)) scene.sweep(scene.source(`c${index}`), `c${index}`, 200);
    scene.queue.level = () => bulkCount(scene);
    scene.start();
    await scene.clock.settle();
    assert.equal(bulkCount(scene), 1000);
    await scene.clock.advance(60_000);
    assert.equal(bulkCount(scene), 1000);
    await scene.end();
  });

  it('says once that it waits, and once that it goes on', async () => {
    const scene = new Scene();
    scene.queue.level = () => 5000;
    scene.sweep(scene.source(), 's', 100);
    scene.start();
    await scene.clock.advance(30_000);
    scene.queue.level = () => 0;
    await scene.clock.advance(30_000);
    const said = scene.lines.map(({ message }) => message).filter((message) => message.includes('bulk queue'));
    assert.deepEqual(said, ['the bulk queue is full; repairs wait', 'the bulk queue has room again; repairs go on']);
    await scene.end();
  });

  for (const [name, level] of [
    ['does not say how full it is', () => undefined],
    [
      'throws when it is asked',
      () => {
        throw new TypeError('boom');
      },
    ],
  ] as const) {
    it(`sends all the same where the queue ${name}`, async () => {
      const scene = new Scene();
      scene.queue.level = level;
      const source = scene.source();
      scene.sweep(source, 's', 3000);
      scene.start();
      await scene.clock.advance(30_000);
      assert.equal(bulkCount(scene), 3000);
      const warnings = scene.lines.filter(({ message }) => message.startsWith('the bulk queue does not say'));
      assert.equal(warnings.length, 1);
      await scene.end();
    });
  }

  it('goes on where a full queue falls silent', async () => {
    const scene = new Scene();
    scene.queue.level = () => 5000;
    scene.sweep(scene.source(), 's', 100);
    scene.start();
    await scene.clock.advance(10_000);
    assert.ok(bulkCount(scene) < 100);
    scene.queue.level = () => undefined;
    await scene.clock.advance(3000);
    assert.equal(bulkCount(scene), 100);
    await scene.end();
  });

  it('asks nothing while nothing waits for the bulk queue', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.start();
    for (const index of range(100)) {
      scene.mark(source, `live-${index}`);
      await scene.clock.advance(1000);
    }
    assert.equal(scene.queue.depthCount, 0);
    await scene.end();
  });

  it('sends no repair before the first answer, and all of the live lane', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.holdDepth();
    scene.sweep(source, 's', 2000);
    scene.mark(source, 'live');
    scene.start();
    await scene.clock.advance(60_000);
    assert.deepEqual([scene.uids(LIVE), bulkCount(scene), scene.queue.depthCount], [['live'], 0, 1]);
    await scene.end();
  });

  it('does not wait for an answer when it ends, and takes the end for no answer', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.sweep(source, 's', 10);
    scene.start();
    await scene.clock.advance(5000);
    scene.queue.holdDepth();
    scene.sweep(source, 't', 2000);
    await scene.clock.settle();
    const sent = bulkCount(scene);
    assert.equal(scene.queue.depthCount, 2);
    await scene.end();
    await scene.clock.settle();
    assert.deepEqual([scene.lines, scene.clock.sleeperCount, bulkCount(scene)], [[], 0, sent]);
  });

  it('says nothing of a question that throws because it is ended', async () => {
    const scene = new Scene();
    scene.queue.depth = async (_url, { signal } = {}) => {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      throw new DOMException('aborted', 'AbortError');
    };
    scene.sweep(scene.source(), 's', 10);
    scene.start();
    await scene.clock.settle();
    await scene.end();
    await scene.clock.settle();
    assert.deepEqual(scene.lines, []);
  });
});

describe('outbox: a drain', () => {
  it('sends all of the live lane and no repair, which the next start finds again', async () => {
    const { scene, source } = await healingScene();
    await scene.end();
    await scene.clock.advance(20_000); // there are tokens for repairs, and the bulk queue has room
    scene.sweep(source, 'h', 100);
    for (const index of range(100)) scene.mark(source, `live-${index}`);
    const before = scene.clock.now().getTime();
    assert.equal(await scene.outbox.drain(20_000), 100);
    assert.equal(scene.clock.now().getTime(), before);
    assert.deepEqual([new Set(scene.uids(LIVE)).size, bulkCount(scene)], [100, 0]);
  });

  it('does not wait for a bulk queue that takes nothing', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (_message, { queueUrl }) => (queueUrl === BULK ? RETRY : SENT);
    scene.sweep(source, 's', 30);
    scene.start();
    await scene.clock.settle();
    await scene.end();
    for (const index of range(30)) scene.mark(source, `live-${index}`);
    assert.equal(await scene.outbox.drain(20_000), 30);
    assert.equal(scene.uids(LIVE).length, 30);
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('does not spin while a full bulk queue keeps repairs back', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.level = () => 5000;
    scene.sweep(source, 's', 100);
    scene.start();
    await scene.clock.settle();
    await scene.end();
    await scene.clock.advance(10_000); // the next question is overdue, and a drain asks none
    scene.queue.hold();
    scene.mark(source, 'live');
    const drained = scene.outbox.drain(20_000);
    await scene.clock.settle();
    assert.equal(scene.clock.nextInMs, 20_000);
    scene.queue.release();
    assert.ok((await drained) > 0);
    assert.deepEqual(scene.uids(LIVE), ['live']);
  });

  it('does not hammer the queue for an entry that is never taken', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (_message, { index }) => (index === 0 ? RETRY : SENT);
    for (const index of range(30)) scene.mark(source, `live-${index}`);
    const drained = scene.outbox.drain(10_000);
    await scene.clock.advance(10_000);
    assert.ok((await drained) >= 1);
    assert.ok(scene.queue.calls.length < 120, `${scene.queue.calls.length} calls in 10 s`);
  });
});
