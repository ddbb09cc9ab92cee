/** Time as kubectl shows it. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Time since then as kubectl shows it, such as `85s`, `3m20s`, `5h`, `12d`; `<unknown>` without a time. */
export function ageOf(since: string | undefined, now: Date): string {
  const start = Date.parse(since ?? '');
  if (Number.isNaN(start)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now.getTime() - start) / 1000));
  const pair = (big: number, bigName: string, small: number, smallName: string): string => {
    const rest = Math.floor((seconds % big) / small);
    return `${Math.floor(seconds / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  return seconds < 8 * YEAR ? pair(YEAR, 'y', DAY, 'd') : `${Math.floor(seconds / YEAR)}y`;
}
