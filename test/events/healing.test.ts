import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type HealingCase, healingIntervalSeconds } from '../../events/healing.ts';

const DEFAULTS = { healAfterSeconds: 600, maxAgeSeconds: 21_600 };

describe('healingIntervalSeconds', () => {
  const rows: readonly [kind: HealingCase, intervals: readonly number[]][] = [
    ['never-attempted', [600, 1200, 2400, 4800, 9600, 19_200, 21_600, 21_600]],
    ['overdue', [600, 1200, 2400, 4800, 9600, 19_200, 21_600, 21_600]],
    ['attempted', [22_500, 45_000, 86_400, 86_400]],
    ['unknown', [600, 1200, 2400, 4800, 9600, 19_200, Infinity, Infinity]],
  ];
  for (const [kind, intervals] of rows) {
    it(`doubles for an object that is ${kind}`, () => {
      assert.deepEqual(
        intervals.map((_, count) => healingIntervalSeconds(kind, count, DEFAULTS)),
        intervals,
      );
    });
  }

  it('begins with the first interval also where that is over the longest', () => {
    const settings = { healAfterSeconds: 86_400, maxAgeSeconds: 604_800 };
    assert.equal(healingIntervalSeconds('never-attempted', 0, settings), 86_400);
    assert.equal(healingIntervalSeconds('never-attempted', 9, settings), 86_400);
    assert.equal(healingIntervalSeconds('attempted', 3, settings), 605_700);
    assert.equal(healingIntervalSeconds('unknown', 0, settings), 86_400);
    assert.equal(healingIntervalSeconds('unknown', 1, settings), Infinity);
  });

  it('never becomes shorter, and is at least the first interval', () => {
    const kind = fc.constantFrom<HealingCase>('never-attempted', 'attempted', 'overdue', 'unknown');
    const settings = fc.record({
      healAfterSeconds: fc.integer({ min: 1, max: 86_400 }),
      maxAgeSeconds: fc.integer({ min: 1, max: 604_800 }),
    });
    fc.assert(
      fc.property(kind, settings, fc.nat(30), (one, given, count) => {
        const seconds = healingIntervalSeconds(one, count, given);
        assert.ok(seconds >= (one === 'attempted' ? given.maxAgeSeconds : given.healAfterSeconds));
        assert.ok(healingIntervalSeconds(one, count + 1, given) >= seconds);
      }),
    );
  });
});
