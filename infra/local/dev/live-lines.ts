/** The live view of a development run, as lines: a function of the state and of the terminal's size. */
import type { BuildState, DevCell, DevLane, DevState, OutcomeLine, StoryLine } from './dev-state.ts';
import { LETTERS_HINT } from './letters-hint.ts';
import { type OutcomeText, outcomeText, secondsText } from './outcome-text.ts';
import { share } from './room.ts';
import { createPaint, cut, oneLineOf, type Paint, type Style, shownLines, widthOf, wrap } from './shown-text.ts';
import { type TextColumn, tableLines } from './text-table.ts';

export interface LiveOptions {
  /** In columns. */
  readonly width: number;
  /** In lines. */
  readonly height: number;
  readonly hasColor: boolean;
  /** Of the reader's clock: 120 for two hours ahead of UTC. */
  readonly utcOffsetMinutes: number;
}

/** From this height on there is an empty line between the parts. */
const ROOMY_HEIGHT = 24;
/** A notice is one of several, and goes on to its end in the log. */
const NOTICE_LINES = 3;
const BUILD_LINES = 8;
/** Of what is told of a build that is well, in columns. */
const BUILD_TEXT_WIDTH = 40;

/** At most `height` lines, none wider than `width`. Where there is little room, what needs somebody and what happened last stays. */
export function liveLines(state: DevState, { width, height, hasColor, utcOffsetMinutes }: LiveOptions): string[] {
  const paint = createPaint(hasColor);
  const steps = state.steps.map((text) => wrap(text, width));
  const story = state.story.map((line) => storyLines(line, width, paint));
  const notices = state.notices.map((notice) => noticeLines(notice, width, paint));
  const build = state.build?.state === 'failed' ? [wrap(state.build.text ?? '', width, BUILD_LINES)] : [];
  const tableSize = (rows: readonly unknown[]): number => (rows.length === 0 ? 0 : rows.length + 1);

  const inNeed = state.cells.filter(cellNeedsReader).length;

  // In the order in which they are drawn. Needs: what somebody must do, then what happened last. Uses: outcomes take what is left.
  const parts = [
    {
      ...{ needs: 0, uses: 0, least: 1, most: state.deadLetters > 0 ? 2 : 1 },
      draw: (room: number) => [header(state, width, paint), paint('red', cut(LETTERS_HINT, width))].slice(0, room),
    },
    {
      ...{ needs: 0, uses: 0, least: 3, most: Math.min(lineCount(story), Math.ceil(height * 0.4)) },
      draw: (room: number) => newestOfStory(state.story, story, room),
    },
    { needs: 6, uses: 3, least: 2, most: Math.min(lineCount(steps), Math.ceil(height * 0.4)), draw: (room: number) => newest(steps, room) },
    {
      ...{ needs: 4, uses: 4, least: Math.max(3, Math.min(inNeed + 2, Math.ceil(height / 3))), most: tableSize(state.cells) },
      draw: (room: number) => cellLines(state.cells, room, width, paint),
    },
    {
      ...{ needs: 5, uses: 5, least: 3, most: tableSize(state.lanes) },
      draw: (room: number) => tableLines(LANES, state.lanes, { width, paint }).slice(0, room),
    },
    {
      ...{ needs: 1, uses: 1, least: 3, most: lineCount(build) },
      draw: (room: number) => newest(build, room).map((line) => paint('red', line)),
    },
    {
      ...{ needs: 2, uses: 2, least: 2, most: Math.min(lineCount(notices), 2 * NOTICE_LINES) },
      draw: (room: number) => newest(notices, room),
    },
    {
      ...{ needs: 3, uses: 6, least: Math.min(4, height - 1), most: tableSize(state.outcomes) },
      draw: (room: number) => outcomeLines(state.outcomes, { room, width, paint, utcOffsetMinutes }),
    },
  ];
  const between = height >= ROOMY_HEIGHT ? 1 : 0;
  const rooms = share(parts, height, between);
  const drawn = parts.map(({ draw }, index) => draw(rooms[index] ?? 0)).filter(({ length }) => length > 0);
  return drawn.flatMap((lines, index) => (index === 0 || between === 0 ? lines : ['', ...lines])).slice(0, height);
}

