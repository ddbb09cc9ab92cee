/** What the watcher does by time alone: a purged queue heals, and an object that changes all the time is held. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { until } from './api.ts';
import { connectQueues, queueUrlOf } from './depth.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, createTenant, settled } from './tenants.ts';

const SENDS = 'dogwatch_sends_total';
const SENT = 'result="sent"';

describe('upkeep', () => {
  let system: System;

  before(async () => {
    system = await startSystem({ env: { DOGWATCH_HEAL_AFTER_SECONDS: '20', DOGWATCH_HOLD_MAX_SECONDS: '60' } });
  });
  after(async () => {
    await system?.stop();
  });

  it('makes at most 8 messages of 100 spec changes of one object within 10 s, and settles it', async (t) => {
    await createTenant(system.api, 'busy');
    await settled(system.api, 'busy');
    await system.drained();
    const sentBefore = await system.metric(SENDS, SENT);
    const beganMs = Date.now();
    for (let change = 0; change < 100; change += 1) {
      await changeTenant(system.api, 'busy', { owner: `owner-${change}@acme.example` });
      await until('the next change', () => Date.now() >= beganMs + 90 * (change + 1) || undefined, 1_000, 5);
    }
    const tookMs = Date.now() - beganMs;
    await settled(system.api, 'busy', 60_000);
    const sent = (await system.metric(SENDS, SENT)) - sentBefore;
    t.diagnostic(`${sent} messages for 100 changes within ${tookMs} ms`);
    assert.ok(sent >= 1 && sent <= 8, `${sent} messages`);
  });

  it('heals 20 objects whose messages were purged, without a restart', async (t) => {
    await system.functionHost.stop();
    await Promise.all(Array.from({ length: 20 }, (_, index) => createTenant(system.api, `purged-${index}`)));
    await until('their messages are in the queue', async () => (await system.depth('live')).total >= 20 || undefined);
    const queues = connectQueues(system.lab);
    for (const queue of ['live', 'bulk'] as const) await queues.send(new PurgeQueueCommand({ QueueUrl: queueUrlOf(system.lab, queue) }));
    queues.destroy();
    assert.equal((await system.depth('live')).total, 0);
    const beganMs = Date.now();
    await system.startFunction();
    await allSettled(system.api, 21);
    t.diagnostic(`settled ${Date.now() - beganMs} ms after the purge`);
  });
});
