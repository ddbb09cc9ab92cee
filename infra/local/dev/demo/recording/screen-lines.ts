/** What stands on a terminal's screen, as values: lines of spans, each in one style. */
import xterm from '@xterm/headless';
import { pad } from '../../shown-text.ts';

export type Terminal = InstanceType<typeof xterm.Terminal>;

/** The eight colours that a program can name without knowing the palette. */
const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

interface Look {
  readonly color?: (typeof COLORS)[number];
  readonly isBold: boolean;
  readonly isDim: boolean;
}

/** Characters that stand side by side and look alike. */
export interface Span extends Look {
  /** Of its first character, from 0. */
  readonly column: number;
  readonly text: string;
}

/** Without what is blank at its end. */
export type ScreenLine = readonly Span[];

/** A terminal of that size that is shown nowhere. Every character is taken for as wide as xterm.js says. */
export function openTerminal({ columns, rows }: { readonly columns: number; readonly rows: number }): Terminal {
  return new xterm.Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
}

/** The lines of the screen, from its top to the last one that has something on it. */
export function screenLines({ buffer: { active } }: Terminal): ScreenLine[] {
  const lines = Array.from({ length: active.length }, (_, row) => spansOf(active.getLine(row)));
  return lines.slice(0, lines.findLastIndex(({ length }) => length > 0) + 1);
}

/** The line as one reads it. */
export function textOf(line: ScreenLine): string {
  return line.reduce((text, { column, text: own }) => pad(text, column) + own, '');
}

type BufferLine = ReturnType<Terminal['buffer']['active']['getLine']>;

function spansOf(line: BufferLine): ScreenLine {
  const spans: Span[] = [];
  let blanks = 0;
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue; // the second half of a wide character
    const text = cell.getChars();
    if (text === '' || text === ' ') {
      blanks++;
      continue;
    }
    const look = lookOf(cell);
    const last = spans.at(-1);
    // Two blanks are a gap between two columns of a table: what follows begins anew, where it has to.
    if (last !== undefined && blanks < 2 && isAlike(last, look))
      spans[spans.length - 1] = { ...last, text: last.text + ' '.repeat(blanks) + text };
    else spans.push({ column, text, ...look });
    blanks = 0;
  }
  return spans;
}

function lookOf(cell: NonNullable<ReturnType<NonNullable<BufferLine>['getCell']>>): Look {
  const color = cell.isFgPalette() ? COLORS[cell.getFgColor()] : undefined;
  return { isBold: cell.isBold() !== 0, isDim: cell.isDim() !== 0, ...(color === undefined ? {} : { color }) };
}

function isAlike(a: Look, b: Look): boolean {
  return a.color === b.color && a.isBold === b.isBold && a.isDim === b.isDim;
}
