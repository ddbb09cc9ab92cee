/** Spans and times for people. */

/** `40 s`, `12 min`, `5 h`, `3 d`: the largest unit of which there are two, so that little is lost. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** `2026-03-01T10:15:00Z`. */
export function instantText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
