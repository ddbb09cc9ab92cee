import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createState, type DevCell, type DevEvent, type DevLane, reduce } from '../../../../infra/local/dev/dev-state.ts';
import { plainLines } from '../../../../infra/local/dev/plain-lines.ts';

const east: DevCell = { cluster: 'east', kind: 'Tenant.platform.example', role: 'primary', phase: 'streaming', objects: 3, unsettled: 0 };
const child: DevCell = { ...east, kind: 'Namespace', role: 'child' };
const cells = (...list: readonly DevCell[]): DevEvent => ({ kind: 'cells', cells: list });
const live: DevLane = { name: 'live', ready: 2, delayed: 1, inFlight: 0 };
const lanes = (ready: number, deadLetters = 0): DevEvent => ({ kind: 'lanes', lanes: [{ ...live, ready }], deadLetters });
const outcome = (line: Extract<DevEvent, { kind: 'outcome' }>['line']): DevEvent => ({ kind: 'outcome', line });

/** All lines of the events, one after another. */
function told(...events: readonly DevEvent[]): string[] {
  let state = createState();
  return events.flatMap((event) => {
    const lines = plainLines(state, event, 60);
    state = reduce(state, event);
    return lines;
  });
}

const RUN = {
  timestamp: '2026-01-02T23:30:07.123Z',
  branch: 'reconciled',
  disposition: 'done',
  key: 'east/platform.example/Tenant//acme',
  reason: 'spec-changed',
  attempt: 1,
  durationMs: 41.6,
};

const TABLE: readonly (readonly [what: string, events: readonly DevEvent[], lines: readonly string[]])[] = [
  ['a step as it is', [{ kind: 'step', text: 'watcher started' }], ['watcher started']],
  [
    'a story as it is told, with what followed set in',
    [
      { kind: 'story', part: 'title', text: 'a story in 8 steps, with short waits:' },
      { kind: 'story', part: 'step', text: '1/8 create: a Tenant' },
      { kind: 'story', part: 'note', text: 'it takes a while' },
      { kind: 'story', part: 'result', text: 'Ready in east' },
      { kind: 'story', part: 'failure', text: 'TypeError: no\n    at a.ts:1' },
      { kind: 'story', part: 'summary', text: 'STEP    RUNS' },
    ],
    [
      'a story in 8 steps, with short waits:',
      '1/8 create: a Tenant',
      '    it takes a while',
      '    Ready in east',
      '    FAILED: TypeError: no',
      '          at a.ts:1',
      'STEP    RUNS',
    ],
  ],
  [
    'each cell when it is new',
    [cells(east, child)],
    [
      'cell  east/Tenant.platform.example  streaming  3 objects  0 unsettled',
      'cell  east/Namespace (child)  streaming  3 objects  0 unsettled',
    ],
  ],
  [
    'a cell that changed, and not for its age',
    [
      cells(east, child),
      cells(east, { ...child, unsettled: 2, oldestUnsettledSeconds: 130 }),
      cells(east, { ...child, unsettled: 2, oldestUnsettledSeconds: 131 }),
    ],
    [
      'cell  east/Tenant.platform.example  streaming  3 objects  0 unsettled',
      'cell  east/Namespace (child)  streaming  3 objects  0 unsettled',
      'cell  east/Namespace (child)  streaming  3 objects  2 unsettled, the oldest for 2m10s',
    ],
  ],
  [
    'a cell that is no more',
    [cells(child), cells()],
    ['cell  east/Namespace (child)  streaming  3 objects  0 unsettled', 'cell  east/Namespace (child)  gone'],
  ],
  [
    'lanes where a figure changed, and with the first dead letter what one does about it',
    [lanes(2), lanes(2), lanes(3), lanes(3, 1), lanes(3, 2)],
    [
      'lanes  live 2 ready 1 delayed 0 in flight  0 dead letters',
      'lanes  live 3 ready 1 delayed 0 in flight  0 dead letters',
      'lanes  live 3 ready 1 delayed 0 in flight  1 dead letter',
      'dead letters: npm run -s dogwatch -- replay ls, then replay plan, replay apply',
      'lanes  live 3 ready 1 delayed 0 in flight  2 dead letters',
    ],
  ],
  ['an outcome', [outcome(RUN)], ['outcome  00:30:07  east/Tenant/acme  reconciled  spec-changed  #1  42ms  done']],
  [
    'how long a retry waits, and why',
    [outcome({ ...RUN, key: 'east//ConfigMap/team-a/x', branch: 'transient', disposition: 'requeue', delaySeconds: 8, code: 'http-503' })],
    ['outcome  00:30:07  east/ConfigMap/team-a/x  transient  spec-changed  #1  42ms  again in 8s, http-503'],
  ],
  [
    'what an error said, on one line',
    [outcome({ branch: 'author-error', disposition: 'dead-letter', code: 'author-error', error: 'no\n  \u001b[31mtier' })],
    ['outcome  author-error  dead letter, author-error: no   tier'],
  ],
  [
    'a record without an object by its message',
    [outcome({ branch: 'foreign', message: 'record is no envelope of ours', disposition: 'fail-item' })],
    ['outcome  record is no envelope of ours  foreign  left in the queue'],
  ],
  [
    'an author’s line with such names and other values',
    [
      outcome(
        JSON.parse(
          '{"branch":{"a":1},"attempt":"two","durationMs":"x","timestamp":7,"key":["k"],"error":{"name":"E"},"delaySeconds":null}',
        ),
      ),
    ],
    ['outcome  ["k"]  {"a":1}  #two  {"name":"E"}'],
  ],
  [
    'the state of the build, and where it failed',
    [
      { kind: 'build', state: 'building' },
      { kind: 'build', state: 'failed', text: 'a.ts:3:1: no such name\n  3 | x' },
      { kind: 'build', state: 'swapped', text: 'in 120 ms' },
    ],
    ['build building', 'build failed: a.ts:3:1: no such name', '    3 | x', 'build swapped: in 120 ms'],
  ],
  ['a notice with its level', [{ kind: 'notice', level: 'warn', text: 'west does not answer' }], ['warn: west does not answer']],
];

describe('without a terminal', () => {
  for (const [what, events, lines] of TABLE) it(`tells ${what}`, () => assert.deepEqual(told(...events), lines));
});
