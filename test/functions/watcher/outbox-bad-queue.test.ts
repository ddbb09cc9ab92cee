import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OutgoingMessage, SendResult } from '../../../functions/adapters/queue-port.ts';
import type { OutboxSource } from '../../../functions/watcher/outbox.ts';
import { envelopeOf, REFUSED, RETRY, SENT } from '../../fakes/queue.ts';
import { BULK, LIVE, range, Scene } from './outbox-scene.ts';

const MINUTE_MS = 60_000;
const TOO_LONG: SendResult = { kind: 'refused', code: 'BatchRequestTooLong', message: 'the batch is longer than 1 MiB' };

/** Generation of every object that was accepted, by uid; fails where one came twice with the same, or went back. */
function generations(scene: Scene): Map<string, number> {
  const found = new Map<string, number>();
  for (const { data } of scene.queue.envelopes()) {
    const uid = data.uid ?? '';
    const generation = data.generation ?? 0;
    assert.ok(generation > (found.get(uid) ?? 0), `${uid} came with ${generation} after ${found.get(uid)}`);
    found.set(uid, generation);
  }
  return found;
}

/** Changes each of `count` objects once, evenly over `ms`. */
async function change(scene: Scene, source: OutboxSource, { count, ms, generation }: { count: number; ms: number; generation: number }) {
  for (const index of range(count)) {
    scene.mark(source, `u${index}`, { generation, resourceVersion: String(generation * 10_000 + index), reason: 'generation-changed' });
    await scene.clock.advance(ms / count);
  }
}

describe('outbox: a queue that throttles', () => {
  it('sends every last state, without hammering, while three of four calls are throttled for a minute', async () => {
    const scene = new Scene();
    const source = scene.source();
    let isBusy = true;
    scene.queue.answer = (_message, { call }) => (isBusy && call % 4 !== 0 ? RETRY : SENT);
    scene.start();
    await change(scene, source, { count: 300, ms: MINUTE_MS / 2, generation: 1 });
    await change(scene, source, { count: 300, ms: MINUTE_MS / 2, generation: 2 });
    const callCount = scene.queue.calls.length;
    assert.ok(callCount < 500, `${callCount} calls for 600 changes`);
    isBusy = false;
    await scene.clock.advance(31_000);
    const found = generations(scene);
    assert.deepEqual([found.size, new Set(found.values())], [300, new Set([2])]);
    assert.equal(scene.outbox.depth(), 0);
    await scene.end();
  });

  it('takes each entry at its own word while every second one is throttled', async () => {
    const scene = new Scene();
    const source = scene.source();
    const seen = new Set<string>();
    scene.queue.answer = (message, { index }) => {
      const uid = envelopeOf(message).data.uid ?? '';
      if (index % 2 === 0 || seen.has(uid)) return SENT;
      seen.add(uid);
      return RETRY;
    };
    scene.start();
    await change(scene, source, { count: 200, ms: 100, generation: 1 });
    await scene.clock.advance(31_000);
    assert.equal(generations(scene).size, 200);
    await scene.end();
  });
});

describe('outbox: a queue that is away for a minute', () => {
  it('keeps one mark an object, and sends each last state once, within the longest pause', async () => {
    const scene = new Scene();
    const [east, west] = [scene.source('east'), scene.source('west')];
    scene.queue.answer = () => RETRY;
    scene.start();
    for (const generation of [1, 2, 3]) {
      await change(scene, east, { count: 200, ms: MINUTE_MS / 3, generation });
      assert.ok(scene.outbox.depth() <= 201, `${scene.outbox.depth()} waiting`);
    }
    scene.mark(west, 'w1');
    scene.queue.answer = () => SENT;
    await scene.clock.advance(30_000);
    const found = generations(scene);
    assert.deepEqual([found.size, scene.outbox.depth()], [201, 0]);
    assert.ok(range(200).every((index) => found.get(`u${index}`) === 3));
    const held = scene.queue.envelopes(LIVE).find(({ data }) => data.uid === 'u0')?.data.heldSeconds ?? 0;
    assert.ok(held >= 60 && held < 95, `${held} s are not the object’s age`);
    await scene.end();
  });

  it('says once a probe that it is away, and once that it is back', async () => {
    const scene = new Scene();
    scene.mark(scene.source(), 'u1');
    scene.queue.answer = () => RETRY;
    scene.start();
    await scene.clock.advance(MINUTE_MS);
    const warnings = scene.lines.filter(({ level }) => level === 'warn');
    assert.equal(warnings.length, scene.queue.calls.length);
    assert.ok(warnings.length < 20, `${warnings.length} lines in a minute`);
    scene.queue.answer = () => SENT;
    await scene.clock.advance(30_000);
    assert.equal(scene.lines.filter(({ message }) => message === 'SQS takes messages again').length, 1);
    await scene.end();
  });

  it('remembers nothing of an entry that failed on one lane and left on the other', async () => {
    const scene = new Scene();
    const source = scene.source();
    let isBad = true;
    const triesMs: number[] = [];
    scene.queue.answer = (message, { queueUrl }) => {
      if (queueUrl === LIVE || envelopeOf(message).data.uid !== 'bad') return SENT;
      triesMs.push(scene.clock.now().getTime());
      return isBad ? RETRY : SENT;
    };
    scene.start();
    scene.sweep(source, 'other', 5);
    scene.mark(source, 'bad', { reason: 'sweep', lane: 'bulk' });
    for (const round of range(60)) {
      scene.sweep(source, `more-${round}`, 3);
      await scene.clock.advance(1000);
    }
    assert.ok((triesMs.at(-1) ?? 0) - (triesMs.at(-2) ?? 0) > 2000, 'its delay has grown');
    scene.mark(source, 'bad', { resourceVersion: '8', generation: 2 });
    await scene.clock.advance(31_000);
    assert.deepEqual(scene.uids(LIVE), ['bad']);
    triesMs.length = 0;
    scene.sweep(source, 'again', 5);
    scene.mark(source, 'bad', { resourceVersion: '9', generation: 3, reason: 'sweep', lane: 'bulk' });
    await scene.clock.advance(1000);
    assert.ok((triesMs[1] ?? Infinity) - (triesMs[0] ?? 0) <= 750, triesMs.join());
    isBad = false;
    await scene.clock.advance(31_000);
    assert.equal(scene.uids(BULK).filter((uid) => uid === 'bad').length, 1);
    await scene.end();
  });
});

