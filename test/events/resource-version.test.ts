import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareResourceVersions, isPosition, newestResourceVersion } from '../../events/resource-version.ts';

const position = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 80n }).map(String),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String),
  fc.integer({ min: 1, max: 12 }).map(String),
);

describe('compareResourceVersions', () => {
  const rows: readonly [name: string, a: string, b: string, expected: -1 | 0 | 1 | undefined][] = [
    ['a digit boundary', '99', '100', -1],
    ['the other way', '100', '99', 1],
    ['equal', '42', '42', 0],
    ['one above what a double holds', '9007199254740993', '9007199254740992', 1],
    ['above 64 bits', '18446744073709551616', '18446744073709551615', 1],
    ['hundreds of digits', `1${'0'.repeat(400)}`, `${'9'.repeat(400)}`, 1],
    ['zero is no position', '0', '1', undefined],
    ['zero twice', '0', '0', undefined],
    ['a leading zero', '010', '10', undefined],
    ['empty', '', '1', undefined],
    ['a sign', '-1', '1', undefined],
    ['letters', 'abc-7', '8', undefined],
    ['letters twice', 'abc-7', 'abc-7', undefined],
    ['a line break at the end', '1\n', '1', undefined],
    ['spaces', ' 1', '1', undefined],
    ['an exponent', '1e3', '1', undefined],
    ['digits of another script', '١٢', '1', undefined],
  ];
  for (const [name, a, b, expected] of rows) {
    it(`orders ${name}`, () => assert.equal(compareResourceVersions(a, b), expected));
  }

  it('orders as numbers of any length do, which is a total order', () => {
    fc.assert(
      fc.property(position, position, position, (a, b, c) => {
        const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
        assert.equal(compareResourceVersions(a, b), expected);
        assert.equal(compareResourceVersions(b, a), expected === 0 ? 0 : -expected);
        if ((compareResourceVersions(a, b) ?? 1) <= 0 && (compareResourceVersions(b, c) ?? 1) <= 0) {
          assert.ok((compareResourceVersions(a, c) ?? 1) <= 0);
        }
      }),
    );
  });

  it('never throws and compares nothing that is no position', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), position, (text, other) => {
        assert.equal(compareResourceVersions(text, other) === undefined, !isPosition(text));
      }),
    );
  });
});

describe('newestResourceVersion', () => {
  const rows: readonly [name: string, a: string | undefined, b: string | undefined, expected: string | undefined][] = [
    ['the greater, first', '100', '99', '100'],
    ['the greater, second', '99', '100', '100'],
    ['the only one', undefined, '5', '5'],
    ['the only one, first', '5', undefined, '5'],
    ['nothing of nothing', undefined, undefined, undefined],
    ['a position over a text that is none', '5', 'abc', '5'],
    ['a position over a text that is none, second', '0', '5', '5'],
    ['the later of two that cannot be compared', 'abc', 'abd', 'abd'],
  ];
  for (const [name, a, b, expected] of rows) {
    it(`takes ${name}`, () => assert.equal(newestResourceVersion(a, b), expected));
  }
});
