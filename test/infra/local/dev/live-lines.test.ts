import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { createState, type DevCell, type DevEvent, type DevState, reduce } from '../../../../infra/local/dev/dev-state.ts';
import { liveLines } from '../../../../infra/local/dev/live-lines.ts';
import { widthOf } from '../../../../infra/local/dev/shown-text.ts';

const of = (...events: readonly DevEvent[]): DevState => events.reduce(reduce, createState());
const draw = (state: DevState, width: number, height: number, hasColor = false): string[] =>
  liveLines(state, { width, height, hasColor, utcOffsetMinutes: 0 });

const cell = (cluster: string, kind: string, changed: Partial<DevCell> = {}): DevCell => ({
  ...{ cluster, kind, role: 'primary', phase: 'streaming', objects: 3, unsettled: 0 },
  ...changed,
});
const outcome = (name: string, line: Extract<DevEvent, { kind: 'outcome' }>['line'] = {}): DevEvent => ({
  kind: 'outcome',
  line: {
    ...{ timestamp: '2026-01-02T10:00:07.000Z', level: 'INFO', branch: 'reconciled', disposition: 'done', attempt: 1, durationMs: 42 },
    ...{ reason: 'spec-changed', key: `east/platform.example/Tenant//${name}` },
    ...line,
  },
});

const CELLS = [
  cell('east', 'Tenant.platform.example'),
  cell('east', 'Namespace', { role: 'child' }),
  cell('west', 'Tenant.platform.example', { unsettled: 2, oldestUnsettledSeconds: 130 }),
  cell('west', 'Namespace', { role: 'child', phase: 'failing' }),
];
const WHOLE = of(
  { kind: 'step', text: 'kubeconfig of east: /tmp/dev/east.kubeconfig' },
  { kind: 'step', text: 'in another terminal: source /tmp/dev/env' },
  { kind: 'build', state: 'swapped', text: '210 ms' },
  { kind: 'cells', cells: CELLS },
  {
    ...{ kind: 'lanes', deadLetters: 1 },
    lanes: [
      { name: 'live', ready: 2, delayed: 1, inFlight: 4 },
      { name: 'bulk', ready: 0, delayed: 0, inFlight: 0 },
    ],
  },
  outcome('acme'),
  outcome('日本', { level: 'WARN', branch: 'transient', disposition: 'requeue', delaySeconds: 8, code: 'http-503', attempt: 2 }),
  outcome('bad', { level: 'ERROR', branch: 'author-error', disposition: 'dead-letter', code: 'author-error', error: 'no tier' }),
  { kind: 'notice', level: 'warn', text: 'west does not answer' },
  { kind: 'notice', level: 'warn', text: 'west does not answer' },
);

