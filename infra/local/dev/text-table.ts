/** Rows in columns, for a terminal of any width: text is cut, then columns are left out. */
import { cut, type Paint, pad, type Style, widthOf } from './shown-text.ts';

export interface TextColumn<Row> {
  readonly title: string;
  /** One line, with nothing in it that moves the cursor. */
  readonly text: (row: Row) => string;
  readonly style?: (row: Row) => Style | undefined;
  readonly align?: 'left' | 'right';
  /** May be cut to `to` columns; one without keeps its width. */
  readonly shrinks?: { readonly to: number; readonly at: 'middle' | 'end' };
  /** Where even so there is no room, the column with the highest number goes first; one without stays. */
  readonly expendable?: number;
}

const BETWEEN = '  ';

/**
 * The titles and the rows, none wider than `width`.
 *
 * @param measured  rows that the columns' widths are taken from, where it is more than the rows shown: columns then stand still
 */
export function tableLines<Row>(
  columns: readonly TextColumn<Row>[],
  rows: readonly Row[],
  { width, paint, measured = rows }: { readonly width: number; readonly paint: Paint; readonly measured?: readonly Row[] },
): string[] {
  const fitted = fit(columns, measured, width);
  const lineOf = (textOf: (column: TextColumn<Row>) => string, styleOf: (column: TextColumn<Row>) => Style | undefined): string => {
    const texts = fitted.map(({ column, width: own }, index) => {
      const shown = cut(textOf(column), own, column.shrinks?.at);
      const isLast = index === fitted.length - 1;
      return paint(styleOf(column), isLast && column.align !== 'right' ? shown : pad(shown, own, column.align));
    });
    return cut(texts.join(BETWEEN), width);
  };
  return [
    lineOf(
      ({ title }) => title,
      () => 'dim',
    ),
    ...rows.map((row) =>
      lineOf(
        ({ text }) => text(row),
        ({ style }) => style?.(row),
      ),
    ),
  ];
}

interface Fitted<Row> {
  readonly column: TextColumn<Row>;
  width: number;
}

function fit<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[], width: number): Fitted<Row>[] {
  const fitted = columns.map((column) => ({ column, width: naturalWidth(column, rows, width) }));
  for (let over = overrun(fitted, width); over > 0; over--) {
    const widest = fitted
      .filter(canShrink)
      .reduce<Fitted<Row> | undefined>((a, b) => (a === undefined || b.width >= a.width ? b : a), undefined);
    if (widest === undefined) {
      const spare = mostExpendable(columns);
      return spare === undefined
        ? fitted
        : fit(
            columns.filter((column) => column !== spare),
            rows,
            width,
          );
    }
    widest.width--;
  }
  return fitted;
}

function naturalWidth<Row>({ title, text }: TextColumn<Row>, rows: readonly Row[], most: number): number {
  return Math.min(
    most,
    rows.reduce((widest, row) => Math.max(widest, widthOf(text(row))), widthOf(title)),
  );
}

function overrun<Row>(fitted: readonly Fitted<Row>[], width: number): number {
  return fitted.reduce((sum, { width: own }) => sum + own, BETWEEN.length * (fitted.length - 1)) - width;
}

function canShrink<Row>({ column, width }: Fitted<Row>): boolean {
  return column.shrinks !== undefined && width > column.shrinks.to;
}

function mostExpendable<Row>(columns: readonly TextColumn<Row>[]): TextColumn<Row> | undefined {
  const rank = ({ expendable = Number.NEGATIVE_INFINITY }: TextColumn<Row>): number => expendable;
  return columns.filter(({ expendable }) => expendable !== undefined).sort((a, b) => rank(b) - rank(a))[0];
}
