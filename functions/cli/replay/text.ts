/** How letters are told to a person. What letters and clusters say is shown, and can do nothing to a terminal. */

/** The text with what moves a cursor, hides or reverses text replaced. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]|\p{Surrogate}/gu, '\ufffd');
}

/** What is said of the reason in the first of `texts` that knows it; else the reason itself, which a plan edited by hand may have. */
export function reasonText(reason: string, ...texts: readonly Readonly<Record<string, string>>[]): string {
  return texts.find((each) => Object.hasOwn(each, reason))?.[reason] ?? printable(reason);
}

/** The value as one line of JSON that can do nothing to a terminal either: what could is written as \\u escapes. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Rows under their titles, columns two spaces apart; those named in `numbers` end at the right. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[], numbers: readonly string[] = []): string[] {
  const lines = [titles, ...rows.map((row) => row.map(printable))];
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, at) => (numbers.includes(titles[at] ?? '') ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** `2026-03-01T10:15:00Z`; a dash where it is not known. */
export function timeText(ms: number | undefined): string {
  return ms === undefined ? '-' : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** `13d 4h`, `5h 12m`, `9m`, `due`: until then. */
export function leftText(untilMs: number | undefined, now: Date): string {
  if (untilMs === undefined) return '-';
  const minutes = Math.floor((untilMs - now.getTime()) / 60_000);
  if (minutes < 1) return 'due';
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days}d ${hours}h`;
  return hours > 0 ? `${hours}h ${minutes % 60}m` : `${minutes}m`;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
