import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createState, type DevEvent, type DevState, KEPT, reduce } from '../../../../infra/local/dev/dev-state.ts';

const after = (...events: readonly DevEvent[]): DevState => events.reduce(reduce, createState());
const cell = { cluster: 'east', kind: 'Tenant.platform.example', role: 'primary', phase: 'streaming', objects: 3, unsettled: 1 } as const;
const lane = { name: 'live', ready: 2, delayed: 1, inFlight: 4 } as const;

const TABLE: readonly (readonly [what: string, events: readonly DevEvent[], changed: Partial<DevState>])[] = [
  ['steps in their order', [step('a'), step('b')], { steps: ['a', 'b'] }],
  ['a step that comes again once, as the newest', [step('a'), step('b'), step('a')], { steps: ['b', 'a'] }],
  [
    'the story in its order, apart from the steps of the run',
    [{ kind: 'story', part: 'step', text: '1/2 create' }, step('a'), { kind: 'story', part: 'result', text: 'Ready' }],
    {
      steps: ['a'],
      story: [
        { part: 'step', text: '1/2 create' },
        { part: 'result', text: 'Ready' },
      ],
    },
  ],
  [
    'no step that was told before a story began',
    [step('a'), { kind: 'story', part: 'title', text: 'a story' }, step('b')],
    { steps: ['b'], story: [{ part: 'title', text: 'a story' }] },
  ],
  ['the cells of the last event only', [cells([cell, { ...cell, cluster: 'west' }]), cells([cell])], { cells: [cell] }],
  ['lanes with the dead letters', [{ kind: 'lanes', lanes: [lane], deadLetters: 2 }], { lanes: [lane], deadLetters: 2 }],
  [
    'outcomes, and how many there were',
    [
      { kind: 'outcome', line: { branch: 'settled' } },
      { kind: 'outcome', line: { branch: 'gone' } },
    ],
    { outcomes: [{ branch: 'settled' }, { branch: 'gone' }], outcomeCount: 2 },
  ],
  [
    'the last state of the build, without the text of an earlier one',
    [
      { kind: 'build', state: 'failed', text: 'x.ts:1' },
      { kind: 'build', state: 'swapped' },
    ],
    { build: { state: 'swapped' } },
  ],
  [
    'a notice that comes again once, with its count, as the newest',
    [notice('warn', 'a'), notice('warn', 'b'), notice('warn', 'a')],
    {
      notices: [
        { level: 'warn', text: 'b', count: 1 },
        { level: 'warn', text: 'a', count: 2 },
      ],
    },
  ],
  [
    'notices of another level apart',
    [notice('warn', 'a'), notice('error', 'a')],
    {
      notices: [
        { level: 'warn', text: 'a', count: 1 },
        { level: 'error', text: 'a', count: 1 },
      ],
    },
  ],
];

describe('the state of dogwatch dev', () => {
  for (const [what, events, changed] of TABLE) {
    it(`has ${what}`, () => assert.deepEqual(after(...events), { ...createState(), ...changed }));
  }

  it('keeps the newest of what comes without end', () => {
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    const state = after(
      ...numbers.map((n) => step(String(n))),
      ...numbers.map((n) => notice('info', String(n))),
      ...numbers.map((n): DevEvent => ({ kind: 'outcome', line: { attempt: n } })),
    );
    assert.deepEqual([state.steps.length, state.notices.length, state.outcomes.length], [KEPT.steps, KEPT.notices, KEPT.outcomes]);
    assert.deepEqual([state.steps.at(-1), state.notices.at(-1)?.text, state.outcomes.at(-1)?.attempt], ['499', '499', 499]);
    assert.equal(state.outcomeCount, 500);
  });
});

function step(text: string): DevEvent {
  return { kind: 'step', text };
}

function cells(list: Extract<DevEvent, { kind: 'cells' }>['cells']): DevEvent {
  return { kind: 'cells', cells: list };
}

function notice(level: 'info' | 'warn' | 'error', text: string): DevEvent {
  return { kind: 'notice', level, text };
}
