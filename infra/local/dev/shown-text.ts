/** Text from anywhere, made fit for a terminal: by the columns that it takes there, and without what would move the cursor. */
import { stripVTControlCharacters, styleText } from 'node:util';
import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** The text in that style, or as it is. */
export type Paint = (style: Style | undefined, text: string) => string;

/** Control characters, line separators, and the marks that turn the direction of what follows. */
const UNSHOWN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** The lines of a text that have something to show, each without escape sequences and control characters. */
export function shownLines(text: string): string[] {
  const lines = stripVTControlCharacters(text).split('\n');
  return lines.map((line) => line.replaceAll(UNSHOWN, ' ').trimEnd()).filter((line) => line !== '');
}

/** All of it on one line. */
export function oneLineOf(text: string): string {
  return shownLines(text).join(' ').trim();
}

/** At most `width` columns of it, with an ellipsis where something is left out. A character of two columns is never cut in half. */
export function cut(text: string, width: number, position: 'middle' | 'end' = 'end'): string {
  return cliTruncate(text, Math.max(0, width), { position });
}

/** Filled up with spaces to `width` columns. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const fill = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return align === 'left' ? text + fill : fill + text;
}

/** Its lines broken between words, or inside one that is wider; at most `most`, the last with an ellipsis where there is more. */
export function wrap(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  // One character may be wider than the line.
  const lines = shownLines(text).flatMap((line) =>
    wrapAnsi(line, width, { hard: true })
      .split('\n')
      .map((part) => cut(part, width)),
  );
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), cut(`${lines[most - 1] ?? ''} …`, width)];
}

/** Paints where the terminal has colour. */
export function createPaint(hasColor: boolean): Paint {
  return (style, text) => (hasColor && style !== undefined && text !== '' ? styleText(style, text, { validateStream: false }) : text);
}

/** Columns that the text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}
