/** The pure parts of apply: what is done with a letter, how fast, and what counts as a failure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SendVerdict } from '../../../../functions/replay/apply/contract.ts';
import { decide, LEFT_TEXTS } from '../../../../functions/replay/apply/decide.ts';
import { judgeSend, QUIET_SECONDS, type Sight, sightOf } from '../../../../functions/replay/apply/judge.ts';
import {
  afterSend,
  afterVerdict,
  fillBucket,
  hasTooManyBad,
  roomOf,
  startPace,
  waitForToken,
} from '../../../../functions/replay/apply/pace.ts';
import type { ObjectState } from '../../../../functions/replay/object-state.ts';
import { REPLAY_CLASSES, type ReplayClass } from '../../../../functions/replay/verdict.ts';

describe('decide', () => {
  const rows: readonly [planned: ReplayClass, fresh: ReplayClass, reason: string, wanted: string][] = [
    ['to-replay', 'to-replay', 'not-settled', 'send not-settled'],
    ['to-replay', 'to-replay', 'finalize', 'send finalize'],
    ['to-replay', 'to-replay', 'paused', 'leave paused'],
    ['to-replay', 'to-replay', 'not-selected', 'leave not-selected'],
    ['to-replay', 'converged', 'settled', 'acknowledge settled'],
    ['to-replay', 'gone', 'gone', 'acknowledge gone'],
    ['to-replay', 'superseded', 'other-uid', 'acknowledge other-uid'],
    ['to-replay', 'unknown', 'forbidden', 'leave forbidden'],
    ['converged', 'converged', 'settled', 'acknowledge settled'],
    ['converged', 'gone', 'gone', 'acknowledge gone'],
    ['converged', 'to-replay', 'not-settled', 'leave changed-since-plan'],
    ['converged', 'to-replay', 'paused', 'leave changed-since-plan'],
    ['gone', 'to-replay', 'not-settled', 'leave changed-since-plan'],
    ['gone', 'superseded', 'other-uid', 'acknowledge other-uid'],
    ['superseded', 'to-replay', 'finalize', 'leave changed-since-plan'],
    ['superseded', 'unknown', 'timeout', 'leave timeout'],
    ['unknown', 'converged', 'settled', 'leave undecided'],
    ['unknown', 'to-replay', 'not-settled', 'leave undecided'],
    ['unreadable', 'converged', 'heartbeat', 'leave unreadable'],
  ];
  for (const [planned, fresh, reason, wanted] of rows) {
    it(`${wanted}, where ${planned} was planned and it is ${fresh} (${reason})`, () => {
      const decision = decide({ class: planned }, { class: fresh, reason }, { replays: 0, again: false });
      assert.equal(`${decision.kind} ${decision.reason}`, wanted);
      if (decision.kind === 'leave') assert.ok(Object.hasOwn(LEFT_TEXTS, decision.reason));
    });
  }

  it('sends what was replayed twice only when told to, and acknowledges it all the same', () => {
    const [plan, replay] = [{ class: 'to-replay' }, { class: 'to-replay', reason: 'not-settled' }] as const;
    assert.equal(decide(plan, replay, { replays: 1, again: false }).kind, 'send');
    assert.deepEqual(decide(plan, replay, { replays: 2, again: false }), { kind: 'leave', reason: 'replayed-twice' });
    assert.equal(decide(plan, replay, { replays: 7, again: true }).kind, 'send');
    assert.equal(decide(plan, { class: 'converged', reason: 'settled' }, { replays: 2, again: false }).kind, 'acknowledge');
  });

  it('never sends what the plan does not', () => {
    const any = fc.constantFrom(...REPLAY_CLASSES);
    fc.assert(
      fc.property(any, any, fc.nat(5), fc.boolean(), (planned, fresh, replays, again) => {
        const { kind } = decide({ class: planned }, { class: fresh, reason: 'x' }, { replays, again });
        if (kind === 'send') assert.deepEqual([planned, fresh], ['to-replay', 'to-replay']);
        if (kind === 'acknowledge') assert.ok(fresh !== 'to-replay' && fresh !== 'unknown' && fresh !== 'unreadable');
      }),
    );
  });
});

describe('pace', () => {
  const settings = { canary: 3, stopAt: 0.2 };

  it('keeps to the canary, then to a window that grows with the good ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.nat(4),
        fc.array(fc.constantFrom('send', 'good', 'quiet', 'bad', 'unjudged')),
        (canary, open, steps) => {
          let pace = startPace(open);
          let underWay = open;
          let good = 0;
          let judged = 0;
          for (const step of steps) {
            if (step === 'send') {
              if (roomOf(pace, { canary }) === 0) continue;
              pace = afterSend(pace);
              underWay += 1;
              assert.ok(underWay <= Math.max(canary, open) + good);
              // No more than the canary before each of it has a verdict.
              if (judged < canary) assert.ok(underWay + judged <= Math.max(canary, open));
            } else if (underWay > 0) {
              pace = afterVerdict(pace, step as SendVerdict, { canary });
              underWay -= 1;
              judged += 1;
              if (step === 'good' || step === 'quiet') good += 1;
            }
          }
          // It never comes to a standstill.
          if (underWay === 0) assert.ok(roomOf(pace, { canary }) > 0);
        },
      ),
    );
  });

  it('judges after the canary, and from then on after each verdict', () => {
    const judged = (...verdicts: SendVerdict[]): boolean[] => {
      let pace = startPace();
      for (const _ of verdicts) pace = afterSend(pace);
      return verdicts.map((verdict) => {
        pace = afterVerdict(pace, verdict, settings);
        return hasTooManyBad(pace, settings);
      });
    };
    assert.deepEqual(judged('bad', 'bad', 'good'), [false, false, true]);
    assert.deepEqual(judged('bad', 'good', 'good', 'good', 'good'), [false, false, false, false, false]);
    assert.deepEqual(judged('unjudged', 'unjudged', 'unjudged'), [false, false, false]);
    assert.deepEqual(judged('bad', 'unjudged', 'quiet'), [false, false, true]);
  });

  it('never lets more through in a second than the rate, nor less in the long run', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0.5, 1, 2, 5),
        fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 60 }),
        (rate, waits) => {
          let nowMs = 0;
          let bucket = fillBucket(undefined, rate, nowMs);
          const sends: number[] = [];
          for (const waitMs of waits) {
            nowMs += Math.max(waitMs, waitForToken(fillBucket(bucket, rate, nowMs), rate));
            bucket = fillBucket(bucket, rate, nowMs);
            assert.equal(waitForToken(bucket, rate), 0);
            bucket = { ...bucket, tokens: bucket.tokens - 1 };
            sends.push(nowMs);
          }
          for (const from of sends) assert.ok(sends.filter((at) => at >= from && at < from + 1000).length <= Math.max(1, rate));
        },
      ),
    );
  });
});

describe('judgeSend', () => {
  type Found = Extract<Sight, { kind: 'found' }>;
  const sight = (over: Partial<Found> = {}): Found => ({
    ...{ kind: 'found', uid: 'u', isSettled: false, isStalled: false, isDeleting: false, isHeld: false, isIdle: false, isFailing: false },
    ...{ statusDigest: 'a', statusAt: '2026-03-01T12:00:00Z' },
    ...over,
  });
  const failing = sight({ isFailing: true, isStalled: true });
  const settled = sight({ isSettled: true });
  const held = sight({ isDeleting: true, isHeld: true });
  const unready = (unreadyFor: string): Found => sight({ isSettled: true, unreadyFor, statusDigest: unreadyFor });
  const givenUp = sight({ isSettled: true, isStalled: true, unreadyFor: 'QuotaExceeded', statusDigest: 'given up' });
  const absent: Sight = { kind: 'absent' };
  const facts = { uid: 'u', isDescribed: false, ageSeconds: 1, timeoutSeconds: 300 };
  const later = { ...facts, ageSeconds: QUIET_SECONDS };
  const late = { ...facts, ageSeconds: 300 };

  const rows: readonly [name: string, before: Sight, now: Sight, facts: Parameters<typeof judgeSend>[2], wanted: string | undefined][] = [
    ['it is reconciled', failing, settled, facts, 'good settled'],
    ['nothing has changed', failing, failing, facts, undefined],
    ['nothing has changed for long', failing, failing, late, 'bad timeout'],
    ['a failure was written', failing, sight({ isFailing: true, statusDigest: 'b' }), facts, 'bad failing'],
    ['a failure was written in the same second', failing, { ...failing, statusDigest: 'b' }, facts, 'bad failing'],
    ['the same failure was written at another time', failing, { ...failing, statusAt: '2026-03-01T12:00:01Z' }, facts, 'bad failing'],
    ['it is gone', failing, absent, facts, 'good gone'],
    ['another has its name', failing, sight({ uid: 'v' }), facts, 'good replaced'],
    [
      'it is reconciled, and its author calls that not ready',
      sight(),
      sight({ isSettled: true, isFailing: true, statusDigest: 'b' }),
      facts,
      'good settled',
    ],
    ['it was reconciled before and fails now', settled, { ...settled, isFailing: true, statusDigest: 'b' }, facts, 'bad failing'],
    ['it was reconciled before, and its author has a word for why it is not ready', settled, unready('Waiting'), facts, undefined],
    ['it was so for a while', settled, unready('Waiting'), later, 'quiet not-ready'],
    ['it was not ready before, and is not for another reason', unready('Waiting'), unready('Slow'), later, 'quiet not-ready'],
    ['it was given up, and its author now has another word', givenUp, unready('Waiting'), later, 'quiet not-ready'],
    ['it was given up for what it shows again', givenUp, unready('QuotaExceeded'), facts, 'bad failing'],
    ['it was reconciled before and is written again', settled, { ...settled, statusAt: '2026-03-01T12:00:09Z' }, facts, 'good settled'],
    ['it was reconciled before and nothing is seen', settled, settled, facts, undefined],
    ['it was reconciled before and nothing is seen for a while', settled, settled, later, 'quiet nothing-shows'],
    ['it was given up though reconciled, and is not any more', { ...settled, isStalled: true }, settled, facts, 'good settled'],
    [
      'it was given up though reconciled, and still is',
      { ...settled, isStalled: true },
      { ...settled, isStalled: true },
      late,
      'bad timeout',
    ],
    ['it is being deleted and held', held, held, later, undefined],
    ['it is being deleted and held for long', held, held, late, 'bad timeout'],
    ['our finalizer came off', held, sight({ isDeleting: true }), facts, 'good released'],
    ['its finalization fails', held, { ...held, isFailing: true, statusDigest: 'b' }, facts, 'bad failing'],
    ['it was absent', absent, absent, facts, undefined],
    ['it was absent for a while', absent, absent, later, 'quiet nothing-shows'],
    [
      'the message is of its predecessor',
      sight({ uid: 'v' }),
      sight({ uid: 'v', isFailing: true, statusDigest: 'b' }),
      later,
      'quiet nothing-shows',
    ],
    ['it is paused meanwhile', failing, { ...failing, isIdle: true }, later, 'quiet idle'],
    ['its kind is not ours', failing, { ...failing, statusDigest: 'b' }, { ...later, isDescribed: true }, 'quiet nothing-shows'],
    ['its kind is not ours, and it is held', held, held, { ...later, isDescribed: true }, undefined],
    ['the time-out is shorter than quiet', settled, settled, { ...facts, ageSeconds: 5, timeoutSeconds: 5 }, 'quiet nothing-shows'],
  ];
  for (const [name, before, now, given, wanted] of rows) {
    it(`says ${wanted ?? 'nothing yet'} where ${name}`, () => {
      const judgement = judgeSend(before, now, given);
      assert.equal(judgement && `${judgement.verdict} ${judgement.reason}`, wanted);
    });
  }

  it('comes to a verdict by the time-out, whatever is there', () => {
    const flags = fc.record({
      isSettled: fc.boolean(),
      isStalled: fc.boolean(),
      isDeleting: fc.boolean(),
      isHeld: fc.boolean(),
      isIdle: fc.boolean(),
    });
    const any = fc.oneof(
      fc.constant(absent),
      fc
        .tuple(flags, fc.boolean(), fc.constantFrom('u', 'v'), fc.constantFrom('a', 'b'))
        .map(([more, isFailing, uid, statusDigest]) => sight({ ...more, isFailing, uid, statusDigest })),
    );
    fc.assert(
      fc.property(any, any, fc.boolean(), (before, now, isDescribed) => {
        assert.notEqual(judgeSend(before, now, { ...late, isDescribed }), undefined);
      }),
    );
  });
});

describe('sightOf', () => {
  const unready = (reason: string, observedGeneration: number): Partial<Sight> => {
    const conditions = [{ type: 'Ready', status: 'False', reason, observedGeneration: 2 }];
    const state = {
      uid: 'u',
      generation: 2,
      observedGeneration,
      isSettled: observedGeneration === 2,
      conditions,
    } as unknown as ObjectState;
    return sightOf({ kind: 'found', state }, undefined);
  };
  const rows: readonly [name: string, reason: string, observed: number, wanted: { isFailing: boolean; unreadyFor: string | undefined }][] =
    [
      ['a failure of ours', 'ChildNotOwned', 1, { isFailing: true, unreadyFor: undefined }],
      ['one after the generation was reconciled', 'ChildNotOwned', 2, { isFailing: true, unreadyFor: undefined }],
      ['a failure of the author', 'QuotaExceeded', 1, { isFailing: true, unreadyFor: undefined }],
      [
        'what its author says, or failed with, once it was reconciled',
        'QuotaExceeded',
        2,
        { isFailing: false, unreadyFor: 'QuotaExceeded' },
      ],
    ];
  for (const [name, reason, observed, wanted] of rows) {
    it(`tells Ready=False apart: ${name}`, () => {
      const { isFailing, unreadyFor } = unready(reason, observed) as Extract<Sight, { kind: 'found' }>;
      assert.deepEqual({ isFailing, unreadyFor }, wanted);
    });
  }
});
