/** A table for people: text columns to the left, numbers to the right. */

/** Lines of a table; the first row is its head. */
export function tableOf(rows: readonly (readonly (string | number)[])[]): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? rounded(cell) : cell)));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isNumeric = (column: number): boolean => typeof rows[1]?.[column] === 'number';
  return texts
    .map((row) => row.map((cell, column) => (isNumeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))))
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

/** Three digits are what a measurement on a shared machine is worth. */
function rounded(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}
