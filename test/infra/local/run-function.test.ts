import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventSource } from '../../../infra/local/event-source/event-source.ts';
import { runAll } from '../../../infra/local/run-function.ts';

const sourceOf = (run: EventSource['run']): EventSource => ({
  run,
  check: async () => undefined,
  idle: () => ({ running: 0, emptyPolls: 0 }),
});

describe('runAll', () => {
  it('tells the others to end at the fault of one, and fails with it after their batches ended', async () => {
    const stop = new AbortController();
    const told = Promise.withResolvers<void>();
    const batch = Promise.withResolvers<void>();
    const failing = sourceOf(() => Promise.reject(new Error('the fault')));
    const busy = sourceOf(async (signal) => {
      if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done));
      told.resolve();
      await batch.promise;
    });
    let isOver = false;
    const ran = runAll([failing, busy], stop).finally(() => {
      isOver = true;
    });
    ran.catch(() => undefined);
    await told.promise;
    await new Promise((turn) => setImmediate(turn));
    assert.equal(isOver, false);
    batch.resolve();
    await assert.rejects(ran, /the fault/);
  });

  it('ends without a fault once all were told to stop', async () => {
    const stop = new AbortController();
    const untilTold = sourceOf((signal) => new Promise((done) => signal.addEventListener('abort', () => done())));
    const ran = runAll([untilTold, untilTold], stop);
    stop.abort();
    await ran;
  });
});
