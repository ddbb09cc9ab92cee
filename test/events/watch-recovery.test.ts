import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { WatchEffect, WatchInput, WatchState } from '../../events/watch-protocol.ts';
import { startWatch } from '../../events/watch-state.ts';
import {
  check,
  described,
  ended,
  failed,
  frame,
  handled,
  NOW,
  opened,
  opening,
  pageCame,
  probed,
  probedBeside,
  probeFailed,
  probing,
  step,
  stop,
  streaming,
  timer,
  waiting,
} from './watch-steps.ts';

describe('a failure of a watch', () => {
  const voids = ['not-served', 'bad-frame', 'unhandled', 'columns-changed', 'bad-request', 'invalid', 'final-server-error'];
  const keeps = ['unreachable', 'timeout', 'throttled', 'server-error', 'unauthorized', 'forbidden', 'unclassified'];
  for (const code of [...voids, ...keeps]) {
    it(`${code}: waits, then ${voids.includes(code) ? 'lists' : 'probes'}`, () => {
      const { state, effects } = step(streaming(10, true), failed(code));
      assert.equal(effects[0]?.kind, 'cancel');
      assert.ok(state.kind === 'waiting');
      assert.deepEqual(state.next, voids.includes(code) ? { kind: 'list' } : { kind: 'probe', position: '100' });
    });
  }
  check([
    {
      it: 'waits when the watch was refused before it opened',
      from: opening(),
      input: failed('server-error'),
      to: 'waiting',
      effects: ['timer 500'],
    },
    {
      it: 'waits no shorter than the server asked, and not exactly so',
      from: opening(),
      input: failed('throttled', 7),
      to: 'waiting',
      effects: ['timer 7125'],
    },
    {
      it: 'waits at most five minutes for a Retry-After of a day',
      from: opening(),
      input: failed('throttled', 86_400),
      to: 'waiting',
      effects: ['timer 300125'],
    },
    {
      it: 'waits at least a second where a person has to act',
      from: opening(),
      input: failed('unauthorized'),
      to: 'waiting',
      effects: ['timer 1125'],
    },
    {
      it: 'waits up to three times the wait before',
      from: opening({ backoffMs: 2_000 }),
      input: failed('unreachable'),
      to: 'waiting',
      effects: ['timer 3125'],
    },
    {
      it: 'waits 30 s at most',
      from: opening({ backoffMs: 30_000 }),
      input: failed('unreachable'),
      context: { random: 0.99 },
      to: 'waiting',
      effects: ['timer 30000'],
    },
    {
      it: 'begins with a short wait after a stream that lived 30 s',
      from: streaming(30_000, true, { backoffMs: 20_000 }),
      input: failed('unreachable'),
      to: 'waiting',
      effects: ['cancel', 'timer 500'],
    },
    {
      it: 'goes on with long waits after a stream that lived less',
      from: streaming(29_999, true, { backoffMs: 2_000 }),
      input: failed('unreachable'),
      to: 'waiting',
      effects: ['cancel', 'timer 3125'],
    },
  ]);
  it('is forgotten when short streams have followed one another for 30 s without trouble', () => {
    let state: WatchState = opening({ backoffMs: 20_000, failureCount: 4, wellSinceMs: undefined });
    for (let nowMs = NOW; nowMs < NOW + 31_000; nowMs += 3_000) {
      state = step(state, opened, { nowMs }).state;
      state = step(state, ended, { nowMs: nowMs + 3_000 }).state;
    }
    assert.deepEqual([state.memory.backoffMs, state.memory.failureCount], [0, 0]);
  });
});

describe('the probe', () => {
  check([
    {
      it: 'goes out before a watch is resumed after a failure',
      from: waiting({ kind: 'probe', position: '100' }),
      input: timer,
      to: 'probing',
      effects: ['probe 100'],
    },
    {
      it: 'lets the watch resume when the list is as new as the position',
      from: probing(),
      input: probed('100'),
      to: 'opening',
      effects: ['resume 100 for 225'],
    },
    {
      it: 'forgets the position and lists when the list is older',
      from: probing(),
      input: probed('99'),
      to: 'describing',
      effects: ['forget-positions', 'describe'],
    },
    {
      it: 'compares versions by size and not as text',
      from: probing(),
      input: probed('1000'),
      to: 'opening',
      effects: ['resume 100 for 225'],
    },
    {
      it: 'lists and forgets when it finds another history above the position',
      from: probing(),
      input: probed('1000', 'other'),
      to: 'describing',
      effects: ['forget-positions', 'describe'],
    },
    {
      it: 'lists and forgets nothing when it is unsure',
      from: probing(),
      input: probed('1000', 'unsure'),
      to: 'describing',
      effects: ['describe'],
    },
    { it: 'is repeated after a wait when it fails', from: probing(), input: probeFailed('timeout'), to: 'waiting', effects: ['timer 500'] },
    {
      it: 'goes out on an open stream when nothing was heard for the probe interval',
      from: streaming(300_000, false, { quietSinceMs: NOW - 300_000 }),
      input: timer,
      to: 'streaming',
      effects: ['probe 100'],
    },
    {
      it: 'waits for the rest of the interval when something was heard meanwhile',
      from: streaming(300_000, true, { quietSinceMs: NOW - 100_000 }),
      input: timer,
      to: 'streaming',
      effects: ['timer 200000'],
    },
    {
      it: 'counts the quiet time across reconnects',
      from: opening({ quietSinceMs: NOW - 250_000 }),
      input: opened,
      to: 'streaming',
      effects: ['timer 50000'],
    },
    {
      it: 'is due at once when a reconnect took longer than the rest of the interval',
      from: opening({ quietSinceMs: NOW - 400_000 }),
      input: opened,
      to: 'streaming',
      effects: ['timer 0'],
    },
    {
      it: 'starts the interval anew when all is well',
      from: probedBeside(),
      input: probed('100'),
      to: 'streaming',
      effects: ['timer 300000'],
    },
    {
      it: 'closes the stream and lists when the cluster went back in time under it',
      from: probedBeside(),
      input: probed('99'),
      to: 'describing',
      effects: ['cancel', 'forget-positions', 'describe'],
    },
    {
      it: 'closes the stream and lists when it finds another history beside it, or is unsure',
      from: probedBeside(300_000, true),
      input: probed('1000', 'unsure'),
      to: 'describing',
      effects: ['cancel', 'describe'],
    },
    {
      it: 'leaves the stream alone when the server is only busy',
      from: probedBeside(),
      input: probeFailed('throttled', 2),
      to: 'streaming',
      effects: ['timer 2125'],
    },
    {
      it: 'closes the stream when the server cannot be reached beside it',
      from: probedBeside(),
      input: probeFailed('unreachable'),
      to: 'waiting',
      effects: ['cancel', 'timer 500'],
    },
    {
      it: 'closes the stream when the kind is gone',
      from: probedBeside(),
      input: probeFailed('not-served'),
      to: 'waiting',
      effects: ['cancel', 'timer 1125'],
    },
  ]);
  it('is judged by the position it was sent for, not by one reached meanwhile', () => {
    const probe = probedBeside(1_000, true);
    const moved = step(probe, frame('150')).state;
    assert.equal(step(moved, probed('120')).state.kind, 'streaming');
  });
  it('makes the list after it forget nothing twice', () => {
    const { state } = step(probing(), probed('99'));
    const list = step(state, described).state;
    assert.deepEqual(step(list, pageCame('99')).effects, []);
  });
});

