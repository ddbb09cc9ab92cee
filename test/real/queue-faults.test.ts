/** Real faults of SQS: it answers nothing for a while. Nothing is lost, nothing grows, and all settles once it is back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ElasticMq } from '../../infra/local/elasticmq/elasticmq.ts';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, createTenant } from './tenants.ts';

const TENANT_COUNT = 200;
const OUTAGE_MS = 35_000;
/** Objects that may be counted twice: once in a call under way, and once for what changed since. */
const IN_CALLS_MAX = 40;
/** What a watcher may take more while its queue is away: marks of 200 objects are a few tens of KB. */
const GROWTH_MAX_BYTES = 40_000_000;
/** DRAIN_MS of the watcher and some seconds for ending. */
const END_MS = 25_000;

const names = Array.from({ length: TENANT_COUNT }, (_, index) => `tenant-${index}`);

describe('SQS that answers nothing (B33)', { timeout: 300_000 }, () => {
  let system: System;
  before(async () => {
    system = await startSystem();
    await inParallel(names, (name) => createTenant(system.api, name));
    await allSettled(system.api, TENANT_COUNT);
  });
  after(async () => {
    await system?.stop();
  });

  it('for half a minute, while every object changes three times: all settle after it is back, none is held in memory twice', async (t) => {
    const memoryBefore = await system.metric('process_resident_memory_bytes');
    const queue = elasticMqOf(system);
    queue.pause();
    const beganMs = Date.now();
    for (const round of [1, 2, 3]) {
      await inParallel(names, (name) => changeTenant(system.api, name, { owner: `owner-${round}@acme.example` }));
      const depth = await system.metric('dogwatch_outbox_depth');
      assert.ok(depth <= TENANT_COUNT + IN_CALLS_MAX, `${depth} objects wait, of ${TENANT_COUNT}`);
    }
    await until('the watcher has seen them all', async () => (await system.metric('dogwatch_outbox_depth')) >= TENANT_COUNT || undefined);
    await until('the outage is long enough', () => Date.now() - beganMs > OUTAGE_MS || undefined, OUTAGE_MS + 5_000);
    const growth = (await system.metric('process_resident_memory_bytes')) - memoryBefore;
    assert.ok(growth < GROWTH_MAX_BYTES, `grew by ${growth} bytes`);
    const warningCount = system.watcher.lines.filter((line) => line.includes('messages not taken by SQS')).length;
    assert.ok(warningCount >= 1 && warningCount < 40, `${warningCount} lines about it`);
    queue.resume();
    const resumedMs = Date.now();
    const settled = await allSettled(system.api, TENANT_COUNT);
    t.diagnostic(
      `settled ${Date.now() - resumedMs} ms after SQS was back; grew by ${Math.round(growth / 1e6)} MB; ${warningCount} warnings`,
    );
    assert.ok(settled.every(({ spec }) => spec?.['owner'] === 'owner-3@acme.example'));
    await system.watcher.line(/SQS takes messages again/);
    await until('nothing waits', async () => (await system.metric('dogwatch_outbox_depth')) === 0 || undefined);
    assert.equal((await system.depth('dead-letters')).total, 0);
  });

  it('when the watcher is told to stop: it ends in time, and its successor sends what was left', async (t) => {
    const changed = names.slice(0, 50);
    const { watcher } = system;
    const queue = elasticMqOf(system);
    queue.pause();
    await inParallel(changed, (name) => changeTenant(system.api, name, { owner: 'after@acme.example' }));
    await until('the watcher has seen them all', async () => (await system.metric('dogwatch_outbox_depth')) >= changed.length || undefined);
    const toldMs = Date.now();
    watcher.signal('SIGTERM');
    const code = await Promise.race([watcher.exited, until('the watcher ends', () => undefined, END_MS).catch(() => 'too late')]);
    t.diagnostic(`ended after ${Date.now() - toldMs} ms`);
    assert.equal(code, 0);
    const last = watcher.lines.find((line) => line.includes('watcher stopped with unsent objects'));
    const { left = 0 } = JSON.parse(last ?? '{}') as { left?: number };
    assert.ok(left >= changed.length && left <= changed.length + IN_CALLS_MAX, `${left} left`);
    queue.resume();
    await system.startWatcher();
    const settled = await allSettled(system.api, TENANT_COUNT);
    assert.equal(settled.filter(({ spec }) => spec?.['owner'] === 'after@acme.example').length, changed.length);
    await system.drained();
  });
});

/** The lab's SQS, which can be paused. */
function elasticMqOf(system: System): ElasticMq {
  const { queues } = system.lab;
  if (!('pause' in queues)) throw new Error('the lab runs no ElasticMQ');
  return queues as ElasticMq;
}

/** Calls `work` for each, eight at once. */
async function inParallel(items: readonly string[], work: (item: string) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const run = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, run));
}