const TABLE: readonly (readonly [what: string, state: DevState, width: number, height: number, lines: readonly string[]])[] = [
  ['one line before anything is known', createState(), 80, 24, ['dogwatch dev  starting  0 dead letters  0 outcomes  Ctrl-C stops']],
  [
    'a story above the steps of the run, a row of its summary cut and not broken',
    of(
      { kind: 'step', text: 'starting' },
      { kind: 'story', part: 'step', text: '1/2 create: a Tenant in both of the clusters' },
      { kind: 'story', part: 'note', text: 'it takes a while' },
      { kind: 'story', part: 'failure', text: 'it is not Ready' },
      { kind: 'story', part: 'summary', text: 'create       0.4     2     1  FAILED' },
    ),
    30,
    20,
    [
      'dogwatch dev  starting  0 dea…',
      '1/2 create: a Tenant in both',
      'of the clusters',
      '    it takes a while',
      '    FAILED: it is not Ready',
      'create       0.4     2     1 …',
      'starting',
    ],
  ],
  [
    'a story with its newest lines where there is little room, and room for what else there is',
    of(...[1, 2, 3, 4, 5, 6, 7, 8].map((n): DevEvent => ({ kind: 'story', part: 'result', text: `step ${n}` })), outcome('acme')),
    80,
    8,
    [
      'dogwatch dev  starting  0 dead letters  1 outcome  Ctrl-C stops',
      '    step 5',
      '    step 6',
      '    step 7',
      '    step 8',
      'TIME      OBJECT            BRANCH      REASON        TRY  TOOK  THEN',
      '10:00:07  east/Tenant/acme  reconciled  spec-changed   #1  42ms  done',
    ],
  ],
  [
    'no line of a story whose step has gone out at the top',
    of(
      ...[1, 2, 3].flatMap((n): DevEvent[] => [
        { kind: 'story', part: 'step', text: `${n}/3 step: it begins` },
        { kind: 'story', part: 'result', text: `step ${n} is well` },
      ]),
    ),
    80,
    7,
    ['dogwatch dev  starting  0 dead letters  0 outcomes  Ctrl-C stops', '3/3 step: it begins', '    step 3 is well'],
  ],
  [
    'the newest lines of a step that has said more than there is room for',
    of(
      { kind: 'story', part: 'step', text: '1/2 step: it begins' },
      ...[1, 2, 3, 4].map((n): DevEvent => ({ kind: 'story', part: 'note', text: `note ${n}` })),
    ),
    80,
    8,
    ['dogwatch dev  starting  0 dead letters  0 outcomes  Ctrl-C stops', '    note 1', '    note 2', '    note 3', '    note 4'],
  ],
  [
    'everything where there is room, parts apart',
    WHOLE,
    110,
    30,
    [
      'dogwatch dev  function up to date (210 ms)  1 dead letter  3 outcomes  Ctrl-C stops',
      'dead letters: npm run -s dogwatch -- replay ls, then replay plan, replay apply',
      '',
      'kubeconfig of east: /tmp/dev/east.kubeconfig',
      'in another terminal: source /tmp/dev/env',
      '',
      'CLUSTER  KIND                     WATCH      OBJECTS  UNSETTLED  OLDEST',
      'east     Tenant.platform.example  streaming        3          0       -',
      'east     Namespace (child)        streaming        3          0       -',
      'west     Tenant.platform.example  streaming        3          2   2m10s',
      'west     Namespace (child)        failing          3          0       -',
      '',
      'LANE  READY  DELAYED  IN FLIGHT',
      'live      2        1          4',
      'bulk      0        0          0',
      '',
      'warn: west does not answer (2 times)',
      '',
      'TIME      OBJECT            BRANCH        REASON        TRY  TOOK  THEN',
      '10:00:07  east/Tenant/acme  reconciled    spec-changed   #1  42ms  done',
      '10:00:07  east/Tenant/日本  transient     spec-changed   #2  42ms  again in 8s, http-503',
      '10:00:07  east/Tenant/bad   author-error  spec-changed   #1  42ms  dead letter, author-error: no tier',
    ],
  ],
  [
    'what one does about dead letters for as long as there are some',
    of({ kind: 'lanes', lanes: [], deadLetters: 1 }, { kind: 'lanes', lanes: [], deadLetters: 0 }),
    80,
    24,
    ['dogwatch dev  starting  0 dead letters  0 outcomes  Ctrl-C stops'],
  ],
  [
    'first what needs somebody where there is little, and the last outcomes',
    WHOLE,
    60,
    13,
    [
      'dogwatch dev  function up to date  1 dead letter  3 outcome…',
      'CLUSTER  KIND          WATCH      OBJECTS  UNSETTLED  OLDEST',
      'west     Tenant.plat…  streaming        3          2   2m10s',
      'west     Namespace (…  failing          3          0       -',
      '... and 2 more',
      'LANE  READY  DELAYED  IN FLIGHT',
      'live      2        1          4',
      'bulk      0        0          0',
      'warn: west does not answer (2 times)',
      'OBJECT            BRANCH        TRY  TOOK  THEN',
      'east/Tenant/acme  reconciled     #1  42ms  done',
      'east/Tenant/日本  transient      #2  42ms  again in 8s, htt…',
      'east/Tenant/bad   author-error   #1  42ms  dead letter, aut…',
    ],
  ],
  [
    'where a build failed, whole',
    of({ kind: 'build', state: 'failed', text: 'functions/reconcilers/tenant.ts:12:3: ERROR: Expected ";"\n  12 | x y\n     |   ^' }),
    50,
    10,
    [
      'dogwatch dev  BUILD FAILED  0 dead letters  0 out…',
      'functions/reconcilers/tenant.ts:12:3: ERROR:',
      'Expected ";"',
      '12 | x y',
      '|   ^',
    ],
  ],
];

