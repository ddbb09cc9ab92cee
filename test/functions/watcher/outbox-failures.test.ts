import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import { clusterName } from '../../../events/resource.ts';
import type { Queue } from '../../../functions/adapters/queue-port.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { createOutbox } from '../../../functions/watcher/outbox.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { envelopeOf, FakeQueue, REFUSED, RETRY, SENT } from '../../fakes/queue.ts';
import { BULK, LIVE, range, Scene, tenants } from './outbox-scene.ts';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

describe('outbox: results of each entry (B32)', () => {
  it('sends again only what was throttled or not mentioned, and lets the invalid one block nothing', async () => {
    const scene = new Scene();
    const source = scene.source();
    for (const index of range(10)) scene.mark(source, `u${index}`);
    scene.queue.answer = (_message, { call, index }) => {
      if (call > 0) return SENT;
      return index === 7 ? RETRY : index === 8 ? REFUSED : index === 9 ? undefined : SENT;
    };
    scene.start();
    await scene.clock.settle();
    assert.deepEqual(scene.uids(), ['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6']);
    assert.equal(scene.outbox.depth(), 2);
    await scene.clock.advance(1000);
    assert.deepEqual(scene.uids().slice(7), ['u7', 'u9']);
    assert.equal(scene.outbox.depth(), 0);
    const refusal = scene.lines.find((line) => line.level === 'error');
    assert.equal(refusal?.fields['key'], 'east/platform.example/Tenant//name-u8');
    assert.equal(refusal?.fields['code'], 'InvalidMessageContents');
    const counts = (kind: string): number => scene.results.filter((one) => one.result.kind === kind).length;
    assert.deepEqual([counts('sent'), counts('retry'), counts('refused')], [9, 2, 1]);
    await scene.end();
  });

  it('takes an answer that is too short as no answer for the rest', async () => {
    const scene = new Scene();
    const source = scene.source();
    const queue: Queue = { send: async (_queueUrl, messages) => (messages.length > 1 ? [SENT] : []), depth: async () => 0 };
    const outbox = createOutbox({ queue, queueUrls: { live: LIVE, bulk: BULK }, clock: scene.clock, log: SILENT });
    outbox.add(source);
    scene.mark(source, 'u1');
    scene.mark(source, 'u2');
    const drained = outbox.drain(100);
    await scene.clock.advance(100);
    assert.equal(await drained, 1);
  });

  it('begins with a short delay again for an entry that was taken in between', async () => {
    const scene = new Scene();
    const source = scene.source();
    let isBad = true;
    const triesMs: number[] = [];
    scene.queue.answer = (message) => {
      if (envelopeOf(message).data.uid !== 'bad') return SENT;
      triesMs.push(scene.clock.now().getTime());
      return isBad ? RETRY : SENT;
    };
    const markBoth = (resourceVersion: string): void => {
      scene.mark(source, 'bad', { resourceVersion });
      scene.mark(source, `good-${resourceVersion}`);
    };
    scene.start();
    markBoth('1');
    for (const second of range(100)) {
      scene.mark(source, `other-${second}`);
      await scene.clock.advance(1000);
    }
    isBad = false;
    await scene.clock.advance(31_000);
    isBad = true;
    triesMs.length = 0;
    markBoth('2');
    await scene.clock.advance(1000);
    assert.ok((triesMs[1] ?? Infinity) - (triesMs[0] ?? 0) <= 750, triesMs.join());
    await scene.end();
  });

  it('slows down for an entry that keeps failing beside others that do not', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (message) => (envelopeOf(message).data.uid === 'bad' ? RETRY : SENT);
    scene.mark(source, 'bad');
    scene.start();
    let goodCount = 0;
    for (const _second of range(300)) {
      scene.mark(source, `good-${goodCount}`);
      goodCount += 1;
      await scene.clock.advance(1000);
    }
    assert.equal(scene.uids().length, goodCount);
    const tries = scene.queue.calls.flatMap((call) => call.messages).filter((message) => envelopeOf(message).data.uid === 'bad');
    assert.ok(tries.length > 5 && tries.length < 60, `${tries.length} tries in 5 min`);
    await scene.end();
  });

  it('drops an object whose envelope is too large with a line that names it, and sends the others', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.mark(source, 'huge', { name: 'x'.repeat(5000) });
    scene.mark(source, 'fine');
    scene.start();
    await scene.clock.settle();
    assert.deepEqual(scene.uids(), ['fine']);
    assert.equal(scene.outbox.depth(), 0);
    assert.equal(scene.lines.find((line) => line.level === 'error')?.fields['code'], 'not-encodable');
    await scene.end();
  });
});

