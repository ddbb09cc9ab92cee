import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reconcileOne } from '../../../functions/cli/reconcile-one.ts';
import { REFUSED, RETRY } from '../../fakes/queue.ts';
import { BULK_URL, claims, ManualScene, ONLY_WITH_TIER } from './reconcile-scene.ts';

describe('reconcile KIND/NAME', () => {
  it('sends `manual` on the bulk queue, with what the object is now', async () => {
    const scene = new ManualScene();
    const at = scene.claim('a');
    const { uid, resourceVersion, generation } = scene.cluster.object(claims, at)?.metadata ?? {};
    assert.equal(await reconcileOne(scene.manual(), at), 0);
    assert.deepEqual(
      scene.queue.accepted.map(({ queueUrl, message: { groupId, delaySeconds } }) => [queueUrl, groupId, delaySeconds]),
      [[BULK_URL, 'east', 0]],
    );
    const [{ data } = { data: {} }] = scene.queue.envelopes();
    assert.deepEqual(data, {
      ...{ cluster: 'east', group: 'platform.example', version: 'v1', plural: 'claims', kind: 'Claim', namespace: 'team', name: 'a' },
      ...{ uid, resourceVersion, generation, reason: 'manual', mustRun: true, attempt: 1, firstSeenAt: '2026-03-01T00:00:00.000Z' },
    });
    assert.deepEqual(scene.printed, ['east: Claim.platform.example team/a is to be run']);
  });

  it('says that there is no such object, and sends nothing', async () => {
    const scene = new ManualScene();
    assert.equal(await reconcileOne(scene.manual(), { namespace: 'default', name: 'a' }), 1);
    assert.deepEqual([scene.queue.calls.length, scene.printed], [0, []]);
    assert.deepEqual(scene.said, ['east: Claim.platform.example default/a does not exist; --namespace NAME looks elsewhere']);
    assert.equal(await reconcileOne(scene.manual({ json: true }), { namespace: 'default', name: 'a' }), 1);
    const told = { cluster: 'east', kind: 'Claim', group: 'platform.example', namespace: 'default', name: 'a', found: false, sent: false };
    assert.deepEqual(JSON.parse(scene.printed[0] ?? ''), told);
  });

  const notes: [string, Record<string, unknown>, Parameters<ManualScene['manual']>[0], RegExp | undefined][] = [
    [
      'a paused object',
      { annotations: { 'dogwatch.dev/paused': '' } },
      {},
      /paused: nothing is done until the annotation dogwatch\.dev\/paused/,
    ],
    [
      'one that is being deleted',
      { finalizers: ['other/x'], deletionTimestamp: '2026-01-01T00:00:00Z' },
      {},
      /being deleted: nothing is done/,
    ],
    [
      'one that is to be finalized',
      { finalizers: ['platform.example/x'], deletionTimestamp: '2026-01-01T00:00:00Z' },
      { finalizer: 'platform.example/x' },
      /being deleted: the run finalizes it/,
    ],
    [
      'one that others hold after it was finalized',
      { finalizers: ['other/x'], deletionTimestamp: '2026-01-01T00:00:00Z' },
      { finalizer: 'platform.example/x' },
      /being deleted: the run finalizes it/,
    ],
    ['one outside the selection', {}, { watch: ONLY_WITH_TIER }, /does not select it/],
    ['one within the selection', { labels: { tier: 'gold' } }, { watch: ONLY_WITH_TIER }, undefined],
  ];
  for (const [name, metadata, over, note] of notes) {
    it(`sends for ${name}, and says what the run will ${note === undefined ? 'find: nothing odd' : 'make of it'}`, async () => {
      const scene = new ManualScene();
      const at = scene.claim('a', metadata);
      assert.equal(await reconcileOne(scene.manual({ ...over, json: true }), at), 0);
      const told = JSON.parse(scene.printed[0] ?? '') as { sent: boolean; note?: string };
      assert.equal(told.sent, true);
      if (note === undefined) assert.equal(told.note, undefined);
      else assert.match(told.note ?? '', note);
    });
  }

  it('is a problem where SQS does not take the message, now or ever', async () => {
    for (const answer of [RETRY, REFUSED]) {
      const scene = new ManualScene();
      const at = scene.claim('a');
      scene.queue.answer = () => answer;
      await assert.rejects(reconcileOne(scene.manual(), at), { code: 'not-sent' });
      assert.deepEqual(scene.printed, []);
    }
  });
});
