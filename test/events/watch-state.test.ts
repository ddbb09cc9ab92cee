import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phaseOf } from '../../events/watch-phase.ts';
import type { WatchInput, WatchState } from '../../events/watch-protocol.ts';
import { startWatch } from '../../events/watch-state.ts';
import {
  calm,
  check,
  described,
  describing,
  ended,
  failed,
  failure,
  frame,
  handled,
  listing,
  NOW,
  opened,
  opening,
  pageCame,
  probed,
  probeFailed,
  probing,
  step,
  stop,
  streaming,
  text,
  timer,
  waiting,
} from './watch-steps.ts';

describe('a list', () => {
  it('begins by asking how the kind is served', () => {
    const { state, effects } = startWatch(NOW);
    assert.deepEqual([state.kind, effects.map(text)], ['describing', ['describe']]);
  });
  check([
    {
      it: 'is asked for from the beginning once that is known',
      from: describing(),
      input: described,
      to: 'listing',
      effects: ['begin-list', 'list'],
    },
    { it: 'goes on with the token of a page', from: listing('110'), input: handled('t1'), to: 'listing', effects: ['list t1'] },
    {
      it: 'is committed after its last page, and the watch begins at the version of its first',
      from: listing('110'),
      input: handled(),
      to: 'opening',
      effects: ['commit-list 110', 'watch 110 for 225'],
    },
    {
      it: 'is abandoned when a page fails',
      from: listing('110'),
      input: failed('unreachable'),
      to: 'waiting',
      effects: ['abandon-list', 'timer 500'],
    },
    {
      it: 'is abandoned and begun anew at once when its token has expired',
      from: listing('110'),
      input: failed('expired'),
      to: 'describing',
      effects: ['abandon-list', 'describe'],
    },
    {
      it: 'waits before it begins anew a second time for an expired token',
      from: listing('110', { expiredCount: 1 }),
      input: failed('expired'),
      to: 'waiting',
      effects: ['abandon-list', 'timer 500'],
    },
    {
      it: 'is tried again when the question how the kind is served fails',
      from: describing(),
      input: failed('timeout'),
      to: 'waiting',
      effects: ['timer 500'],
    },
    {
      it: 'forgets positions before its rows are read when it is older than what was reached',
      from: listing(undefined, { reached: '1200' }),
      input: pageCame('1003'),
      to: 'listing',
      effects: ['forget-positions'],
    },
    {
      it: 'forgets nothing when it is as new as what was reached',
      from: listing(undefined, { reached: '1200' }),
      input: pageCame('1200'),
      to: 'listing',
      effects: [],
    },
    {
      it: 'is begun when the wait before it is over',
      from: waiting({ kind: 'list' }),
      input: timer,
      to: 'describing',
      effects: ['describe'],
    },
  ]);

  it('keeps the version of its first page when a later one differs', () => {
    const { state } = step(listing('110'), pageCame('115'));
    assert.deepEqual(step(state, handled()).effects.map(text), ['commit-list 110', 'watch 110 for 225']);
  });
  it('lets the reached position fall with the cluster', () => {
    const came = step(listing(undefined, { reached: '1200' }), pageCame('1003'));
    assert.equal(step(came.state, handled()).state.memory.reached, '1003');
  });
});

describe('the end of a stream', () => {
  check([
    {
      it: 'reconnects at once from the same position after a second of life, although nothing came',
      from: streaming(1_000, false),
      input: ended,
      to: 'opening',
      effects: ['cancel', 'resume 100 for 225'],
    },
    {
      it: 'reconnects at once after a short life that brought something',
      from: streaming(10, true),
      input: ended,
      to: 'opening',
      effects: ['cancel', 'resume 100 for 225'],
    },
    {
      it: 'waits before the second short life in a row, although each brings something',
      from: streaming(10, true, { shortCount: 1 }),
      input: ended,
      to: 'waiting',
      effects: ['cancel', 'timer 500'],
    },
    {
      it: 'waits, then resumes, after a short and empty life',
      from: streaming(10, false),
      input: ended,
      to: 'waiting',
      effects: ['cancel', 'timer 500'],
    },
    {
      it: 'resumes without a probe after that wait',
      from: waiting({ kind: 'resume', position: '100' }),
      input: timer,
      to: 'opening',
      effects: ['resume 100 for 225'],
    },
  ]);

  it('leads to a list after the fifth short and empty life in a row', () => {
    const next = (emptyCount: number): unknown => {
      const { state } = step(streaming(10, false, { emptyCount, shortCount: emptyCount }), ended);
      return state.kind === 'waiting' ? state.next : state.kind;
    };
    assert.deepEqual([next(3), next(4)], [{ kind: 'resume', position: '100' }, { kind: 'list' }]);
  });
  it('counts short and empty lives anew after a frame', () => {
    const { state } = step(streaming(10, false, { emptyCount: 4 }), frame('101'));
    assert.equal(state.memory.emptyCount, 0);
  });
  it('asks for a random length from half of the longest to all of it', () => {
    const length = (random: number): string[] => step(streaming(1_000, false), ended, { random }).effects.map(text);
    assert.deepEqual(length(0), ['cancel', 'resume 100 for 150']);
    assert.deepEqual(length(0.999999), ['cancel', 'resume 100 for 300']);
  });
});

