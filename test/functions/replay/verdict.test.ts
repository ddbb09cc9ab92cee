import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LetterRecord } from '../../../functions/replay/letter-record.ts';
import type { ObjectState } from '../../../functions/replay/object-state.ts';
import { judgeLetters, type KindFacts, REASON_TEXTS, type Reading, verdictWithoutObject } from '../../../functions/replay/verdict.ts';
import { record } from './letters.ts';

/** Tenant `t` as it is now: generation 2, reconciled, ready since before the letter. */
function found(over: Partial<ObjectState> = {}): Reading {
  const state: ObjectState = {
    ...{ uid: 'uid-1', resourceVersion: '200', generation: 2, observedGeneration: 2, observedRevision: 1 },
    ...{ isSettled: true, isStalled: false, isDeleting: false, isHeld: false, isPaused: false, isSelected: true },
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-03-01T11:00:00Z' }],
    ...over,
  };
  return { kind: 'found', state };
}
const ready = (lastTransitionTime: string): Partial<ObjectState> => ({
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
});
const PLAIN: KindFacts = { hasFinalize: false, isDescribed: false };
const FINALIZE: KindFacts = { hasFinalize: true, isDescribed: false };
const ABSENT: Reading = { kind: 'absent' };

describe('judgeLetters', () => {
  const rows: readonly [name: string, letters: readonly Partial<LetterRecord>[], reading: Reading, kind: KindFacts, verdict: string][] = [
    ['an object that was never reconciled', [{}], found({ isSettled: false }), PLAIN, 'to-replay not-settled'],
    ['an object that is settled', [{}], found(), PLAIN, 'converged settled'],
    ['a letter without uid', [{ uid: undefined }], found(), PLAIN, 'converged settled'],
    [
      'a letter without uid of an object that is not settled',
      [{ uid: undefined }],
      found({ isSettled: false }),
      PLAIN,
      'to-replay not-settled',
    ],
    ['a settled object that was given up for this generation', [{}], found({ isStalled: true }), PLAIN, 'to-replay stalled'],
    ['a message that must run, of an object settled before', [{ mustRun: true }], found(), PLAIN, 'to-replay must-run'],
    [
      'one that must run, of an object ready in the second it died',
      [{ mustRun: true }],
      found(ready('2026-03-01T12:00:59Z')),
      PLAIN,
      'to-replay must-run',
    ],
    ['one that must run, of an object ready since', [{ mustRun: true }], found(ready('2026-03-01T12:05:00Z')), PLAIN, 'converged settled'],
    [
      'one that must run, of an object settled for a later generation',
      [{ mustRun: true }],
      found({ generation: 3 }),
      PLAIN,
      'converged settled',
    ],
    [
      'one that must run and was moved by SQS',
      [{ mustRun: true, deadLetteredMs: undefined }],
      found(ready('2026-03-01T12:05:00Z')),
      PLAIN,
      'to-replay must-run',
    ],
    ['two letters, one of which must run', [{}, { mustRun: true }], found(), PLAIN, 'to-replay must-run'],
    ['an object that is not there', [{}], ABSENT, PLAIN, 'gone gone'],
    ['another object of the name', [{ uid: 'uid-0' }], found({ isSettled: false }), PLAIN, 'superseded other-uid'],
    ['a deletion of an object that is gone, whose kind has nothing outside', [{ reason: 'deleted' }], ABSENT, PLAIN, 'gone gone'],
    ['a deletion of an object that is gone, which left something outside', [{ reason: 'deleted' }], ABSENT, FINALIZE, 'to-replay finalize'],
    ['a change of an object that was finalized and is gone', [{}], ABSENT, FINALIZE, 'gone gone'],
    [
      'a deletion of a predecessor, which left something outside',
      [{ reason: 'deleted', uid: 'uid-0' }],
      found(),
      FINALIZE,
      'to-replay finalize',
    ],
    ['an object that waits for its finalizer', [{}], found({ isDeleting: true, isHeld: true }), FINALIZE, 'to-replay deleting'],
    [
      'an object that waits for finalizers of others',
      [{}],
      found({ isDeleting: true, isSettled: false }),
      FINALIZE,
      'converged being-deleted',
    ],
    ['a paused object', [{}], found({ isPaused: true, isSettled: false }), PLAIN, 'to-replay paused'],
    ['a paused object that is settled', [{}], found({ isPaused: true }), PLAIN, 'converged settled'],
    ['an object that left the selection', [{}], found({ isSelected: false, isSettled: false }), PLAIN, 'to-replay not-selected'],
    ['an object of a kind that is not ours', [{}], found(), { hasFinalize: false, isDescribed: true }, 'to-replay no-status'],
    ['a cluster that does not answer', [{}], { kind: 'untold', code: 'unreachable' }, PLAIN, 'unknown unreachable'],
    [
      'a deletion in a cluster that does not answer',
      [{ reason: 'deleted' }],
      { kind: 'untold', code: 'timeout' },
      FINALIZE,
      'unknown timeout',
    ],
  ];
  for (const [name, letters, reading, kind, verdict] of rows) {
    it(`judges ${name}: ${verdict}`, () => {
      const { class: found, reason } = judgeLetters(letters.map(record), reading, kind);
      assert.equal(`${found} ${reason}`, verdict);
      assert.ok(REASON_TEXTS[reason], 'a reason that no person would understand');
    });
  }
});

describe('verdictWithoutObject', () => {
  const rows = [
    ['heartbeat', 'heartbeat', 'converged heartbeat'],
    ['foreign', 'bad-envelope', 'unreadable foreign'],
    ['other-release', 'newer-type', 'unreadable newer-type'],
    ['other-release', 'older-type', 'unreadable older-type'],
  ] as const;
  for (const [kind, code, wanted] of rows) {
    it(`judges ${code}: ${wanted}`, () => {
      const verdict = verdictWithoutObject({ kind, code });
      assert.equal(`${verdict?.class} ${verdict?.reason}`, wanted);
      assert.ok(REASON_TEXTS[verdict?.reason ?? '']);
    });
  }

  it('leaves letters of objects to their objects', () => {
    assert.equal(verdictWithoutObject({ kind: 'diagnosed', code: 'invalid' }), undefined);
    assert.equal(verdictWithoutObject({ kind: 'undiagnosed', code: 'undiagnosed' }), undefined);
  });
});

describe('REASON_TEXTS', () => {
  // Of readTarget, of functions/adapters/kubernetes/port.ts, and of an entry of the registry.
  const unread = ['other-scope', 'unknown-kind', 'unknown-cluster', 'given-up', 'forbidden', 'not-served', 'bad-request'];
  const unanswered = ['unreachable', 'timeout', 'unauthorized', 'throttled', 'server-error', 'bad-response', 'response-too-large'];
  const entries = ['entry-invalid', 'file-unreadable', 'kubeconfig-invalid', 'kubeconfig-unparsable', 'kubeconfig-empty', 'not-in-cluster'];
  for (const code of [...unread, ...unanswered, ...entries]) {
    it(`says what ${code} is, of an object that could not be read`, () => assert.ok(REASON_TEXTS[code]));
  }
});
