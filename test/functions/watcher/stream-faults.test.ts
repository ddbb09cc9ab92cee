/** What a stream may do to a watcher, over HTTPS: silence, breaks, bytes cut anywhere, versions of any size, clocks that differ. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ENVELOPE_MAX_BYTES } from '../../../events/envelope.ts';
import type { WatcherOptions } from '../../../functions/watcher/watcher.ts';
import type { Reply, StubRequest } from '../../fakes/api-stub.ts';
import { SENT } from '../../fakes/queue.ts';
import type { ServedCluster } from '../../fakes/served-cluster.ts';
import { until } from '../../until.ts';
import { tenants } from './scene.ts';
import { WireScene } from './wire-scene.ts';

const SETTLED = { spec: { size: 1 }, status: { observedGeneration: 1 } };
const scenes: WireScene[] = [];

afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

/** A scene with one cluster, in which `a` is settled; nothing is running yet. */
async function sceneOf(settings?: Partial<WatcherOptions['config']>, clockIsOffMs?: number) {
  const scene = new WireScene(settings, clockIsOffMs);
  scenes.push(scene);
  const east = await scene.add('east');
  east.cluster.create(tenants, { name: 'a' }, SETTLED);
  return { scene, east };
}

function change({ cluster }: ServedCluster, size: number): void {
  cluster.edit(tenants, { name: 'a' }, (draft) => {
    draft['spec'] = { size };
  });
}

const isWatch = ({ path }: StubRequest): boolean => path.includes('watch=true');

/** Answers the first watches with these, then lets the cluster answer. */
function answerWatches(east: ServedCluster, ...replies: Reply[]): void {
  east.fault = (request) => (isWatch(request) ? replies.shift() : undefined);
}

/** Writes pieces one by one, each in a packet of its own as far as we can tell, and ends. */
function pieces(...parts: readonly Buffer[]): Reply {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    for (const part of parts) {
      response.write(part);
      await turn();
    }
    response.end();
  };
}

/** A line of a Table watch about `a`. */
function frame(type: string, metadata: object): Buffer {
  const row = { cells: ['a', 'True', 1], object: { metadata: { name: 'a', uid: 'u', ...metadata } } };
  return Buffer.from(`${JSON.stringify({ type, object: { kind: 'Table', rows: [row] } })}\n`);
}

describe('over HTTPS, a stream that', () => {
  it('falls silent is given up at its time, and what it did not tell is sent once (B01)', async () => {
    const { scene, east } = await sceneOf({ watchTimeoutSeconds: 1, watchGraceSeconds: 0, probeSeconds: 86_400 });
    await scene.start();
    await until('it streams', () => scene.allStream());
    const [silent] = east.cluster.openWatches();
    assert.ok(silent !== undefined);
    silent.paused = true;
    change(east, 2);
    await until('the change is sent', () => scene.sent('east').length > 0);
    await scene.works('east', 'next');
    assert.deepEqual(scene.sent('east'), ['created next', 'generation-changed a']);
    assert.equal(silent.open, false);
  });

  it('breaks right after its headers five times is opened again by one watch, with pauses (B04)', async () => {
    const { scene, east } = await sceneOf();
    const breaks: Reply = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      response.destroy();
    };
    answerWatches(east, breaks, breaks, breaks, breaks, breaks);
    await scene.start();
    await until('a watch stays open', () => east.cluster.openWatches().length > 0);
    change(east, 2);
    await scene.works('east', 'next');
    assert.deepEqual(scene.sent('east'), ['created next', 'generation-changed a']);
    const watches = east.stub.requests.filter(isWatch).length;
    assert.ok(watches <= 7, `${watches} watches`);
    assert.deepEqual([east.cluster.watches.length, east.cluster.openWatches().length], [1, 1]);
  });

  it('is cut inside characters and keys, with frames joined and one cut off, is read as if it were not (B06)', async () => {
    const { scene, east } = await sceneOf();
    const annotations = { note: 'naïve 漢字 🚀' };
    const first = frame('MODIFIED', { resourceVersion: '2000', generation: 2, annotations });
    const [rocket, key] = [first.indexOf('🚀') + 2, first.indexOf('resourceVersion') + 5];
    const [low, high] = [Math.min(rocket, key), Math.max(rocket, key)];
    const both = Buffer.concat([
      frame('MODIFIED', { resourceVersion: '2001', generation: 3 }),
      frame('BOOKMARK', { resourceVersion: '2500' }),
    ]);
    const half = frame('MODIFIED', { resourceVersion: '2600', generation: 4 }).subarray(0, 60);
    answerWatches(east, pieces(first.subarray(0, low), first.subarray(low, high), first.subarray(high), both, half));
    await scene.start();
    await until('it is opened again', () => east.stub.requests.filter(isWatch).length > 1);
    const [, resumed] = east.stub.requests.filter(isWatch);
    assert.match(resumed?.path ?? '', /resourceVersion=2500&/);
    await until('the last whole frame is sent', () => scene.queue.envelopes().at(-1)?.data.generation === 3);
    assert.equal(scene.status('east')?.relistCount, 0);
  });

  it('shows versions of any number of digits is resumed at exactly the last of them (B18)', async () => {
    const { scene, east } = await sceneOf();
    const versions = ['9999', '10000', '9007199254740993', '9007199254740994'];
    answerWatches(east, pieces(...versions.map((resourceVersion, index) => frame('MODIFIED', { resourceVersion, generation: index + 2 }))));
    await scene.start();
    await until('it is opened again', () => east.stub.requests.filter(isWatch).length > 1);
    const [, resumed] = east.stub.requests.filter(isWatch);
    assert.match(resumed?.path ?? '', /resourceVersion=9007199254740994&/);
    await until('the last is sent', () => scene.queue.envelopes().at(-1)?.data.generation === 5);
  });
});

