import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reconcileAll } from '../../../functions/cli/reconcile-all.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { REFUSED, RETRY, SENT } from '../../fakes/queue.ts';
import { ManualScene, ONLY_WITH_TIER } from './reconcile-scene.ts';

const all = { namespace: undefined, rate: 10, signal: new AbortController().signal };

describe('reconcile --kind', () => {
  it('sends for every object, of several pages, each once', async () => {
    const scene = new ManualScene();
    scene.claims(1200);
    assert.equal(await scene.finish(reconcileAll(scene.manual(), { ...all, rate: 200 })), 0);
    assert.equal(new Set(scene.names()).size, 1200);
    assert.equal(scene.queue.accepted.length, 1200);
    assert.ok(scene.cluster.requestsOf('list').every(({ detail }) => (detail as { form: string }).form === 'metadata'));
    assert.deepEqual(scene.printed, ['east: claims: 1200 of 1200 sent']);
    const [{ data } = { data: undefined }] = scene.queue.envelopes();
    assert.deepEqual([data?.reason, data?.mustRun], ['manual', true]);
  });

  for (const rate of [1, 7, 10, 25, 200]) {
    it(`sends ${rate} a second, neither more nor less`, async () => {
      const scene = new ManualScene();
      scene.claims(rate * 4);
      const startMs = scene.clock.steadyMs();
      let sent = 0;
      scene.queue.answer = (_, { index }) => {
        // A batch goes when all that was sent before it is due.
        if (index === 0) assert.equal(scene.clock.steadyMs() - startMs, Math.round((sent / rate) * 1000));
        sent += 1;
        return SENT;
      };
      assert.equal(await scene.finish(reconcileAll(scene.manual(), { ...all, rate })), 0);
      assert.equal(sent, rate * 4);
    });
  }

  it('leaves out what the run would leave alone, and says how many', async () => {
    const scene = new ManualScene();
    scene.claim('gold', { labels: { tier: 'gold' } });
    scene.claim('none');
    scene.claim('paused', { labels: { tier: 'gold' }, annotations: { 'dogwatch.dev/paused': '' } });
    assert.equal(await scene.finish(reconcileAll(scene.manual({ watch: ONLY_WITH_TIER }), all)), 0);
    assert.deepEqual(scene.names(), ['gold']);
    assert.deepEqual(scene.said, ['east: claims: 1 to be run, 10 a second; left out: 1 paused, 1 held back']);
  });

  it('asks the API server for the selection of its reconciler, and for one namespace where one is named', async () => {
    const scene = new ManualScene();
    scene.claim('a', { labels: { tier: 'gold' } });
    scene.claim('b', { labels: { tier: 'gold' } }, 'elsewhere');
    scene.claim('c');
    const manual = scene.manual({ watch: { labelSelector: 'tier', fieldSelector: 'metadata.name!=x' } });
    assert.equal(await scene.finish(reconcileAll(manual, { ...all, namespace: 'team' })), 0);
    assert.deepEqual(scene.names(), ['a']);
    const [list] = scene.cluster.requestsOf('list');
    const { labelSelector, fieldSelector } = (list?.detail ?? {}) as Record<string, string>;
    assert.deepEqual([labelSelector, fieldSelector], ['tier', 'metadata.name!=x,metadata.namespace=team']);
  });

  it('lists anew where the token of the next page is too old, and sends for nobody twice', async () => {
    const scene = new ManualScene();
    scene.claims(700);
    let lists = 0;
    const { client } = scene.cluster;
    const list: typeof client.list = async (type, options) => {
      lists += 1;
      if (lists === 2) throw new TransientError('expired', 'too old');
      return client.list(type, options);
    };
    assert.equal(await scene.finish(reconcileAll({ ...scene.manual(), client: { ...client, list } }, { ...all, rate: 200 })), 0);
    assert.deepEqual([lists, scene.queue.accepted.length], [4, 700]);
  });

  it('sends again what SQS did not take, and gives up only what it never will', async () => {
    const scene = new ManualScene();
    scene.claims(30);
    const seen = new Set<string>();
    scene.queue.answer = ({ body }) => {
      const { name } = (JSON.parse(body) as { data: { name: string } }).data;
      if (name === 'c-3') return REFUSED;
      const isFirst = !seen.has(name);
      seen.add(name);
      return isFirst && name.endsWith('7') ? RETRY : SENT;
    };
    assert.equal(await scene.finish(reconcileAll(scene.manual({ json: true }), all)), 1);
    const { sent, found, refused, code } = JSON.parse(scene.printed[0] ?? '') as Record<string, unknown>;
    assert.deepEqual([sent, found, refused, code], [29, 30, 1, 'ThrottlingException']);
    assert.equal(new Set(scene.names()).size, 29);
  });

  it('ends where SQS takes nothing at all, with what it said', async () => {
    const scene = new ManualScene();
    scene.claims(30);
    scene.queue.answer = () => RETRY;
    assert.equal(await scene.finish(reconcileAll(scene.manual(), all)), 1);
    assert.equal(scene.queue.calls.length, 5);
    assert.deepEqual(scene.printed, ['east: claims: 0 of 30 sent; SQS: ThrottlingException']);
  });

  it('tells every five seconds how far it is', async () => {
    const scene = new ManualScene();
    scene.claims(120);
    assert.equal(await scene.finish(reconcileAll(scene.manual(), all)), 0);
    assert.deepEqual(scene.said.slice(1), ['east: 60 of 120 sent', 'east: 110 of 120 sent']);
  });

  it('stops where it is told to, with what was sent', async () => {
    const scene = new ManualScene();
    scene.claims(100);
    const stop = new AbortController();
    const work = reconcileAll(scene.manual(), { ...all, signal: stop.signal });
    await scene.clock.advance(2_500);
    stop.abort();
    assert.equal(await work, 1);
    assert.deepEqual(scene.printed, ['east: claims: stopped: 30 of 100 sent']);
  });

  for (const json of [false, true]) {
    it(`is done where it is told to stop after the last send, ${json ? 'as JSON' : 'as text'}`, async () => {
      const scene = new ManualScene();
      scene.claims(5);
      const stop = new AbortController();
      scene.queue.answer = (_, { index }) => {
        if (index === 4) stop.abort();
        return SENT;
      };
      assert.equal(await scene.finish(reconcileAll(scene.manual({ json }), { ...all, signal: stop.signal })), 0);
      if (json) assert.equal((JSON.parse(scene.printed[0] ?? '') as { stopped: boolean }).stopped, false);
      else assert.deepEqual(scene.printed, ['east: claims: 5 of 5 sent']);
    });
  }

  it('is stopped where it is told to while it lists, also of a kind without objects', async () => {
    const scene = new ManualScene();
    assert.equal(await scene.finish(reconcileAll(scene.manual(), { ...all, signal: AbortSignal.abort() })), 1);
    assert.deepEqual(scene.printed, ['east: claims: stopped: 0 of 0 sent']);
  });

  it('has nothing to do for a kind without objects', async () => {
    const scene = new ManualScene();
    assert.equal(await reconcileAll(scene.manual(), all), 0);
    assert.deepEqual(scene.printed, ['east: claims: 0 of 0 sent']);
  });
});