const BUILD_TEXT: Readonly<Record<BuildState, readonly [text: string, style: Style]>> = {
  building: ['building', 'yellow'],
  swapped: ['function up to date', 'green'],
  failed: ['BUILD FAILED', 'red'],
};

function header({ build, deadLetters, outcomeCount }: DevState, width: number, paint: Paint): string {
  const [text, style] = build === undefined ? ['starting', 'yellow' as const] : BUILD_TEXT[build.state];
  const how = build?.text === undefined || build.state === 'failed' ? '' : ` (${cut(oneLineOf(build.text), BUILD_TEXT_WIDTH)})`;
  const letters = `${deadLetters} dead ${deadLetters === 1 ? 'letter' : 'letters'}`;
  const lineWith = (shown: string): string =>
    [
      paint('bold', 'dogwatch dev'),
      paint(style, shown),
      paint(deadLetters > 0 ? 'red' : undefined, letters),
      `${outcomeCount} ${outcomeCount === 1 ? 'outcome' : 'outcomes'}`,
      'Ctrl-C stops',
    ].join('  ');
  const whole = lineWith(text + how);
  return widthOf(whole) <= width ? whole : cut(lineWith(text), width);
}

const cellNeedsReader = ({ phase, unsettled }: DevCell): boolean => phase !== 'streaming' || unsettled > 0;
const hasUnsettled = ({ unsettled }: DevCell): Style | undefined => (unsettled > 0 ? 'yellow' : undefined);

const CELLS: readonly TextColumn<DevCell>[] = [
  { title: 'CLUSTER', text: ({ cluster }) => oneLineOf(cluster), shrinks: { to: 6, at: 'end' } },
  {
    title: 'KIND',
    text: ({ kind, role }) => oneLineOf(role === 'child' ? `${kind} (child)` : kind),
    shrinks: { to: 8, at: 'end' },
  },
  {
    title: 'WATCH',
    text: ({ phase }) => oneLineOf(phase),
    style: ({ phase }) => (phase === 'streaming' ? 'green' : 'yellow'),
    expendable: 1,
  },
  { title: 'OBJECTS', text: ({ objects }) => String(objects), align: 'right', expendable: 2 },
  { title: 'UNSETTLED', text: ({ unsettled }) => String(unsettled), align: 'right', style: hasUnsettled },
  {
    title: 'OLDEST',
    text: ({ unsettled, oldestUnsettledSeconds: oldest }) => (unsettled === 0 || oldest === undefined ? '-' : secondsText(oldest)),
    ...{ align: 'right', style: hasUnsettled, expendable: 3 },
  },
];

/** Where not all have room, those that are as they should be are left out first. */
function cellLines(cells: readonly DevCell[], room: number, width: number, paint: Paint): string[] {
  if (room >= cells.length + 1) return tableLines(CELLS, cells, { width, paint });
  if (room < 3) return [];
  const inNeed = cells.filter(cellNeedsReader);
  const kept = new Set([...inNeed, ...cells].filter((cell, index, all) => all.indexOf(cell) === index).slice(0, room - 2));
  const shown = cells.filter((cell) => kept.has(cell));
  const left = cells.length - shown.length;
  return [...tableLines(CELLS, shown, { width, paint, measured: cells }), paint('dim', cut(`... and ${left} more`, width))];
}

const LANES: readonly TextColumn<DevLane>[] = [
  { title: 'LANE', text: ({ name }) => name },
  { title: 'READY', text: ({ ready }) => String(ready), align: 'right' },
  { title: 'DELAYED', text: ({ delayed }) => String(delayed), align: 'right', expendable: 1 },
  { title: 'IN FLIGHT', text: ({ inFlight }) => String(inFlight), align: 'right', expendable: 2 },
];

interface ShownOutcome extends OutcomeText {
  readonly style: Style | undefined;
}

