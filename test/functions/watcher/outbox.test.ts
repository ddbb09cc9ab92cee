import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks, type Mark } from '../../../events/dirty-marks.ts';
import type { Lane } from '../../../events/envelope.ts';
import { clusterName, type ResourceType } from '../../../events/resource.ts';
import type { SendResult } from '../../../functions/adapters/queue-port.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { createOutbox, type Outbox, type OutboxSource } from '../../../functions/watcher/outbox.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { envelopeOf, FakeQueue, REFUSED, RETRY, SENT } from '../../fakes/queue.ts';

const LIVE = 'https://sqs.test/live';
const BULK = 'https://sqs.test/bulk';
const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

class Scene {
  readonly clock = new FakeClock();
  readonly queue = new FakeQueue();
  readonly lines: Line[] = [];
  readonly results: { readonly cluster: string; readonly result: SendResult; readonly lane: Lane }[] = [];
  readonly outbox: Outbox;
  readonly stop = new AbortController();
  running: Promise<void> = Promise.resolve();

  constructor() {
    const write =
      (level: string) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
        this.lines.push({ level, message, fields });
      };
    const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    this.outbox = createOutbox({
      queue: this.queue,
      queueUrls: { live: LIVE, bulk: BULK },
      clock: this.clock,
      log,
      onResult: (source, result, lane) => this.results.push({ cluster: source.cluster, result, lane }),
    });
  }

  source(cluster = 'east'): OutboxSource {
    const source = { cluster: clusterName(cluster), type: tenants, marks: new DirtyMarks(() => this.outbox.wake()) };
    this.outbox.add(source);
    return source;
  }

  mark(source: OutboxSource, uid: string, overrides: Partial<Mark> = {}): void {
    source.marks.mark({
      uid,
      name: `name-${uid}`,
      resourceVersion: '7',
      generation: 1,
      reason: 'created',
      mustRun: false,
      lane: 'live',
      firstSeenAtMs: this.clock.now().getTime(),
      ...overrides,
    });
  }

  start(): void {
    this.running = this.outbox.run(this.stop.signal);
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  uids(queueUrl?: string): (string | undefined)[] {
    return this.queue.envelopes(queueUrl).map((envelope) => envelope.data.uid);
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

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

  it('rejects for a fault of our own instead of going on without a word', async () => {
    const clock = new FakeClock();
    const marks = new DirtyMarks();
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const source = { cluster: clusterName('east'), type: tenants, marks };
    const onResult = (): void => {
      throw new Error('a metric that does not exist');
    };
    const queueUrls = { live: LIVE, bulk: BULK };
    const outbox = createOutbox({ queue: new FakeQueue(), queueUrls, clock, log: silent, sources: [source], onResult });
    marks.mark({ uid: 'u', name: 'n', resourceVersion: '1', reason: 'created', mustRun: false, lane: 'live', firstSeenAtMs: 0 });
    await assert.rejects(outbox.run(new AbortController().signal), /a metric that does not exist/);
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

  it('drains what is dirty and says that nothing is left', async () => {
    const scene = new Scene();
    const source = scene.source();
    scene.start();
    await scene.end();
    for (const index of range(120)) scene.mark(source, `u${index}`, index % 2 === 0 ? {} : { reason: 'sweep', lane: 'bulk' });
    assert.equal(await scene.outbox.drain(5000), 0);
    assert.equal(new Set(scene.uids()).size, 120);
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