describe('over HTTPS, a watcher whose clock', () => {
  for (const [what, offMs] of [
    ['is 20 minutes ahead', 1_200_000],
    ['is 20 minutes behind', -1_200_000],
  ] as const) {
    it(`${what} sends the same as any other, also after a send that came too late (B21)`, async () => {
      const { scene, east } = await sceneOf({}, offMs);
      const finalizers = ['example.com/hold'];
      const old = { metadata: { finalizers, creationTimestamp: '2024-03-01T00:00:00Z' }, ...SETTLED };
      for (const name of ['goes', 'going']) east.cluster.create(tenants, { name }, old);
      let refusals = 1;
      scene.queue.answer = () => (refusals-- > 0 ? { kind: 'retry', code: 'RequestExpired' } : SENT);
      await scene.start();
      await until('it streams', () => scene.allStream());
      change(east, 2);
      for (const name of ['goes', 'going']) east.cluster.delete(tenants, { name });
      await until('all are sent', () => scene.sent('east').length === 3);
      east.cluster.edit(tenants, { name: 'goes' }, (draft) => {
        draft['metadata'] = { ...(draft['metadata'] as object), finalizers: [] };
      });
      await until('the deletion is sent', () => scene.sent('east').length === 4);
      assert.deepEqual(scene.sent('east'), ['deleted goes', 'deleting goes', 'deleting going', 'generation-changed a']);
      for (const { message } of scene.queue.accepted) {
        assert.ok((message.delaySeconds ?? 0) >= 0 && (message.delaySeconds ?? 0) <= 900, `${message.delaySeconds} s`);
      }
    });
  }
});

describe('over HTTPS, objects that', () => {
  it('are larger than a message, or hold what no message may, are told of by reference (B29, B30)', async () => {
    const { scene, east } = await sceneOf();
    await scene.start();
    await until('it streams', () => scene.allStream());
    const texts = {
      large: 'x'.repeat(300 * 1024),
      larger: 'x'.repeat(1_200 * 1024),
      wide: '漢'.repeat(200_000),
      odd: '\u0007\ufffe\uffff\u{10ffff}🚀',
    };
    for (const [name, note] of Object.entries(texts)) east.cluster.create(tenants, { name }, { metadata: { annotations: { note } } });
    east.cluster.create(tenants, { name: 'small' });
    await until('all are sent', () => scene.sent('east').length === 5);
    for (const { message } of scene.queue.accepted) {
      assert.ok(Buffer.byteLength(message.body) < ENVELOPE_MAX_BYTES);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those that SQS refuses
      assert.doesNotMatch(message.body, /[\u0000-\u0008\ufffe\uffff]/);
    }
  });
});
