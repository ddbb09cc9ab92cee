/** What a story came to, as a table. */
import { createPaint, oneLineOf, type Style, wrap } from '../shown-text.ts';
import { type TextColumn, tableLines } from '../text-table.ts';
import type { StepResult, StoryResult } from './story.ts';

type Played = Exclude<StepResult, { kind: 'not played' }>;

const figure = (title: string, text: (result: Played) => string, expendable: number): TextColumn<StepResult> => ({
  title,
  align: 'right',
  expendable,
  text: (result) => (result.kind === 'not played' ? '-' : text(result)),
});

const STYLES: Readonly<Record<StepResult['kind'], Style>> = { well: 'green', failed: 'red', 'not played': 'dim' };

const COLUMNS: readonly TextColumn<StepResult>[] = [
  { title: 'STEP', text: ({ name }) => name },
  figure('SECONDS', ({ seconds }) => seconds.toFixed(1), 1),
  figure('MESSAGES', ({ figures }) => String(figures.messages), 2),
  figure('RUNS', ({ figures }) => String(figures.runs), 3),
  figure('REQUESTS', ({ figures }) => String(figures.requests), 4),
  {
    title: 'WHAT FOLLOWED',
    text: (result) => (result.kind === 'well' ? oneLineOf(result.text) : result.kind === 'failed' ? 'FAILED' : 'not played'),
    style: ({ kind }) => STYLES[kind],
    shrinks: { to: 20, at: 'end' },
  },
];

export interface SummaryOptions {
  /** In columns. */
  readonly width: number;
  readonly hasColor: boolean;
}

/** Its steps with their figures, then one line of all; below it what failed. No line is wider than `width`. */
export function summaryLines(result: StoryResult, { width, hasColor }: SummaryOptions): string[] {
  const paint = createPaint(hasColor);
  const { results, seconds } = result;
  const failed = results.flatMap((each) => (each.kind === 'failed' ? wrap(`${each.name} failed: ${each.text}`, width) : []));
  return [
    ...tableLines(COLUMNS, results, { width, paint }),
    ...wrap(closingLine(results, seconds), width).map((line) => paint(isWell(result) ? 'green' : 'red', line)),
    ...failed.map((line) => paint('red', line)),
  ];
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** All steps were well. */
export function isWell({ results }: StoryResult): boolean {
  return results.every(({ kind }) => kind === 'well');
}

function closingLine(results: readonly StepResult[], seconds: number): string {
  const played = results.filter((result) => result.kind !== 'not played');
  const sum = (field: 'messages' | 'runs' | 'letters'): number => played.reduce((total, { figures }) => total + figures[field], 0);
  const well = played.filter(({ kind }) => kind === 'well').length;
  return [
    `${well} of ${results.length} steps well in ${seconds.toFixed(1)} s`,
    counted(sum('messages'), 'message'),
    counted(sum('runs'), 'run'),
    counted(sum('letters'), 'dead letter'),
  ].join(', ');
}
