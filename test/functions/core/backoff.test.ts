import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { backoffSeconds } from '../../../functions/core/backoff.ts';

const ALMOST_ONE = 1 - Number.EPSILON / 2;

describe('backoffSeconds', () => {
  const cases: readonly [name: string, attempt: number, base: number, cap: number, random: number, expected: number][] = [
    ['waits half of the base at least', 1, 30, 900, 0, 15],
    ['waits all of the base at most', 1, 30, 900, ALMOST_ONE, 30],
    ['doubles with each attempt', 3, 2, 900, 0, 4],
    ['doubles the longest wait too', 3, 2, 900, ALMOST_ONE, 8],
    ['waits a second at least', 1, 1, 60, 0, 1],
    ['waits whole seconds for a base that is none', 1, 0.5, 60, 0.5, 1],
    ['rounds half of an odd wait up', 1, 3, 60, 0, 2],
    ['stays within its cap', 30, 1, 60, ALMOST_ONE, 60],
    ['jitters at its cap too', 30, 1, 60, 0, 30],
    ['takes any number of attempts', 1e6, 2, 900, ALMOST_ONE, 900],
  ];
  for (const [name, attempt, baseSeconds, capSeconds, random, expected] of cases) {
    it(name, () => assert.equal(backoffSeconds({ attempt, baseSeconds, capSeconds, random }), expected));
  }

  it('waits no shorter than the server asked, rounded up', () => {
    assert.equal(backoffSeconds({ attempt: 1, baseSeconds: 2, capSeconds: 900, random: 0, floorSeconds: 6.2 }), 7);
  });

  it('waits longer than the server asked where the backoff is longer', () => {
    assert.equal(backoffSeconds({ attempt: 6, baseSeconds: 2, capSeconds: 900, random: 0, floorSeconds: 6 }), 32);
  });

  it('goes over its cap for the server, but not over what SQS takes', () => {
    assert.equal(backoffSeconds({ attempt: 1, baseSeconds: 1, capSeconds: 60, random: 0, floorSeconds: 120 }), 120);
    assert.equal(backoffSeconds({ attempt: 1, baseSeconds: 1, capSeconds: 60, random: 0, floorSeconds: 1e9 }), 900);
  });

  it('takes a floor that makes no sense for none', () => {
    for (const floorSeconds of [Number.NaN, -5]) {
      assert.equal(backoffSeconds({ attempt: 1, baseSeconds: 2, capSeconds: 900, random: 0, floorSeconds }), 1);
    }
  });

  it('refuses an attempt that is no integer of 1 or more', () => {
    for (const attempt of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '7' as unknown as number]) {
      assert.throws(() => backoffSeconds({ attempt, baseSeconds: 2, capSeconds: 900, random: 0 }), RangeError);
    }
  });

  it('refuses base, cap and random out of their bounds', () => {
    const fine = { attempt: 1, baseSeconds: 2, capSeconds: 900, random: 0 };
    for (const wrong of [
      { baseSeconds: 0 },
      { baseSeconds: Number.NaN },
      { capSeconds: 901 },
      { capSeconds: 0 },
      { random: 1 },
      { random: -0.1 },
    ]) {
      assert.throws(() => backoffSeconds({ ...fine, ...wrong }), RangeError);
    }
  });

  it('is a whole number from 1 to 900, between half and all of the doubled base', () => {
    const input = fc.record({
      attempt: fc.integer({ min: 1, max: 2000 }),
      baseSeconds: fc.integer({ min: 1, max: 900 }),
      capSeconds: fc.integer({ min: 1, max: 900 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(input, (given) => {
        const wait = backoffSeconds(given);
        const longest = Math.min(given.capSeconds, given.baseSeconds * 2 ** (given.attempt - 1));
        assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 900);
        assert.ok(wait >= longest / 2 && wait <= longest);
      }),
    );
  });
});