describe('outbox: while the queue is down (B33)', () => {
  it('probes with one batch at a time, and less and less often', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = () => RETRY;
    for (const index of range(100)) scene.mark(source, `u${index}`);
    scene.start();
    await scene.clock.settle();
    const burst = scene.queue.calls.length;
    assert.ok(burst <= 4);
    scene.queue.maxConcurrency = 0;
    await scene.clock.advance(600_000);
    const probes = scene.queue.calls.length - burst;
    assert.ok(probes >= 20 && probes <= 60, `${probes} probes in 10 min`);
    assert.equal(scene.queue.maxConcurrency, 1);
    assert.equal(scene.outbox.depth(), 100);
    await scene.end();
  });

  it('probes with other entries than those that just failed', async () => {
    const scene = new Scene();
    const source = scene.source();
    const isBad = (uid: string | undefined): boolean => Number(uid?.slice(1)) < 10;
    scene.queue.answer = (message) => (isBad(envelopeOf(message).data.uid) ? RETRY : SENT);
    for (const index of range(10)) scene.mark(source, `u${index}`);
    scene.start();
    await scene.clock.settle();
    for (const index of range(10)) scene.mark(source, `u${index + 10}`);
    await scene.clock.advance(5000);
    assert.deepEqual(
      scene.uids(),
      range(10).map((index) => `u${index + 10}`),
    );
    await scene.end();
  });

  it('keeps one state an object in memory, and sends the last one, the deletion and the new uid once the queue is back', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = () => RETRY;
    scene.start();
    for (const frame of range(5000)) {
      const object = frame % 50;
      const resourceVersion = String(1000 + frame);
      const generation = Math.floor(frame / 50) + 1;
      if (object !== 7 || frame < 2500) {
        scene.mark(source, `u${object}`, { resourceVersion, generation, reason: 'generation-changed' });
      } else if (frame < 2550) {
        scene.mark(source, 'u7', { resourceVersion, reason: 'deleted' });
        scene.mark(source, 'u7-again', { name: 'name-u7', resourceVersion, generation: 1 });
      }
      await scene.clock.advance(6);
      assert.ok(source.marks.size + source.marks.inFlightCount <= 52);
    }
    scene.queue.answer = () => SENT;
    await scene.clock.advance(31_000);
    const byUid = Map.groupBy(scene.queue.envelopes(), (envelope) => envelope.data.uid);
    assert.equal(byUid.size, 51);
    for (const [uid, envelopes] of byUid) {
      assert.equal(envelopes.length, 1);
      const data = envelopes[0]?.data;
      if (uid === 'u7') assert.equal(data?.reason, 'deleted');
      else if (uid !== 'u7-again') assert.equal(data?.generation, 100);
      if (uid !== 'u7' && uid !== 'u7-again') assert.ok((data?.heldSeconds ?? 0) >= 25);
    }
    await scene.end();
  });

  it('takes a throw of the queue as no answer, says so, and sends again', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (_message, { call }) => {
      if (call === 0) throw new TypeError('boom');
      return SENT;
    };
    scene.mark(source, 'u1');
    scene.start();
    await scene.clock.settle();
    assert.ok(scene.lines.some((line) => line.level === 'error' && line.fields['error'] instanceof TypeError));
    await scene.clock.advance(1000);
    assert.deepEqual(scene.uids(), ['u1']);
    await scene.end();
  });

  it('ends, and loses nothing, where the queue says that we are deployed wrong', async () => {
    const scene = new Scene();
    const source = scene.source();
    const error = new ConfigError('region-missing', 'no AWS region is configured: set AWS_REGION');
    scene.queue.answer = () => {
      throw error;
    };
    scene.mark(source, 'u1');
    scene.start();
    await assert.rejects(scene.running, error);
    assert.equal(scene.outbox.depth(), 1);
    await assert.rejects(scene.outbox.drain(20_000), error);
    assert.deepEqual([scene.outbox.depth(), scene.clock.sleeperCount], [1, 0]);
  });

  it('rejects for a fault of our own instead of going on without a word', async () => {
    const clock = new FakeClock();
    const marks = new DirtyMarks();
    const source = { cluster: clusterName('east'), type: tenants, marks, hasListed: () => true, resyncsPerSecond: () => 0 };
    const onResult = (): void => {
      throw new Error('a metric that does not exist');
    };
    const queueUrls = { live: LIVE, bulk: BULK };
    const outbox = createOutbox({ queue: new FakeQueue(), queueUrls, clock, log: SILENT, onResult });
    outbox.add(source);
    marks.mark({ uid: 'u', name: 'n', resourceVersion: '1', reason: 'created', mustRun: false, lane: 'live', firstSeenAtMs: 0 });
    await assert.rejects(outbox.run(new AbortController().signal), /a metric that does not exist/);
  });
});
