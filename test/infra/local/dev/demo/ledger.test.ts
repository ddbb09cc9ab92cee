import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, figuresOf, START } from '../../../../../infra/local/dev/demo/ledger.ts';
import type { OutcomeLine } from '../../../../../infra/local/dev/dev-state.ts';

const HARBOR = 'east/platform.example/Tenant//harbor';

const reconciled: OutcomeLine = {
  ...{ branch: 'reconciled', disposition: 'done', key: HARBOR, messageIds: ['a', 'b'], apiRequestCount: 6, rereadCount: 2 },
};
const overtaken: OutcomeLine = {
  branch: 'overtaken-foreign-fields',
  disposition: 'requeue',
  key: HARBOR,
  messageIds: ['c'],
  rereadCount: 3,
};
const refused: OutcomeLine = { branch: 'refused', disposition: 'dead-letter', messageIds: ['d'], apiRequestCount: 11 };

describe('figuresOf', () => {
  const none = { messages: 0, runs: 0, requests: 0, rereads: 0, sentAgain: 0, letters: 0 };
  const cases: readonly (readonly [name: string, lines: readonly OutcomeLine[], figures: Partial<typeof none>])[] = [
    ['counts nothing where nothing ran', [], {}],
    ['counts two messages that were one run', [reconciled], { messages: 2, runs: 1, requests: 6, rereads: 2 }],
    ['counts what is sent again', [reconciled, overtaken], { messages: 3, runs: 2, requests: 6, rereads: 5, sentAgain: 1 }],
    ['counts letters', [refused], { messages: 1, runs: 1, requests: 11, letters: 1 }],
    ['counts a message that was delivered twice once', [overtaken, overtaken], { messages: 1, runs: 2, rereads: 6, sentAgain: 2 }],
    ['does not count a wake-up that was asked for as sent again', [{ branch: 'requeue-after', disposition: 'requeue' }], { runs: 1 }],
    [
      'counts nothing for fields of other types',
      [{ branch: 'mine', messageIds: 'all', apiRequestCount: '7' } as unknown as OutcomeLine],
      { runs: 1 },
    ],
  ];
  for (const [name, lines, figures] of cases) it(name, () => assert.deepEqual(figuresOf(lines), { ...none, ...figures }));
});

describe('the ledger', () => {
  it('has the outcomes since a mark, of all objects or of one', () => {
    const ledger = createLedger();
    ledger.see({ kind: 'outcome', line: reconciled });
    const mark = ledger.mark();
    ledger.see({ kind: 'notice', level: 'info', text: 'no outcome' });
    ledger.see({ kind: 'outcome', line: refused });
    ledger.see({ kind: 'outcome', line: overtaken });
    assert.deepEqual(ledger.linesSince(mark), [refused, overtaken]);
    assert.deepEqual(ledger.linesSince(mark, HARBOR), [overtaken]);
    assert.deepEqual(ledger.linesSince(START, HARBOR), [reconciled, overtaken]);
  });
});
