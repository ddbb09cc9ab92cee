import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { LetterTable } from '../../../functions/replay/letter-table.ts';
import { lettersOfFirst, limitOf } from '../../../functions/replay/limit.ts';
import { record, TARGET } from './letters.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ ...TARGET, name }));

/** Letters by message id: target and send time. */
function letters(): LetterTable {
  const table = new LetterTable();
  table.add(record({ messageId: 'a1', target: a, sentMs: 500 }));
  table.add(record({ messageId: 'b1', target: b, sentMs: 300 }));
  table.add(record({ messageId: 'nobody', target: undefined, kind: 'foreign', sentMs: 1 }));
  table.add(record({ messageId: 'c1', target: c, sentMs: undefined }));
  table.add(record({ messageId: 'a2', target: a, sentMs: 100 }));
  return table;
}

describe('lettersOfFirst', () => {
  for (const [count, wanted] of [
    [1, ['a1', 'a2']],
    [2, ['a1', 'b1', 'a2']],
    [3, ['a1', 'b1', 'c1', 'a2']],
    [9, ['a1', 'b1', 'c1', 'a2']],
  ] as const) {
    it(`keeps all letters of ${count} at most, the oldest first, and none that is about no object`, () => {
      assert.deepEqual(
        [...lettersOfFirst(letters(), count)].map(({ messageId }) => messageId),
        wanted,
      );
    });
  }
});

describe('limitOf', () => {
  it('reads a count', () => assert.equal(limitOf('25'), 25));
  for (const word of ['0', '-1', '1.5', '1e3', '', 'ten', '9999999999'])
    it(`refuses ${JSON.stringify(word)}`, () =>
      assert.throws(
        () => limitOf(word),
        (error) => error instanceof ConfigError && error.code === 'usage',
      ));
});
