import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFinalizeAnswer } from '../../../functions/core/finalize-answer.ts';

describe('checkFinalizeAnswer', () => {
  it('takes done, and a wait of 1 second to ten years', () => {
    assert.deepEqual(checkFinalizeAnswer({ done: true }), { done: true });
    assert.deepEqual(checkFinalizeAnswer({ done: true, requeueAfterSeconds: 0 }), { done: true });
    for (const requeueAfterSeconds of [1, 1.5, 900, 86_400]) {
      assert.deepEqual(checkFinalizeAnswer({ done: false, requeueAfterSeconds }), { done: false, requeueAfterSeconds });
    }
  });

  const nonsense: readonly unknown[] = [
    ...[undefined, null, true, 'done', 1, [], [{ done: true }], {}, () => ({ done: true })],
    ...[{ done: 'true' }, { done: 1 }, { done: null }, { requeueAfterSeconds: 5 }, { done: false }],
    ...[0, 0.9, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12, '5', null, 5n].map((wait) => ({ done: false, requeueAfterSeconds: wait })),
  ];
  for (const answer of nonsense) {
    it(`refuses what is neither: ${describeAnswer(answer)}`, () => {
      assert.throws(() => checkFinalizeAnswer(answer), { name: 'TerminalError', code: 'invalid-plan' });
    });
  }
});

function describeAnswer(answer: unknown): string {
  return typeof answer === 'function'
    ? 'a function'
    : JSON.stringify(answer, (_, value) => (Number.isFinite(value) ? value : String(value)));
}