const OUTCOMES: readonly TextColumn<ShownOutcome>[] = [
  { title: 'TIME', text: ({ time }) => time, style: () => 'dim', expendable: 4 },
  { title: 'OBJECT', text: ({ object }) => object, shrinks: { to: 18, at: 'middle' } },
  { title: 'BRANCH', text: ({ branch }) => branch, style: ({ style }) => style, shrinks: { to: 14, at: 'end' } },
  { title: 'REASON', text: ({ reason }) => reason, expendable: 5, shrinks: { to: 8, at: 'end' } },
  { title: 'TRY', text: ({ attempt }) => attempt, align: 'right', expendable: 2 },
  { title: 'TOOK', text: ({ duration }) => duration, align: 'right', expendable: 3 },
  { title: 'THEN', text: ({ end }) => end, style: ({ style }) => style, shrinks: { to: 14, at: 'end' }, expendable: 1 },
];

function outcomeLines(
  outcomes: readonly OutcomeLine[],
  {
    room,
    width,
    paint,
    utcOffsetMinutes,
  }: Pick<LiveOptions, 'width' | 'utcOffsetMinutes'> & { readonly room: number; readonly paint: Paint },
): string[] {
  if (room < 2) return [];
  const texts = outcomes.map((line) => ({ ...outcomeText(line, utcOffsetMinutes), style: outcomeStyle(line) }));
  return tableLines(OUTCOMES, texts.slice(1 - room), { width, paint, measured: texts });
}

function outcomeStyle({ level, branch }: OutcomeLine): Style | undefined {
  switch (String(level).toLowerCase()) {
    case 'error':
      return 'red';
    case 'warn':
      return 'yellow';
    default:
      return branch === 'reconciled' || branch === 'finalized' ? 'green' : undefined;
  }
}

const STORY_STYLES: Readonly<Record<StoryLine['part'], Style | undefined>> = {
  ...{ title: 'dim', step: undefined, note: undefined, result: 'green', failure: 'red', summary: undefined },
};

function storyLines({ part, text }: StoryLine, width: number, paint: Paint): string[] {
  if (part === 'summary') return shownLines(text).map((line) => cut(line, width)); // a row of a table
  const indent = part === 'title' || part === 'step' ? '' : '    ';
  const lines = wrap(part === 'failure' ? `FAILED: ${text}` : text, Math.max(1, width - indent.length));
  const painted = (line: string, index: number): string =>
    part === 'step' && index === 0 ? stepHead(line, paint) : paint(STORY_STYLES[part], line);
  return lines.map((line, index) => cut(indent + painted(line, index), width));
}

/** `3/8 change: ...`, of which what one looks for stands out. */
function stepHead(line: string, paint: Paint): string {
  const end = line.indexOf(': ');
  return end < 0 ? paint('bold', line) : paint('bold', line.slice(0, end + 1)) + line.slice(end + 1);
}

/** The newest that have room, and of those none whose step has gone out at the top, where another step is there. */
function newestOfStory(story: readonly StoryLine[], drawn: readonly (readonly string[])[], room: number): string[] {
  const lines = newest(drawn, room);
  const first = story.findIndex(({ part }, index) => part === 'step' && lineCount(drawn.slice(index)) <= lines.length);
  return first < 0 || lineCount(drawn) <= room ? lines : lines.slice(-lineCount(drawn.slice(first)));
}

function noticeLines({ level, text, count }: DevState['notices'][number], width: number, paint: Paint): string[] {
  const style = { info: 'cyan', warn: 'yellow', error: 'red' } as const;
  const times = count === 1 ? '' : ` (${count} times)`;
  return wrap(`${level}: ${shownLines(text).join('\n')}${times}`, width, NOTICE_LINES).map((line) => paint(style[level], line));
}

function lineCount(entries: readonly (readonly string[])[]): number {
  return entries.reduce((sum, { length }) => sum + length, 0);
}

/** As many of the last entries as have room, whole; of the last one its first lines where it has not. */
function newest(entries: readonly (readonly string[])[], room: number): string[] {
  let lines: readonly string[] = [];
  for (const entry of entries.toReversed()) {
    if (lines.length + entry.length > room) return lines.length === 0 ? entry.slice(0, room) : [...lines];
    lines = [...entry, ...lines];
  }
  return [...lines];
}
