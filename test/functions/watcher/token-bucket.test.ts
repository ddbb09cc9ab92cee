import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../../functions/watcher/token-bucket.ts';

describe('TokenBucket', () => {
  it('is full at first, fills at its rate, and never beyond its capacity', () => {
    const bucket = new TokenBucket({ perSecond: 2, capacity: 10 }, 1000);
    assert.equal(bucket.available(1000), 10);
    bucket.take(10, 1000);
    assert.deepEqual(
      [1000, 1499, 1500, 2000, 5999, 6000, 60_000].map((ms) => bucket.available(ms)),
      [0, 0, 1, 2, 9, 10, 10],
    );
  });

  it('says when it will hold so many tokens', () => {
    const bucket = new TokenBucket({ perSecond: 3, capacity: 10 }, 0);
    assert.equal(bucket.whenMs(10, 0), 0);
    bucket.take(10, 0);
    assert.deepEqual([bucket.whenMs(0, 0), bucket.whenMs(1, 0), bucket.whenMs(3, 0), bucket.whenMs(10, 0)], [0, 334, 1000, 3334]);
  });

  it('keeps what it holds when its rate changes, up to what it then may hold', () => {
    const bucket = new TokenBucket({ perSecond: 2, capacity: 10 }, 0);
    bucket.take(10, 0);
    bucket.setRate({ perSecond: 20, capacity: 30 }, 1000);
    assert.deepEqual([bucket.available(1000), bucket.available(2000), bucket.whenMs(30, 2000)], [2, 22, 2400]);
    bucket.setRate({ perSecond: 1, capacity: 5 }, 2000);
    assert.deepEqual([bucket.available(2000), bucket.available(9000)], [5, 5]);
    assert.throws(() => bucket.setRate({ perSecond: 0, capacity: 5 }, 9000), RangeError);
  });

  it('refuses to give what it does not hold, and rates at which it would never give', () => {
    const bucket = new TokenBucket({ perSecond: 2, capacity: 3 }, 0);
    bucket.take(2, 0);
    assert.throws(() => bucket.take(2, 0), RangeError);
    assert.equal(bucket.available(0), 1);
    for (const rate of [0, -1, 0.5, Number.NaN]) {
      assert.throws(() => new TokenBucket({ perSecond: rate, capacity: 1 }, 0), RangeError);
      assert.throws(() => new TokenBucket({ perSecond: 1, capacity: rate }, 0), RangeError);
    }
  });

  it('goes on at its rate from wherever the clock was set', () => {
    const bucket = new TokenBucket({ perSecond: 1, capacity: 5 }, 1_000_000);
    bucket.take(5, 1_000_000);
    assert.deepEqual(
      [0, 1000, 2000].map((ms) => bucket.available(ms)),
      [0, 1, 2],
    );
  });

  it('gives exactly what came in, however often it is asked in between, and holds what it promised when it promised', () => {
    const steps = fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 3000 }), wanted: fc.integer({ min: 0, max: 20 }) }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), steps, (perSecond, all) => {
        const bucket = new TokenBucket({ perSecond, capacity: 20 }, 0);
        let nowMs = 0;
        let given = 0;
        for (const { waitMs, wanted } of all) {
          nowMs += waitMs;
          const count = Math.min(wanted, bucket.available(nowMs));
          bucket.take(count, nowMs);
          given += count;
          assert.ok(given <= 20 + (nowMs * perSecond) / 1000);
          const atMs = bucket.whenMs(wanted, nowMs);
          assert.ok(bucket.available(atMs) >= wanted);
          nowMs = atMs;
        }
      }),
    );
  });
});
