import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { envelopeOf, RETRY, SENT } from '../../fakes/queue.ts';
import { BULK, LIVE, range, Scene } from './outbox-scene.ts';

describe('outbox: what is sent', () => {
  it('sends a mark at once, as a first attempt in the cluster’s fair queue group', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.start();
    await scene.clock.settle();
    scene.mark(source, 'u1', { generation: 3 });
    await scene.clock.settle();
    const [sent] = scene.queue.accepted;
    assert.ok(sent);
    assert.equal(sent.queueUrl, LIVE);
    assert.equal(sent.message.groupId, 'east');
    assert.equal(sent.message.delaySeconds, 0);
    const { data, traceparent, id } = envelopeOf(sent.message);
    assert.deepEqual(
      { uid: data.uid, reason: data.reason, attempt: data.attempt, generation: data.generation, held: data.heldSeconds },
      { uid: 'u1', reason: 'created', attempt: 1, generation: 3, held: undefined },
    );
    assert.match(String(traceparent), /^00-/);
    assert.ok(id);
    assert.equal(scene.outbox.depth(), 0);
    await scene.end();
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('sends each lane to its own queue', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.mark(source, 'l');
    scene.mark(source, 'b', { reason: 'sweep', lane: 'bulk' });
    scene.start();
    await scene.clock.settle();
    assert.deepEqual([scene.uids(LIVE), scene.uids(BULK)], [['l'], ['b']]);
    await scene.end();
  });

  it('sends batches of at most ten, at most four calls of a lane at once', async () => {
    const scene = new Scene();
    const source = scene.source();
    for (const index of range(95)) scene.mark(source, `u${index}`);
    scene.queue.hold();
    scene.start();
    await scene.clock.settle();
    assert.deepEqual(
      scene.queue.calls.map((call) => call.messages.length),
      [10, 10, 10, 10],
    );
    assert.equal(scene.outbox.depth(), 95);
    scene.queue.release();
    await scene.clock.settle();
    assert.equal(scene.queue.calls.length, 10);
    assert.equal(new Set(scene.uids()).size, 95);
    assert.equal(scene.queue.maxConcurrency, 4);
    await scene.end();
  });

  it('gives every message its own id', async () => {
    const scene = new Scene();
    const source = scene.source();
    for (const index of range(30)) scene.mark(source, `u${index}`);
    scene.start();
    await scene.clock.settle();
    assert.equal(new Set(scene.queue.envelopes().map((envelope) => envelope.id)).size, 30);
    await scene.end();
  });

  it('leaves out a resourceVersion that nobody can read at', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.mark(source, 'u1', { resourceVersion: 'abc-7' });
    scene.start();
    await scene.clock.settle();
    assert.equal('resourceVersion' in (scene.queue.envelopes()[0]?.data ?? {}), false);
    await scene.end();
  });
});

describe('outbox: fairness', () => {
  it('lets a source with one mark pass a source with a huge backlog', async () => {
    const scene = new Scene();
    const [busy, quiet] = [scene.source('busy'), scene.source('quiet')];
    for (const index of range(500)) scene.mark(busy, `busy-${index}`);
    scene.mark(quiet, 'quiet-0');
    scene.start();
    await scene.clock.settle();
    assert.ok(scene.uids().indexOf('quiet-0') < 20);
    await scene.end();
  });

  it('begins the next batch with the source after the one it began with, however many idle ones there are', async () => {
    const scene = new Scene();
    const idle = (count: number) => range(count).map((index) => scene.source(`idle-${index}`));
    idle(20);
    const [busy, quiet] = [scene.source('busy'), scene.source('quiet')];
    idle(20);
    const last = scene.source('last');
    for (const index of range(2000)) scene.mark(busy, `busy-${index}`);
    for (const index of range(12)) scene.mark(last, `last-${index}`);
    scene.mark(quiet, 'quiet-0');
    scene.start();
    await scene.clock.settle();
    const uids = scene.uids();
    // Batches of busy, quiet with last, last with busy: whoever has marks begins one of the first three.
    assert.ok(uids.indexOf('quiet-0') < 20, `quiet at ${uids.indexOf('quiet-0')}`);
    assert.ok(uids.indexOf('last-11') < 30, `last at ${uids.indexOf('last-11')}`);
    assert.equal(new Set(uids).size, 2013);
    await scene.end();
  });

  it('gives sources that are always busy the same share', async () => {
    const scene = new Scene();
    const sources = range(50).map((index) => scene.source(`c${index}`));
    const busy = [3, 4, 29].map((index) => sources[index]).filter((source) => source !== undefined);
    for (const source of busy) for (const index of range(400)) scene.mark(source, `${source.cluster}-${index}`);
    scene.start();
    await scene.clock.settle();
    const firstHalf = scene.queue.accepted.slice(0, 600);
    for (const source of busy) {
      const count = firstHalf.filter(({ message }) => message.groupId === source.cluster).length;
      assert.ok(count >= 190 && count <= 210, `${count} of ${source.cluster} in 600`);
    }
    await scene.end();
  });

  it('fills a batch from several sources instead of sending one call for each', async () => {
    const scene = new Scene();
    for (const index of range(10)) scene.mark(scene.source(`c${index}`), `u${index}`);
    scene.start();
    await scene.clock.settle();
    assert.equal(scene.queue.calls.length, 1);
    assert.deepEqual(new Set(scene.queue.accepted.map((one) => one.message.groupId)).size, 10);
    await scene.end();
  });

  it('sends live marks while the bulk queue takes nothing', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (_message, { queueUrl }) => (queueUrl === BULK ? RETRY : SENT);
    for (const index of range(100)) scene.mark(source, `b${index}`, { reason: 'sweep', lane: 'bulk' });
    scene.start();
    await scene.clock.settle();
    scene.mark(source, 'l');
    await scene.clock.settle();
    assert.deepEqual(scene.uids(), ['l']);
    await scene.end();
  });

  it('sends nothing more of a source that was removed', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.start();
    scene.outbox.remove(source);
    scene.mark(source, 'u1');
    await scene.clock.settle();
    assert.equal(scene.queue.calls.length, 0);
    assert.equal(scene.outbox.depth(), 0);
    await scene.end();
  });
});