describe('an expired position', () => {
  check([
    {
      it: 'leads to a list at once when a watch is refused',
      from: opening(),
      input: failed('expired'),
      to: 'describing',
      effects: ['describe'],
    },
    {
      it: 'leads to a list at once when an open stream says so, and closes that stream',
      from: streaming(10, false),
      input: failed('expired'),
      to: 'describing',
      effects: ['cancel', 'describe'],
    },
    {
      it: 'leads to a list after a wait when it comes again at once',
      from: opening({ expiredCount: 1 }),
      input: failed('expired'),
      to: 'waiting',
      effects: ['timer 500'],
    },
    {
      it: 'is the first again when all was well for 5 s, whatever the backoff of an outage before',
      from: streaming(5_000, false, { expiredCount: 3, backoffMs: 9_000 }),
      input: failed('expired'),
      to: 'describing',
      effects: ['cancel', 'describe'],
    },
    {
      it: 'is not the first again before that',
      from: streaming(4_999, false, { expiredCount: 3, backoffMs: 9_000 }),
      input: failed('expired'),
      to: 'waiting',
      effects: ['cancel', 'timer 500'],
    },
    {
      it: 'waits up to three times its own wait before',
      from: opening({ expiredCount: 2, expiredBackoffMs: 2_000, backoffMs: 20_000 }),
      input: failed('expired'),
      to: 'waiting',
      effects: ['timer 3125'],
    },
  ]);
  it('is no trouble', () => {
    assert.equal(step(opening(), failed('expired')).state.memory.trouble, undefined);
  });
});

describe('an input that its state does not wait for', () => {
  const states: WatchState[] = [
    describing(),
    listing(undefined),
    listing('110'),
    opening(),
    streaming(10, false),
    waiting({ kind: 'list' }),
    probing(),
    { kind: 'stopped', memory: calm },
  ];
  const inputs: WatchInput[] = [
    described,
    pageCame('110'),
    handled(),
    opened,
    frame('101'),
    ended,
    failed('unreachable'),
    probed('100'),
    probeFailed('timeout'),
    timer,
  ];
  const expected = new Set([
    'describing described',
    'describing failed',
    'listing page-came',
    'listing page-handled',
    'listing failed',
    'opening opened',
    'opening failed',
    'streaming frame',
    'streaming ended',
    'streaming failed',
    'streaming timer',
    'waiting timer',
    'probing probed',
    'probing probe-failed',
  ]);
  for (const state of states) {
    for (const input of inputs) {
      if (expected.has(`${state.kind} ${input.kind}`)) continue;
      it(`${state.kind} ignores ${input.kind}`, () => {
        assert.deepEqual(step(state, input), { state, effects: [] });
      });
    }
  }
  it('commits no list of which no page came', () => {
    assert.deepEqual(step(listing(undefined), handled()), { state: listing(undefined), effects: [] });
  });
});

describe('stop', () => {
  for (const state of [describing(), opening(), streaming(10, true), waiting({ kind: 'list' }), probing()]) {
    it(`ends whatever is under way while ${state.kind}`, () => {
      const { state: next, effects } = step(state, stop);
      assert.deepEqual([next.kind, effects.map(text)], ['stopped', ['cancel']]);
    });
  }
  it('abandons a half-read list', () => {
    assert.deepEqual(step(listing('110'), stop).effects.map(text), ['cancel', 'abandon-list']);
  });
  it('does nothing a second time', () => {
    assert.deepEqual(step({ kind: 'stopped', memory: calm }, stop).effects, []);
  });
});

describe('phaseOf', () => {
  const trouble = failure('unreachable');
  const rows: readonly (readonly [string, WatchState, ReturnType<typeof phaseOf>])[] = [
    ['a first list', describing({ reached: undefined }), 'listing'],
    ['an open stream', streaming(10, false), 'streaming'],
    ['a watch after a list', opening({ wellSinceMs: undefined }, false), 'listing'],
    ['a watch after another', opening(), 'streaming'],
    ['a watch after others that ended early', opening({ wellSinceMs: undefined }), 'recovering'],
    ['a watch after a failure', opening({ trouble, failureCount: 1 }), 'recovering'],
    ['the first failure after a stream', waiting({ kind: 'probe', position: '1' }, { trouble, failureCount: 1 }), 'recovering'],
    ['the second failure in a row', waiting({ kind: 'probe', position: '1' }, { trouble, failureCount: 2 }), 'failing'],
    [
      'the first failure when nothing was ever read',
      waiting({ kind: 'list' }, { trouble, failureCount: 1, reached: undefined }),
      'failing',
    ],
    ['a kind that is not served', waiting({ kind: 'list' }, { trouble: failure('not-served'), failureCount: 1 }), 'failing'],
    ['another try to list while failing', describing({ trouble, failureCount: 2 }), 'failing'],
    ['a list of which a page came after failures', listing('110', { trouble, failureCount: 2 }), 'listing'],
    ['a list after an expired position', describing(), 'listing'],
    ['a stopped watch', { kind: 'stopped', memory: calm }, 'stopped'],
  ];
  for (const [name, state, phase] of rows) it(`${name} is ${phase}`, () => assert.equal(phaseOf(state), phase));
});
