import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Part, share } from '../../../../infra/local/dev/room.ts';

const head: Part = { needs: 0, uses: 0, least: 1, most: 1 };
const table: Part = { needs: 2, uses: 1, least: 3, most: 6 };
const log: Part = { needs: 1, uses: 2, least: 4, most: 100 };
const nothing: Part = { needs: 1, uses: 1, least: 2, most: 0 };

describe('the lines of a screen', () => {
  for (const [what, height, between, rooms] of [
    ['are all used', 20, 0, [1, 6, 0, 13]],
    ['have room between the parts that are there', 20, 1, [1, 6, 0, 11]],
    ['go to what each needs before what another can use', 9, 0, [1, 4, 0, 4]],
    ['go to no part that would say nothing with them', 7, 0, [1, 0, 0, 6]],
    ['go to the first alone where there is one', 1, 1, [1, 0, 0, 0]],
  ] as const) {
    it(what, () => assert.deepEqual(share([head, table, nothing, log], height, between), rooms));
  }

  it('are never more than there are', () => {
    const part = fc.record({ needs: fc.nat(9), uses: fc.nat(9), least: fc.nat(6), most: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(part), fc.integer({ min: 1, max: 60 }), fc.nat(2), (parts, height, between) => {
        const rooms = share(parts, height, between);
        const shown = rooms.filter((room) => room > 0);
        assert.ok(shown.reduce((sum, room) => sum + room + between, -between) <= height);
        for (const [index, room] of rooms.entries()) assert.ok(room >= 0 && room <= (parts[index]?.most ?? 0));
      }),
    );
  });
});
