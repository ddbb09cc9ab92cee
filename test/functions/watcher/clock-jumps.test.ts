/** A whole watcher whose wall clock is set while it runs: what is waited for and what is measured knows nothing of it. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { decodeEnvelope, type Envelope } from '../../../events/envelope.ts';
import { RETRY, SENT } from '../../fakes/queue.ts';
import { tenants } from './scene.ts';
import { queueUrls, stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

const HOUR_MS = 3_600_000;
const BEHIND_COUNT = 100;
const SETTLED_COUNT = 1_000;

/** The messages since the last call, heartbeats apart. */
function sentBy(scene: WatcherScene): { envelopes: Envelope[]; heartbeatCount: number } {
  const decoded = scene.queue.accepted.splice(0).map(({ message }) => decodeEnvelope(message.body));
  const envelopes = decoded.flatMap((one) => (one.kind === 'reconcile' ? [one.envelope] : []));
  return { envelopes, heartbeatCount: decoded.length - envelopes.length };
}

const namesOf = (envelopes: readonly Envelope[], reason: string): string[] =>
  envelopes
    .filter(({ data }) => data.reason === reason)
    .map(({ data }) => data.name)
    .sort();

/** Much that is settled, some that stays unsettled, and half a minute of life. */
async function running(): Promise<WatcherScene> {
  const scene = new WatcherScene('east');
  const east = scene.cluster('east');
  for (let index = 0; index < BEHIND_COUNT; index += 1) east.create(tenants, { name: `behind-${index}` });
  for (let index = 0; index < SETTLED_COUNT; index += 1) {
    east.create(tenants, { name: `settled-${index}` }, { spec: { size: 1 }, status: { observedGeneration: 1 } });
  }
  await scene.start([tenants], { heartbeatSeconds: 60 });
  await scene.clock.advance(30_000);
  assert.equal(namesOf(sentBy(scene).envelopes, 'sweep').length, BEHIND_COUNT);
  return scene;
}

function change(scene: WatcherScene, name: string, size: number): void {
  scene.cluster('east').edit(tenants, { name }, (draft) => {
    draft['spec'] = { size };
  });
}

for (const [said, jumpMs] of [
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
] as const) {
  describe(`a watcher whose clock is set ${said} by an hour`, () => {
    it('sends what a hold or a busy queue kept back in its time, with an age that is none of its own', async () => {
      const scene = await running();
      change(scene, 'settled-1', 2);
      await scene.clock.advance(100);
      change(scene, 'settled-1', 3);
      scene.queue.answer = (_message, { queueUrl }) => (queueUrl === queueUrls.live ? RETRY : SENT);
      change(scene, 'settled-2', 2);
      await scene.clock.advance(400);
      scene.queue.answer = () => SENT;
      sentBy(scene);
      scene.clock.setForward(jumpMs);
      await scene.clock.advance(200);
      assert.deepEqual(namesOf(sentBy(scene).envelopes, 'generation-changed'), ['settled-2']);
      await scene.clock.advance(1_000);
      const { envelopes } = sentBy(scene);
      assert.deepEqual(namesOf(envelopes, 'generation-changed'), ['settled-1']);
      const [held] = envelopes;
      assert.equal(held?.data.heldSeconds, 1);
      const ageMs = Date.parse(held.time) - Date.parse(held.data.firstSeenAt);
      assert.ok(ageMs >= 1_000 && ageMs < 2_000, `${ageMs} ms old`);
    });

    it('holds as long as before what changes again and again', async () => {
      const scene = await running();
      change(scene, 'settled-1', 2);
      await scene.clock.advance(100);
      scene.clock.setForward(jumpMs);
      change(scene, 'settled-1', 3);
      await scene.clock.advance(900);
      assert.equal(sentBy(scene).envelopes.length, 1);
      await scene.clock.advance(200);
      assert.equal(sentBy(scene).envelopes.length, 1);
    });

    it('heals and resyncs at the pace of before', async () => {
      const scene = await running();
      scene.clock.setForward(jumpMs);
      await scene.clock.advance(560_000);
      const early = sentBy(scene).envelopes;
      assert.deepEqual(namesOf(early, 'sweep'), []);
      // A cycle is ten hours: in ten minutes, 18 of 1,100 on average. An hour at once would be 110.
      assert.ok(namesOf(early, 'resync').length < 40, `${namesOf(early, 'resync').length} resyncs`);
      await scene.clock.advance(120_000);
      assert.ok(namesOf(sentBy(scene).envelopes, 'sweep').length > BEHIND_COUNT * 0.9);
    });

    it('sends its heartbeats once a minute', async () => {
      const scene = await running();
      scene.clock.setForward(jumpMs);
      await scene.clock.advance(600_000);
      assert.equal(sentBy(scene).heartbeatCount, 10);
    });

    it('asks a quiet cluster for its history as often as before', async () => {
      const scene = await running();
      const before = scene.cluster('east').requestsOf('list').length;
      scene.clock.setForward(jumpMs);
      await scene.clock.advance(240_000);
      assert.equal(scene.cluster('east').requestsOf('list').length, before);
      await scene.clock.advance(60_000);
      assert.equal(scene.cluster('east').requestsOf('list').length, before + 1);
    });

    it('says for how long things have been as they are', async () => {
      const scene = await running();
      scene.clock.setForward(jumpMs);
      const { text } = await scene.get('/metrics');
      assert.match(text, /^dogwatch_oldest_unsettled_seconds\{.*\} 30$/m);
      assert.match(text, /^dogwatch_last_event_age_seconds\{.*\} 30$/m);
      scene.cluster('east').restart();
      await scene.clock.advance(5_000);
      const changes = scene.log.lines.filter(({ message }) => message === 'cell changed its state');
      const seconds = changes.map(({ fields }) => Number(fields['secondsBefore']));
      assert.ok(changes.length > 2 && seconds.every((one) => one >= 0 && one <= 30), seconds.join());
      const outages = scene.log.lines.filter(({ message }) => message === 'watch recovered');
      assert.ok(outages.every(({ fields }) => Number(fields['outageSeconds']) <= 5));
    });
  });
}
