/** What a stream may do to a watcher, over the wire: silence, breaks, bytes cut anywhere, versions of any size, clocks that differ. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ENVELOPE_MAX_BYTES } from '../../../events/envelope.ts';
import type { WatcherOptions } from '../../../functions/watcher/watcher.ts';
import { ApiStub, json, type Reply, stream } from '../../fakes/api-stub.ts';
import { SENT } from '../../fakes/queue.ts';
import { until } from '../../until.ts';
import { put, putSettled, TENANT_CRD, WireScene } from './wire-scene.ts';

const scenes: WireScene[] = [];
const stubs: ApiStub[] = [];

afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
  for (const stub of stubs.splice(0)) await stub.close();
});

/** A scene with one cluster, in which `a` is settled; nothing is running yet. */
async function sceneOf(settings?: Partial<WatcherOptions['config']>, clockIsOffMs?: number) {
  const scene = new WireScene(settings, clockIsOffMs);
  scenes.push(scene);
  const east = await scene.add('east');
  await putSettled(east, ['a']);
  return { scene, east };
}

/** A scene with one cluster, in which `a` is settled; its first watches are answered so, and others are silent. */
async function scriptedSceneOf(replies: Reply[], settings?: Partial<WatcherOptions['config']>) {
  const [scene, stub] = [new WireScene(settings), await ApiStub.start({ tls: true })];
  scenes.push(scene);
  stubs.push(stub);
  const metadata = { resourceVersion: '1000' };
  const object = row({ resourceVersion: '900', generation: 1 });
  const list = json(200, { kind: 'Table', metadata, columnDefinitions: COLUMNS, rows: [object] });
  const bare = json(200, { kind: 'PartialObjectMetadataList', metadata, items: [object.object] });
  const watches: string[] = [];
  const answer = (path: string): Reply => {
    if (path.includes('/customresourcedefinitions/')) return json(200, TENANT_CRD);
    if (!path.includes('watch=true')) return path.includes('includeObject') ? list : bare;
    watches.push(path);
    return replies.shift() ?? stream([], { open: true });
  };
  stub.otherwise = (response, request) => answer(request.path)(response, request);
  scene.connect('east', stub.kubeconfig());
  return { scene, watches };
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

const COLUMNS = [{ name: 'Ready' }, { name: 'Observed' }];

function row(metadata: object) {
  return { cells: ['True', 1], object: { metadata: { name: 'a', uid: 'u', ...metadata } } };
}

/** A line of a Table watch about `a`. */
function frame(type: string, metadata: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object: { kind: 'Table', rows: [row(metadata)] } })}\n`);
}

describe('over the wire, a stream that', () => {
  it('falls silent is given up at its time, and what it did not tell is sent once (B01)', async () => {
    const silent = stream([], { open: true });
    const told = stream([frame('MODIFIED', { resourceVersion: '1001', generation: 2 })], { open: true });
    const settings = { watchTimeoutSeconds: 1, watchGraceSeconds: 0, probeSeconds: 86_400 };
    const { scene, watches } = await scriptedSceneOf([silent, told], settings);
    await scene.start();
    await until('the change is sent', () => scene.sent('east').length > 0);
    assert.deepEqual([scene.sent('east'), scene.status('east')?.relistCount], [['generation-changed a'], 0]);
    assert.match(watches[1] ?? '', /resourceVersion=1000&/);
  });

  it('breaks right after its headers five times is opened again by one watch, with pauses (B04)', async () => {
    const { scene, east } = await sceneOf();
    east.faults.add({ kind: 'lose-answer', times: 5, where: ({ isWatch }) => isWatch });
    await scene.start();
    await until('a watch stays open', () => scene.watches.length > 5 && scene.streams());
    await put(east, 'a', 2);
    await scene.works('east', 'next');
    assert.deepEqual(scene.sent('east'), ['created next', 'generation-changed a']);
    assert.ok(scene.watches.length <= 7, `${scene.watches.length} watches`);
  });

  it('is cut inside characters and keys, with frames joined and one cut off, is read as if it were not (B06)', async () => {
    const annotations = { note: 'naïve 漢字 🚀' };
    const first = frame('MODIFIED', { resourceVersion: '2000', generation: 2, annotations });
    const [rocket, key] = [first.indexOf('🚀') + 2, first.indexOf('resourceVersion') + 5];
    const [low, high] = [Math.min(rocket, key), Math.max(rocket, key)];
    const both = Buffer.concat([
      frame('MODIFIED', { resourceVersion: '2001', generation: 3 }),
      frame('BOOKMARK', { resourceVersion: '2500' }),
    ]);
    const half = frame('MODIFIED', { resourceVersion: '2600', generation: 4 }).subarray(0, 60);
    const cut = pieces(first.subarray(0, low), first.subarray(low, high), first.subarray(high), both, half);
    const { scene, watches } = await scriptedSceneOf([cut]);
    await scene.start();
    await until('it is opened again', () => watches.length > 1);
    assert.match(watches[1] ?? '', /resourceVersion=2500&/);
    await until('the last whole frame is sent', () => scene.queue.envelopes().at(-1)?.data.generation === 3);
    assert.equal(scene.status('east')?.relistCount, 0);
  });

  it('shows versions of any number of digits is resumed at exactly the last of them (B18)', async () => {
    const versions = ['9999', '10000', '9007199254740991', '9007199254740993'];
    const frames = versions.map((resourceVersion, index) => frame('MODIFIED', { resourceVersion, generation: index + 2 }));
    const { scene, watches } = await scriptedSceneOf([pieces(...frames)]);
    await scene.start();
    await until('it is opened again', () => watches.length > 1);
    assert.match(watches[1] ?? '', /resourceVersion=9007199254740993&/);
    await until('the last is sent', () => scene.queue.envelopes().at(-1)?.data.generation === 5);
  });
});

describe('over the wire, a watcher whose clock', () => {
  for (const [what, offMs] of [
    ['is 20 minutes ahead', 1_200_000],
    ['is 20 minutes behind', -1_200_000],
  ] as const) {
    it(`${what} sends the same as any other, also after a send that came too late (B21)`, async () => {
      const { scene, east } = await sceneOf({}, offMs);
      await putSettled(east, ['goes', 'going'], { finalizers: ['example.com/hold'] });
      let refusals = 1;
      scene.queue.answer = () => (refusals-- > 0 ? { kind: 'retry', code: 'RequestExpired' } : SENT);
      await scene.start();
      await until('it streams', () => scene.streams());
      await put(east, 'a', 2);
      for (const name of ['goes', 'going']) await east.delete('Tenant', name);
      await until('all are sent', () => scene.sent('east').length === 3);
      await east.patch('Tenant', 'goes', { metadata: { finalizers: null } });
      await until('the deletion is sent', () => scene.sent('east').length === 4);
      assert.deepEqual(scene.sent('east'), ['deleted goes', 'deleting goes', 'deleting going', 'generation-changed a']);
      for (const { message } of scene.queue.accepted) {
        assert.ok((message.delaySeconds ?? 0) >= 0 && (message.delaySeconds ?? 0) <= 900, `${message.delaySeconds} s`);
      }
    });
  }
});

describe('over the wire, objects that', () => {
  it('are larger than a message, or hold what no message may, are told of by reference (B29, B30)', async () => {
    const { scene, east } = await sceneOf();
    await scene.start();
    await until('it streams', () => scene.streams());
    const texts = {
      large: 'x'.repeat(240 * 1024),
      wide: '漢'.repeat(80_000),
      odd: '\u0007\ufffe\uffff\u{10ffff}🚀',
    };
    for (const [name, note] of Object.entries(texts)) await put(east, name, 1, { annotations: { note } });
    const spec = { note: 'x'.repeat(1_200 * 1024) };
    await east.apply({ apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name: 'larger' }, spec });
    await put(east, 'small');
    await until('all are sent', () => scene.sent('east').length === 5);
    for (const { message } of scene.queue.accepted) {
      assert.ok(Buffer.byteLength(message.body) < ENVELOPE_MAX_BYTES);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those that SQS refuses
      assert.doesNotMatch(message.body, /[\u0000-\u0008\ufffe\uffff]/);
    }
  });
});
