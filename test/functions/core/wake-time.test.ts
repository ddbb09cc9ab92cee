import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decideWake, isStaleWakeUp, REQUEUE_MAX_SECONDS, storedTime, wakeTime, wholeSeconds } from '../../../functions/core/wake-time.ts';
import { after } from './example-data.ts';

const now = after(0);
const at = (seconds: number): number => after(seconds).getTime();

describe('wakeTime', () => {
  it('is in whole seconds, and never early', () => {
    assert.deepEqual(wakeTime(after(0.4), 30), after(31));
    assert.deepEqual(wakeTime(after(0), 30.2), after(31));
  });

  it('names a time for any wish', () => {
    for (const seconds of [Number.NaN, -1, 0, 0.5]) assert.deepEqual(wakeTime(now, seconds), after(1));
    assert.deepEqual(wakeTime(now, Number.POSITIVE_INFINITY), after(REQUEUE_MAX_SECONDS));
  });
});

describe('storedTime', () => {
  it('reads what was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: REQUEUE_MAX_SECONDS }), (seconds) => {
        assert.equal(storedTime(wholeSeconds(after(seconds))), at(seconds));
      }),
    );
  });

  for (const text of [
    undefined,
    7,
    '',
    'soon',
    '2026-03-01',
    '2026-03-01T12:00:00.5Z',
    '2026-03-01T13:00:00+01:00',
    '2026-02-31T00:00:00Z',
  ])
    it(`takes ${JSON.stringify(text)} for no time of ours`, () => assert.equal(storedTime(text), undefined));
});

describe('decideWake', () => {
  const rows: readonly [name: string, stored: number | undefined, seconds: number | undefined, at: number | undefined, isSent: boolean][] =
    [
      ['stores and sends the first time', undefined, 60, 60, true],
      ['keeps a time that is ahead', 40, 60, 40, false],
      ['keeps the very time that is wanted', 60, 60, 60, false],
      ['stores an earlier time than the stored one', 90, 60, 60, true],
      ['stores a time after one that has come', 0, 60, 60, true],
      ['stores a time after one that is over', -30, 60, 60, true],
      ['ends where nothing is wanted', 40, undefined, undefined, false],
    ];
  for (const [name, stored, seconds, wanted, isSent] of rows) {
    const question = { stored: stored === undefined ? undefined : at(stored), seconds, now };
    it(name, () => {
      const expected = wanted === undefined ? undefined : { at: after(wanted), isSent };
      assert.deepEqual(decideWake({ ...question, redelivered: false }), expected);
    });
    it(`${name}; redelivered, it sends whatever it stores`, () => {
      const expected = wanted === undefined ? undefined : { at: after(wanted), isSent: true };
      assert.deepEqual(decideWake({ ...question, redelivered: true }), expected);
    });
  }

  it('never puts off a time that is ahead, and never waits longer than wanted', () => {
    const ahead = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(ahead, ahead, fc.boolean(), (stored, seconds, redelivered) => {
        const wake = decideWake({ stored: at(stored), seconds, now, redelivered });
        assert.deepEqual(wake?.at, after(Math.min(stored, seconds)));
      }),
    );
  });
});

describe('isStaleWakeUp', () => {
  const rows: readonly [name: string, stored: number | undefined, cameFor: (number | undefined)[], isStale: boolean][] = [
    ['the time that is stored', 60, [60], false],
    ['another time', 60, [30], true],
    ['one of several that is stored', 60, [30, 60], false],
    ['several, none of them stored', 60, [30, 90], true],
    ['a time where none is stored', undefined, [60], true],
    ['no time, as a letter that was redriven', 60, [undefined], false],
  ];
  for (const [name, stored, cameFor, isStale] of rows)
    it(`is ${isStale} for ${name}`, () => assert.equal(isStaleWakeUp(stored, cameFor), isStale));
});