describe('outbox: stopping', () => {
  it('ends its run only when no call is outstanding, and starts no other', async () => {
    const scene = new Scene();
    const source = scene.source();
    for (const index of range(60)) scene.mark(source, `u${index}`);
    scene.queue.hold();
    scene.start();
    await scene.clock.settle();
    let hasEnded = false;
    void scene.running.then(() => {
      hasEnded = true;
    });
    scene.stop.abort();
    await scene.clock.settle();
    assert.equal(hasEnded, false);
    scene.queue.release();
    await scene.running;
    assert.equal(scene.queue.accepted.length, 40);
    assert.equal(scene.outbox.depth(), 20);
  });

  it('drains what is dirty on the live lane and says that nothing is left', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.start();
    await scene.end();
    for (const index of range(120)) scene.mark(source, `u${index}`);
    assert.equal(await scene.outbox.drain(5000), 0);
    assert.equal(new Set(scene.uids()).size, 120);
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('says how many repairs are left, which it does not drain', async () => {
    const scene = new Scene();
    const source = scene.source();
    for (const index of range(120)) scene.mark(source, `u${index}`, index % 2 === 0 ? {} : { reason: 'sweep', lane: 'bulk' });
    assert.equal(await scene.outbox.drain(5000), 60);
    assert.deepEqual([new Set(scene.uids(LIVE)).size, scene.uids(BULK).length], [60, 0]);
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('does not wait for the pause that an outage had grown to', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = () => RETRY;
    for (const index of range(50)) scene.mark(source, `u${index}`);
    scene.start();
    await scene.clock.advance(300_000);
    scene.queue.answer = () => SENT;
    scene.stop.abort();
    const before = scene.clock.now().getTime();
    assert.equal(await scene.outbox.drain(2000), 0);
    assert.equal(scene.clock.now().getTime() - before, 0);
    assert.equal(new Set(scene.uids()).size, 50);
  });

  it('goes on trying until the deadline and says how many objects are left', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = () => RETRY;
    for (const index of range(25)) scene.mark(source, `u${index}`);
    const drained = scene.outbox.drain(10_000);
    await scene.clock.advance(10_000);
    assert.equal(await drained, 25);
    assert.ok(scene.queue.calls.length > 3);
  });

  it('does not wait past the deadline for a queue that never answers', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.mark(source, 'u1');
    scene.queue.hold();
    scene.start();
    await scene.clock.settle();
    scene.stop.abort();
    const drained = scene.outbox.drain(1000);
    await scene.clock.advance(1000);
    assert.equal(await drained, 1);
    scene.queue.release();
    await scene.running;
  });

  it('cuts off at the deadline the calls that it made itself', async () => {
    const scene = new Scene();
    scene.mark(scene.source(), 'u1');
    scene.queue.hold();
    const drained = scene.outbox.drain(1000);
    await scene.clock.advance(1000);
    assert.equal(await drained, 1);
    await scene.clock.settle();
    assert.equal(scene.results[0]?.result.kind, 'retry');
    assert.equal(scene.clock.sleeperCount, 0);
  });
});
