/** A recording as a film: as many pictures as one can follow, and no long wait. */
import { isDeepStrictEqual } from 'node:util';
import type { ShownScreen } from './screen-keeper.ts';
import type { ScreenLine } from './screen-lines.ts';

export interface Frame {
  readonly lines: readonly ScreenLine[];
  readonly showMs: number;
}

export interface FilmOptions {
  /** No picture is shown for less: of those that came faster, the last is. */
  readonly leastMs: number;
  /** And none for more: a wait in which nothing changed is shortened. */
  readonly mostMs: number;
  /** The film begins with the first screen that has as many: on those before it there is nothing to see. */
  readonly leastLines: number;
  /** The last one is there to be read. */
  readonly lastMs: number;
}

/** The frames of the film. The first and the last screen of it are among them. */
export function filmOf(screens: readonly ShownScreen[], { leastMs, mostMs, leastLines, lastMs }: FilmOptions): Frame[] {
  const begin = screens.findIndex(({ lines }) => lines.length >= leastLines);
  const shown = screens.slice(begin < 0 ? -1 : begin).filter(({ lines }) => lines.length > 0);
  const kept = shown.filter(({ atMs }, index) => {
    const next = shown[index + 1];
    return index === 0 || next === undefined || Math.floor(next.atMs / leastMs) > Math.floor(atMs / leastMs);
  });
  const distinct = kept.filter(({ lines }, index) => index === 0 || !isDeepStrictEqual(lines, kept[index - 1]?.lines));
  return distinct.map(({ lines, atMs }, index) => {
    const next = distinct[index + 1];
    return { lines, showMs: next === undefined ? lastMs : Math.min(mostMs, Math.max(leastMs, next.atMs - atMs)) };
  });
}
