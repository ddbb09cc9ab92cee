import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Figures } from '../../../../../infra/local/dev/demo/ledger.ts';
import type { StepResult, StoryResult } from '../../../../../infra/local/dev/demo/story.ts';
import { counted, isWell, summaryLines } from '../../../../../infra/local/dev/demo/summary.ts';
import { widthOf } from '../../../../../infra/local/dev/shown-text.ts';

const none: Figures = { messages: 0, runs: 0, requests: 0, rereads: 0, sentAgain: 0, letters: 0 };

const create: StepResult = {
  ...{ name: 'create', kind: 'well', text: 'Ready in east and west', seconds: 0.94 },
  figures: { ...none, messages: 2, runs: 2, requests: 28 },
};
const letter: StepResult = {
  ...{ name: 'dead letter', kind: 'well', text: 'Stalled, 1 dead letter: child-not-owned', seconds: 12.06 },
  figures: { ...none, messages: 1, runs: 1, requests: 11, letters: 1 },
};
const failed: StepResult = {
  ...{ name: 'twenty writers', kind: 'failed', text: 'waited 30 s for Tenant/harbor in east to be Ready', seconds: 30 },
  figures: { ...none, messages: 3, runs: 4, requests: 40, rereads: 9, sentAgain: 2 },
};
const left: StepResult = { name: 'repair', kind: 'not played' };
const plain = { width: 100, hasColor: false };

describe('the summary of a story', () => {
  it('has the figures of each step, and of all', () => {
    assert.deepEqual(summaryLines({ results: [create, letter], seconds: 13.44 }, plain), [
      'STEP         SECONDS  MESSAGES  RUNS  REQUESTS  WHAT FOLLOWED',
      'create           0.9         2     2        28  Ready in east and west',
      'dead letter     12.1         1     1        11  Stalled, 1 dead letter: child-not-owned',
      '2 of 2 steps well in 13.4 s, 3 messages, 3 runs, 1 dead letter',
    ]);
  });

  it('says which step failed and why, and what was not played', () => {
    assert.deepEqual(summaryLines({ results: [create, failed, left], seconds: 31 }, plain), [
      'STEP            SECONDS  MESSAGES  RUNS  REQUESTS  WHAT FOLLOWED',
      'create              0.9         2     2        28  Ready in east and west',
      'twenty writers     30.0         3     4        40  FAILED',
      'repair                -         -     -         -  not played',
      '1 of 3 steps well in 31.0 s, 5 messages, 6 runs, 0 dead letters',
      'twenty writers failed: waited 30 s for Tenant/harbor in east to be Ready',
    ]);
  });

  it('fits a narrow terminal', () => {
    const result: StoryResult = { results: [create, letter, failed, left], seconds: 13.4 };
    for (const width of [60, 40, 20]) {
      for (const line of summaryLines(result, { width, hasColor: true })) assert.ok(widthOf(line) <= width, `${width}: ${line}`);
    }
  });

  it('is well where all steps are', () => {
    assert.ok(isWell({ results: [create, letter], seconds: 1 }));
    assert.ok(!isWell({ results: [create, failed], seconds: 1 }));
    assert.ok(!isWell({ results: [create, left], seconds: 1 }));
  });
});

describe('counted', () => {
  it('has one of a thing, and several', () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => counted(count, 'run')),
      ['0 runs', '1 run', '2 runs'],
    );
  });
});