describe('any order of answers and failures', () => {
  it('leaves exactly that under way which the state says, and ends with nothing under way', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(60_000)), { maxLength: 200 }),
        (choices) => {
          let nowMs = NOW;
          let { state, effects } = startWatch(nowMs);
          let world = underWay(new Set(), effects);
          for (const [choice, random, elapsedMs] of choices) {
            nowMs += elapsedMs;
            const inputs = [...world].flatMap((operation) => answersOf(operation, choice));
            const input = inputs[choice % inputs.length];
            assert.ok(input !== undefined, `${state.kind} waits for nothing`);
            ({ state, effects } = step(state, input, { nowMs, random }));
            world = underWay(afterAnswer(world, input), effects);
            assert.deepEqual(
              [...world].map((operation) => (operation === 'page' ? 'list' : operation)).sort(),
              EXPECTED[state.kind](state),
              `after ${input.kind}`,
            );
          }
          ({ state, effects } = step(state, stop));
          assert.deepEqual([...underWay(world, effects)], []);
        },
      ),
    );
  });
});

/** `page`: a page came and its rows are being handled. */
type Operation = 'describe' | 'list' | 'page' | 'open-watch' | 'stream' | 'probe' | 'timer' | 'half-list';

/** What is under way in each state. */
const EXPECTED: Record<WatchState['kind'], (state: WatchState) => Operation[]> = {
  describing: () => ['describe'],
  listing: () => ['half-list', 'list'],
  opening: () => ['open-watch'],
  streaming: (state) => (state.kind === 'streaming' && state.isProbing ? ['probe', 'stream'] : ['stream', 'timer']),
  waiting: () => ['timer'],
  probing: () => ['probe'],
  stopped: () => [],
};

function underWay(before: ReadonlySet<Operation>, effects: readonly WatchEffect[]): Set<Operation> {
  const world = new Set(before);
  for (const { kind } of effects) {
    if (kind === 'cancel') for (const operation of [...world]) operation !== 'half-list' && world.delete(operation);
    else if (kind === 'begin-list') world.add('half-list');
    else if (kind === 'commit-list' || kind === 'abandon-list') assert.ok(world.delete('half-list'), kind);
    else if (kind !== 'forget-positions') world.add(kind);
  }
  return world;
}

function answersOf(operation: Operation, choice: number): WatchInput[] {
  const code = ['unreachable', 'expired', 'not-served', 'throttled', 'resource-version-too-large', 'unhandled'][choice % 6] ?? '';
  const resourceVersion = String(90 + (choice % 20));
  const history = (['same', 'unsure', 'other'] as const)[choice % 3];
  switch (operation) {
    case 'describe':
      return [described, failed(code)];
    case 'list':
      return [pageCame(resourceVersion), failed(code)];
    case 'page':
      return [handled(), handled('t1'), failed(code)];
    case 'open-watch':
      return [opened, failed(code)];
    case 'stream':
      return [frame(resourceVersion), ended, failed(code)];
    case 'probe':
      return [probed(resourceVersion, history), probeFailed(code)];
    case 'timer':
      return [timer];
    case 'half-list':
      return [];
  }
}

/** What an input ends by itself. */
function afterAnswer(world: ReadonlySet<Operation>, input: WatchInput): Set<Operation> {
  const rest = new Set(world);
  if (input.kind === 'described') rest.delete('describe');
  if (input.kind === 'page-came' && rest.delete('list')) rest.add('page');
  if (input.kind === 'page-handled') rest.delete('page');
  if (input.kind === 'opened' && rest.delete('open-watch')) rest.add('stream');
  if (input.kind === 'ended') rest.delete('stream');
  if (input.kind === 'timer') rest.delete('timer');
  if (input.kind === 'probed' || input.kind === 'probe-failed') rest.delete('probe');
  if (input.kind === 'failed')
    for (const operation of ['describe', 'list', 'page', 'open-watch', 'stream'] as const) rest.delete(operation);
  return rest;
}
