import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDone } from '../../../../functions/cli/replay/apply-text.ts';
import type { ApplySummary } from '../../../../functions/replay/apply/contract.ts';

const NONE = { good: 0, quiet: 0, bad: 0, unjudged: 0 };
const LETTERS: ApplySummary['letters'] = {
  ...{ received: 3, sent: 1, folded: 1, sentBefore: 0, acknowledged: { settled: 1 }, left: {}, notOfPlan: 0 },
  ...{ notSeen: 0, missed: 0, notDeleted: 0, notReleased: 0, cameBack: 0 },
};
const DONE: ApplySummary = { end: 'done', letters: LETTERS, sends: { ...NONE, quiet: 1 }, earlierSends: NONE };

const rows: readonly [name: string, change: Partial<ApplySummary>, expected: boolean][] = [
  ['done', {}, true],
  ['with letters on record that were not seen', { letters: { ...LETTERS, notSeen: 2 } }, true],
  ['with what the plan leaves', { letters: { ...LETTERS, left: { paused: 1, undecided: 2, unreadable: 1, 'not-selected': 1 } } }, true],
  ['stopped', { end: 'signal' }, false],
  ['with a letter that nobody knows of', { letters: { ...LETTERS, notSeen: 1, missed: 1 } }, false],
  ['with a letter in the queue still', { letters: { ...LETTERS, notDeleted: 1 } }, false],
  ['with a letter that came back after its object was quiet for a while', { letters: { ...LETTERS, cameBack: 1 } }, false],
  ['with a letter that is left for what happened since', { letters: { ...LETTERS, left: { 'changed-since-plan': 1 } } }, false],
  ['with a bad one', { sends: { ...NONE, bad: 1 } }, false],
  ['with one of before that could not be judged', { earlierSends: { ...NONE, unjudged: 1 } }, false],
];

describe('isDone', () => {
  for (const [name, change, expected] of rows)
    it(`is ${expected} of an apply ${name}`, () => assert.equal(isDone({ ...DONE, ...change }), expected));
});
