/** A film of a terminal as an SVG picture that plays by itself, in an <img> too: styles and nothing else. */
import { widthOf } from '../../shown-text.ts';
import type { Frame } from './frames.ts';
import type { ScreenLine, Span } from './screen-lines.ts';

export interface PictureOptions {
  /** On the frame. */
  readonly title: string;
  /** For whoever does not see it. */
  readonly description: string;
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
}

/** In units of the picture, which is one pixel where nobody scales it. */
const CELL = { width: 8.4, height: 18 } as const;
const MARGIN = 16;
const BAR = 36;
const FONT_SIZE = 14;

/** Of a dark window that stands on a light page as on a dark one. */
const COLORS = {
  ...{ window: '#161b22', bar: '#21262d', edge: '#444c56', title: '#9da7b3', text: '#d1d7e0', dim: '#7d8590', bold: '#f0f6fc' },
  ...{ black: '#6e7681', red: '#ff7b72', green: '#56c271', yellow: '#d9a63a', blue: '#79b8ff', magenta: '#d2a8ff' },
  ...{ cyan: '#66c2cd', white: '#f0f6fc' },
} as const;

/** The picture; where nothing moves, because a program or its reader does not want it, it is the last frame. */
export function pictureOf(frames: readonly Frame[], { title, description, columns, rows }: PictureOptions): string {
  const width = round(columns * CELL.width + 2 * MARGIN);
  const height = BAR + rows * CELL.height + MARGIN;
  const names = new Map<string, string>();
  const nameOf = (line: ScreenLine): string => {
    const drawn = line.map(drawSpan).join('');
    const name = names.get(drawn) ?? `l${names.size}`;
    names.set(drawn, name);
    return name;
  };
  const groups = frames.map(({ lines }, index) => {
    const uses = lines.flatMap((line, row) => (line.length === 0 ? [] : `<use href="#${nameOf(line)}" y="${row * CELL.height}"/>`));
    return `<g class="f" id="f${index}">${uses.join('')}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escaped(title)}</title>`,
    `<desc id="d">${escaped(description)}</desc>`,
    `<style>${styles(frames)}</style>`,
    '<defs>',
    ...Array.from(names, ([drawn, name]) => `<text id="${name}">${drawn}</text>`),
    '</defs>',
    `<rect class="w" x=".5" y=".5" width="${round(width - 1)}" height="${height - 1}" rx="8"/>`,
    `<path class="b" d="M1 ${BAR}V8.5a7.5 7.5 0 0 1 7.5-7.5H${round(width - 8.5)}a7.5 7.5 0 0 1 7.5 7.5V${BAR}z"/>`,
    ...['red', 'yellow', 'green'].map((color, index) => `<circle class="${color}" cx="${20 + index * 18}" cy="${BAR / 2}" r="5.5"/>`),
    `<text class="h" x="${round(width / 2)}" y="${BAR / 2 + 5}">${escaped(title)}</text>`,
    `<g transform="translate(${MARGIN} ${BAR + MARGIN / 2 + FONT_SIZE})">`,
    ...groups,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function drawSpan({ column, text, color, isBold, isDim }: Span): string {
  const classes = [color, isBold ? 'bold' : undefined, isDim ? 'dim' : undefined].filter((name) => name !== undefined);
  const look = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
  // Whatever font is there, each span takes the columns that it took in the terminal.
  const length = `textLength="${round(widthOf(text) * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
  return `<tspan x="${round(column * CELL.width)}" ${length}${look}>${escaped(text)}</tspan>`;
}

function styles(frames: readonly Frame[]): string {
  const totalMs = frames.reduce((sum, { showMs }) => sum + showMs, 0);
  const last = frames.length - 1;
  let passedMs = 0;
  const plays = frames.map(({ showMs }, index) => {
    const from = percent(passedMs, totalMs);
    passedMs += showMs;
    const to = percent(passedMs, totalMs);
    const before = index === 0 ? '' : '0%{visibility:hidden}';
    const after = index === last ? '' : `${to}{visibility:hidden}`;
    return `#f${index}{animation-name:k${index}}@keyframes k${index}{${before}${from}{visibility:visible}${after}}`;
  });
  const { window, bar, edge, title, text, ...looks } = COLORS;
  return [
    `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:${text}}`,
    `.w{fill:${window};stroke:${edge}}.b{fill:${bar}}text.h{fill:${title};text-anchor:middle;font-size:13px}`,
    ...Object.entries(looks).map(([name, color]) => `.${name}{fill:${color}${name === 'bold' ? ';font-weight:600' : ''}}`),
    `.f{visibility:hidden;animation:${round(totalMs / 1000)}s step-end infinite}#f${last}{visibility:visible}`,
    ...plays,
    '@media (prefers-reduced-motion:reduce){.f{animation:none}}',
  ].join('\n');
}

function percent(part: number, whole: number): string {
  return `${Number(((100 * part) / whole).toFixed(3))}%`;
}

function round(units: number): number {
  return Number(units.toFixed(2));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
