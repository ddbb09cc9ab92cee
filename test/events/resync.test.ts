import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hashOf, isResyncDue } from '../../events/resync.ts';

/** As random as uids are, and the same in every run. */
const uidOf = (index: number): string => {
  const hex = createHash('sha256').update(String(index)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

describe('the resync', () => {
  it('gives every object one turn a cycle, however the cycle is cut into spans', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 2e9 }), cuts, (uid, cycle, start, offsets) => {
        const edges = [...offsets.map((offset) => start + (offset % cycle)), start, start + cycle].sort((a, b) => a - b);
        const turns = edges.slice(1).filter((toSeconds, at) => {
          return isResyncDue(hashOf(uid), { fromSeconds: edges[at] as number, toSeconds }, cycle);
        });
        assert.equal(turns.length, 1);
      }),
    );
  });

  it('gives nobody a turn in no time, and everybody one in a span longer than a cycle', () => {
    assert.equal(isResyncDue(hashOf('a'), { fromSeconds: 50, toSeconds: 50 }, 10), false);
    assert.equal(isResyncDue(hashOf('a'), { fromSeconds: 50, toSeconds: 75 }, 10), true);
  });

  for (const cycleSeconds of [10, 600, 36_000]) {
    it(`spreads 10,000 objects evenly over ${cycleSeconds} s`, () => {
      const slots = Array<number>(10).fill(0);
      for (let index = 0; index < 10_000; index += 1) {
        const slot = Math.floor(((hashOf(uidOf(index)) % cycleSeconds) * 10) / cycleSeconds);
        slots[slot] = (slots[slot] ?? 0) + 1;
      }
      // 1,000 expected, standard deviation 30.
      for (const count of slots) assert.ok(count > 850 && count < 1150, `${slots}`);
    });
  }
});
