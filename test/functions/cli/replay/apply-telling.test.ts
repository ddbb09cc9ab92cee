import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tellApply } from '../../../../functions/cli/replay/apply-telling.ts';
import { Progress } from '../../../../functions/cli/replay/progress.ts';
import type { ApplyEvent } from '../../../../functions/replay/apply/contract.ts';
import { FakeClock } from '../../../fakes/clock.ts';

const OBJECT = {
  cluster: 'east',
  group: 'platform.example',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  name: 't',
  namespace: 'team',
};

function told(events: readonly ApplyEvent[], columns?: number): string[] {
  const written: string[] = [];
  const progress = new Progress(new FakeClock(), { columns, write: (text) => void written.push(text) });
  const tell = tellApply(progress, { canary: 5, stopAt: 0.125 });
  for (const event of events) tell(event);
  return written;
}

describe('tellApply', () => {
  const rows: readonly [event: ApplyEvent, line: string | undefined][] = [
    [{ kind: 'looked', received: 1, ofPlan: 1, planned: 2 }, '1 letter received: 1 of the 2 of the plan'],
    [
      { kind: 'resumed', sentBefore: 2, open: 1, hidden: 0, hiddenSeconds: 0 },
      'an apply before this one replaced 2 letters; 1 object of it has no verdict yet',
    ],
    [
      { kind: 'resumed', sentBefore: 0, open: 0, hidden: 1, hiddenSeconds: 60 },
      '1 letter may be hidden still by an apply that was killed: waited for, at most 60 s',
    ],
    [{ kind: 'canary-over' }, 'the canary is over: the others follow'],
    [{ kind: 'verdict', object: OBJECT, verdict: 'bad', reason: 'timeout' }, 'bad: east: Tenant team/t: not reconciled in time'],
    [
      { kind: 'verdict', object: OBJECT, verdict: 'unjudged', reason: 'unreachable' },
      'unjudged: east: Tenant team/t: its cluster cannot be reached',
    ],
    [{ kind: 'verdict', object: OBJECT, verdict: 'good', reason: 'settled' }, undefined],
    [{ kind: 'verdict', object: OBJECT, verdict: 'quiet', reason: 'nothing-shows' }, undefined],
    [
      { kind: 'left', object: OBJECT, letters: 1, reason: 'changed-since-plan' },
      'left: east: Tenant team/t: needed nothing when the plan was made, and does now; make a new one',
    ],
    [{ kind: 'left', object: OBJECT, letters: 1, reason: 'undecided' }, undefined],
    [{ kind: 'left', letters: 1, reason: 'unreadable' }, undefined],
    [{ kind: 'stopping', end: 'too-many-bad' }, 'stopping: over 12.5% of the objects failed again; nothing more is sent'],
    [{ kind: 'stopping', end: 'failed' }, 'stopping: nothing more is sent'],
    [{ kind: 'stopping', end: 'signal' }, undefined],
    [{ kind: 'sent', object: OBJECT, letters: 3 }, undefined],
    [{ kind: 'acknowledged', letters: 3, reason: 'gone' }, undefined],
  ];
  for (const [event, line] of rows) {
    const what = `${event.kind} ${'verdict' in event ? event.verdict : 'reason' in event ? event.reason : 'end' in event ? event.end : ''}`;
    it(`${line === undefined ? 'is silent about' : 'tells'} ${what.trim()}`, () => {
      assert.deepEqual(told([event]), line === undefined ? [] : [`${line}\n`]);
    });
  }

  it('names twenty objects that failed, and says where the others are', () => {
    const bad: ApplyEvent = { kind: 'verdict', object: OBJECT, verdict: 'bad', reason: 'failing' };
    const lines = told(Array.from({ length: 50 }, () => bad));
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), 'further ones that are bad are in the audit\n');
  });

  it('shows on a terminal how far it is, and that only the canary is under way', () => {
    const progress = { objects: 40, decided: 5, sent: 5, underWay: 3, good: 2, bad: 0 };
    assert.deepEqual(told([{ kind: 'progress', progress }], 100), [
      '\r\u001b[K[###.....................] 5 of 40 objects: 5 sent, 3 under way, 2 good, 0 bad (canary)',
    ]);
  });
});