describe('outbox: an entry that is refused for good', () => {
  for (const [name, refused] of [
    ['for its content', REFUSED],
    ['as too long, when its batch was split', TOO_LONG],
  ] as const) {
    it(`is logged once ${name}, blocks nobody, and is tried again when its object changes`, async () => {
      const scene = new Scene();
      const source = scene.source();
      let isRefused = true;
      scene.queue.answer = (message) => (isRefused && envelopeOf(message).data.uid === 'u4' ? refused : SENT);
      for (const index of range(10)) scene.mark(source, `u${index}`);
      scene.start();
      await scene.clock.advance(MINUTE_MS);
      assert.deepEqual([scene.queue.calls.length, scene.uids().length, scene.outbox.depth()], [1, 9, 0]);
      const errors = scene.lines.filter(({ level }) => level === 'error');
      assert.deepEqual(
        errors.map(({ fields }) => [fields['key'], fields['code']]),
        [['east/platform.example/Tenant//name-u4', refused.kind === 'refused' ? refused.code : '']],
      );
      isRefused = false;
      scene.mark(source, 'u4', { resourceVersion: '8', generation: 2 });
      await scene.clock.settle();
      assert.equal(scene.uids().at(-1), 'u4');
      await scene.end();
    });
  }
});

describe('outbox: an entry that is not taken for good', () => {
  const isBad = (message: OutgoingMessage): boolean => envelopeOf(message).data.uid?.startsWith('bad') ?? false;
  const triesOf = (scene: Scene): number => scene.queue.calls.filter(({ messages }) => messages.some(isBad)).length;

  it('waits alone, longer and longer, and keeps nothing back that comes meanwhile', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (message) => (isBad(message) ? RETRY : SENT);
    scene.mark(source, 'bad');
    scene.start();
    for (const minute of range(10)) {
      await scene.clock.advance(MINUTE_MS);
      scene.mark(source, `good-${minute}`);
      await scene.clock.settle();
      assert.equal(scene.uids().at(-1), `good-${minute}`);
    }
    const tries = triesOf(scene);
    assert.ok(tries > 20 && tries < 60, `${tries} tries in 10 min`);
    await scene.end();
  });

  it('is told from the queue also where there are several of them', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (message) => (isBad(message) ? RETRY : SENT);
    for (const index of range(3)) scene.mark(source, `bad-${index}`);
    scene.mark(source, 'good');
    scene.start();
    for (const minute of range(10)) {
      await scene.clock.advance(MINUTE_MS);
      scene.mark(source, `good-${minute}`);
      await scene.clock.settle();
      assert.equal(scene.uids().at(-1), `good-${minute}`);
    }
    assert.ok(triesOf(scene) < 200, `${triesOf(scene)} tries`);
    await scene.end();
  });

  it('is taken for the whole queue once another one fails after it', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = () => RETRY;
    scene.mark(source, 'first');
    scene.start();
    await scene.clock.advance(MINUTE_MS);
    const before = scene.queue.calls.length;
    for (const index of range(600)) {
      scene.mark(source, `later-${index}`);
      await scene.clock.advance(100);
    }
    const calls = scene.queue.calls.length - before;
    assert.ok(calls < 20, `${calls} calls in a minute for 600 changes`);
    scene.queue.answer = () => SENT;
    await scene.clock.advance(31_000);
    assert.equal(scene.outbox.depth(), 0);
    assert.equal(scene.lines.filter(({ message }) => message === 'SQS takes messages again').length, 1);
    await scene.end();
  });

  it('is taken for the whole queue where there are many, also if all of them failed beside others before', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (_message, { index }) => (index === 0 ? SENT : RETRY);
    scene.start();
    for (const index of range(200)) scene.mark(source, `u${index}`);
    await scene.clock.settle();
    scene.queue.answer = () => RETRY;
    const before = scene.queue.calls.length;
    await scene.clock.advance(10 * MINUTE_MS);
    const calls = scene.queue.calls.length - before;
    assert.ok(calls < 100, `${calls} calls in 10 min`);
    scene.queue.answer = () => SENT;
    await scene.clock.advance(62_000);
    assert.equal(scene.outbox.depth(), 0);
    await scene.end();
  });

  it('is no reason for a drain to ask without a pause', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.queue.answer = (message) => (isBad(message) ? RETRY : SENT);
    scene.mark(source, 'bad');
    scene.mark(source, 'good');
    const drained = scene.outbox.drain(20_000);
    await scene.clock.advance(20_000);
    assert.equal(await drained, 1);
    assert.ok(triesOf(scene) < 20, `${triesOf(scene)} tries in 20 s`);
  });
});
