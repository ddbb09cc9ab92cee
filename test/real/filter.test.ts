/** What does not concern a reconciler costs no message; a restart costs exactly what is not settled. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, createTenant, settled, TENANTS } from './tenants.ts';

const SENDS = 'dogwatch_sends_total';

describe('what the watcher sends', () => {
  let system: System;

  before(async () => {
    system = await startSystem();
  });
  after(async () => {
    await system?.stop();
  });

  it('is one message for a spec change and none for 100 edits of labels and annotations', async (t) => {
    await createTenant(system.api, 'quiet');
    await settled(system.api, 'quiet');
    await system.drained();
    await system.functionHost.stop();
    const sentBefore = await system.metric(SENDS, 'result="sent"');
    for (let edit = 0; edit < 50; edit += 1) {
      await system.api.merge(`${TENANTS}/quiet`, { metadata: { labels: { 'example.com/edit': `l${edit}` } } });
      await system.api.merge(`${TENANTS}/quiet`, { metadata: { annotations: { 'example.com/edit': `a${edit}` } } });
    }
    await changeTenant(system.api, 'quiet', { members: [] });
    const sent = async (): Promise<number> => (await system.metric(SENDS, 'result="sent"')) - sentBefore;
    // A message is in the queue a moment before the watcher knows.
    await until('the spec change is sent', async () => (await sent()) > 0 || undefined);
    const depth = await system.depth('live');
    const bulk = await system.depth('bulk');
    t.diagnostic(`after 100 edits and one spec change: ${depth.total} live, ${bulk.total} bulk`);
    assert.equal(depth.total, 1);
    assert.equal(bulk.total, 0);
    assert.equal(await sent(), 1);
    await system.startFunction();
    await settled(system.api, 'quiet');
    await system.drained();
  });

  it('is nothing when it starts again over 200 settled objects, after kill -9', async (t) => {
    const names = Array.from({ length: 199 }, (_, index) => `settled-${index}`);
    await Promise.all(names.map((name) => createTenant(system.api, name)));
    await allSettled(system.api, 200);
    await system.drained();
    system.watcher.signal('SIGKILL');
    await system.watcher.exited;
    const began = Date.now();
    await system.startWatcher();
    await streaming(system);
    const sent = await system.metric(SENDS);
    const depths = [await system.depth('live'), await system.depth('bulk')];
    t.diagnostic(`restarted over 200 settled objects in ${Date.now() - began} ms: ${sent} sends`);
    assert.equal(sent, 0);
    assert.deepEqual(
      depths.map((depth) => depth.total),
      [0, 0],
    );
  });

  it('is exactly the 50 that changed while it was down, on the bulk queue', async (t) => {
    await system.functionHost.stop();
    system.watcher.signal('SIGKILL');
    await system.watcher.exited;
    for (let index = 0; index < 50; index += 1) await changeTenant(system.api, `settled-${index}`, { owner: 'new@acme.example' });
    await system.startWatcher();
    await until('50 sweeps are sent', async () => (await system.metric(SENDS, 'result="sent"')) >= 50 || undefined);
    await streaming(system);
    const [live, bulk] = [await system.depth('live'), await system.depth('bulk')];
    t.diagnostic(`restarted over 50 unsettled and 150 settled: ${live.total} live, ${bulk.total} bulk`);
    assert.equal(live.total, 0);
    assert.equal(bulk.total, 50);
    await system.startFunction();
    await allSettled(system.api, 200);
    await system.drained();
  });

  it('loses nothing of what is pending when it is told to stop', async () => {
    for (let index = 0; index < 20; index += 1) await changeTenant(system.api, `settled-${index}`, { owner: 'third@acme.example' });
    assert.equal(await system.watcher.stop(), 0);
    await system.startWatcher();
    await allSettled(system.api, 200);
  });
});

/** Resolves when every cell of the watcher has listed and is streaming, and nothing is left in its outbox. */
async function streaming(system: System): Promise<void> {
  await until('the watcher streams', async () => {
    const cells = (await system.readyz()).trim().split('\n');
    const isStreaming = cells.every((line) => line.includes('"phase":"streaming"'));
    return (isStreaming && (await system.metric('dogwatch_outbox_depth')) === 0) || undefined;
  });
}
