import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FailedIds, failedIds } from '../../../infra/local/event-source/partial-batch.ts';

const IDS = new Set(['a', 'b', 'c']);
const none: FailedIds = new Set();
const fail = (...ids: unknown[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

describe('failedIds', () => {
  for (const [name, payload, failed] of [
    ['no answer', undefined, none],
    ['null', null, none],
    ['an empty text', '', none],
    ['an empty object', {}, none],
    ['null as the list', { batchItemFailures: null }, none],
    ['an empty list', fail(), none],
    ['one id', fail('b'), new Set(['b'])],
    ['several ids', fail('c', 'a'), new Set(['c', 'a'])],
    ['every id', fail('a', 'b', 'c'), new Set(['a', 'b', 'c'])],
    ['an id twice', fail('a', 'a'), new Set(['a'])],
    ['other fields beside', { ...fail('a'), more: 1 }, new Set(['a'])],
    ['an unknown id', fail('d'), 'all'],
    ['an unknown id after a known one', fail('a', 'd'), 'all'],
    ['an empty id', fail(''), 'all'],
    ['a null id', fail(null), 'all'],
    ['an id that is a number', fail(1), 'all'],
    ['an id under another name', { batchItemFailures: [{ itemIdentifer: 'a' }] }, 'all'],
    ['a bare id', { batchItemFailures: ['a'] }, 'all'],
    ['a null entry', { batchItemFailures: [null] }, 'all'],
    ['failures that a status code wraps, which are lost', { statusCode: 200, body: JSON.stringify(fail('a')) }, none],
    ['failures under a misspelt name, which are lost', { batchItemFailure: [{ itemIdentifier: 'a' }] }, none],
    ['a list that is an object', { batchItemFailures: { itemIdentifier: 'a' } }, 'all'],
    ['a list that is a text', { batchItemFailures: 'a' }, 'all'],
    ['a text', 'done', 'all'],
    ['a number', 0, 'all'],
    ['false', false, 'all'],
    ['an array', [], 'all'],
  ] as const) {
    it(`takes ${name} for ${failed === 'all' ? 'failure of all' : `failure of ${[...failed].join(', ') || 'none'}`}`, () => {
      assert.deepEqual(failedIds({ kind: 'answer', payload }, IDS), failed);
    });
  }

  it('takes an error for failure of all', () => assert.equal(failedIds({ kind: 'error' }, IDS), 'all'));

  it('names only ids of the batch, whatever the answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ batchItemFailures: fc.jsonValue() })), (payload) => {
        const failed = failedIds({ kind: 'answer', payload }, IDS);
        assert.ok(failed === 'all' || [...failed].every((id) => IDS.has(id)));
      }),
    );
  });
});
