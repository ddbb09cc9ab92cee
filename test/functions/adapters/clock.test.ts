import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { dateOf, systemClock } from '../../../functions/adapters/clock.ts';
import { FakeClock } from '../../fakes/clock.ts';

const HOUR_MS = 3_600_000;

describe('systemClock', () => {
  it('has a reading beside the wall clock, about the same until somebody sets that', () => {
    const steadyMs = systemClock.steadyMs();
    assert.ok(Number.isInteger(steadyMs));
    assert.ok(Math.abs(steadyMs - systemClock.now().getTime()) < HOUR_MS);
    mock.timers.enable({ apis: ['Date'], now: steadyMs - 10 * HOUR_MS });
    try {
      assert.ok(systemClock.now().getTime() < steadyMs - 9 * HOUR_MS);
      const elapsedMs = systemClock.steadyMs() - steadyMs;
      assert.ok(elapsedMs >= 0 && elapsedMs < HOUR_MS, `${elapsedMs} ms`);
    } finally {
      mock.timers.reset();
    }
  });
});

describe('dateOf', () => {
  it('is when it was, as the wall clock is set now', async () => {
    const clock = new FakeClock({ start: new Date('2026-03-01T10:00:00.000Z') });
    const seenMs = clock.steadyMs();
    await clock.advance(1_500);
    assert.equal(dateOf(seenMs, clock).toISOString(), '2026-03-01T10:00:00.000Z');
    clock.setForward(-HOUR_MS);
    assert.equal(dateOf(seenMs, clock).toISOString(), '2026-03-01T09:00:00.000Z');
  });
});