const PARTS = ['title', 'step', 'note', 'result', 'failure', 'summary'] as const;

describe('the live view', () => {
  for (const [what, state, width, height, lines] of TABLE) it(`shows ${what}`, () => assert.deepEqual(draw(state, width, height), lines));

  it('shows the newest outcomes and steps where not all have room', () => {
    const many = Array.from({ length: 40 }, (_, index) => index);
    const lines = draw(of(...many.flatMap((n): DevEvent[] => [outcome(`t-${n}`), { kind: 'step', text: `step ${n}` }])), 100, 20);
    assert.equal(lines.length, 20);
    assert.ok(lines.at(-1)?.includes('t-39') && !lines.join().includes('t-20 '));
    assert.ok(lines.includes('step 39') && !lines.includes('step 20'));
  });

  it('is the same with colour, save for the colour', () => {
    const coloured = draw(WHOLE, 100, 30, true);
    assert.deepEqual(coloured.map(stripVTControlCharacters), draw(WHOLE, 100, 30));
    assert.ok(coloured.find((line) => line.includes('author-error'))?.includes('\u001b[31mauthor-error'));
    assert.ok(coloured[0]?.includes('\u001b[31m1 dead letter\u001b[39m'));
    assert.ok(!draw(WHOLE, 100, 30).join('').includes('\u001b'));
    const step = of({ kind: 'story', part: 'step', text: '1/2 create: a Tenant: acme' });
    assert.equal(draw(step, 100, 30, true).at(-1), '\u001b[1m1/2 create:\u001b[22m a Tenant: acme');
  });

  it('never has a line too many or too wide, whatever the names and the terminal', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ unit: 'binary-ascii', maxLength: 60 }));
    const count = fc.nat(1e9);
    const event: fc.Arbitrary<DevEvent> = fc.oneof(
      fc.record({ kind: fc.constant('step' as const), text }),
      fc.record({ kind: fc.constant('story' as const), part: fc.constantFrom(...PARTS), text }),
      fc.record({
        kind: fc.constant('cells' as const),
        cells: fc.array(
          fc.record({
            ...{ cluster: text, kind: text, role: fc.constantFrom('primary' as const, 'child' as const), phase: text, objects: count },
            ...{ unsettled: count, oldestUnsettledSeconds: count },
          }),
        ),
      }),
      fc.record({
        ...{ kind: fc.constant('lanes' as const), deadLetters: count },
        lanes: fc.constant([{ name: 'live' as const, ready: 1, delayed: 2, inFlight: 3 }]),
      }),
      fc.record({
        kind: fc.constant('outcome' as const),
        line: fc.record({ key: text, branch: text, reason: text, error: text, level: text, durationMs: count, delaySeconds: count }),
      }),
      fc.record({ kind: fc.constant('build' as const), state: fc.constantFrom('building' as const, 'swapped', 'failed'), text }),
      fc.record({ kind: fc.constant('notice' as const), level: fc.constantFrom('info' as const, 'warn', 'error'), text }),
    );
    fc.assert(
      fc.property(
        fc.array(event),
        fc.integer({ min: 2, max: 120 }),
        fc.integer({ min: 1, max: 50 }),
        fc.boolean(),
        (events, width, height, hasColor) => {
          const lines = draw(of(...events), width, height, hasColor);
          assert.ok(lines.length <= height);
          for (const line of lines) {
            assert.ok(widthOf(line) <= width, JSON.stringify(line));
            assert.doesNotMatch(stripVTControlCharacters(line), /[\p{Cc}\u202e]/u);
          }
        },
      ),
    );
  });
});
