/** Keeps the screens that a reader would have seen, of what a program writes to its terminal. */
import { isDeepStrictEqual } from 'node:util';
import { openTerminal, type ScreenLine, screenLines } from './screen-lines.ts';

/** A screen as it stood still. */
export interface ShownScreen {
  /** Since the start of the program. */
  readonly atMs: number;
  readonly lines: readonly ScreenLine[];
}

interface ScreenKeeper {
  /** @param atMs  when it was written; never less than before */
  write(chunk: Uint8Array | string, atMs: number): void;
  /** In their order; each differs from the one before it. The last one is what the program left. */
  end(): Promise<readonly ShownScreen[]>;
}

/** What is written without such a pause is one picture. */
const STILL_MS = 40;

/** The screens of a terminal of that size, which begins blank. */
export function keepScreens(size: { readonly columns: number; readonly rows: number }): ScreenKeeper {
  const terminal = openTerminal(size);
  const screens: ShownScreen[] = [];
  let lastMs = 0;
  const keep = (atMs: number): void => {
    if (terminal.modes.synchronizedOutputMode) return; // in the middle of a picture
    const lines = screenLines(terminal);
    if (!isDeepStrictEqual(lines, screens.at(-1)?.lines ?? [])) screens.push({ atMs, lines });
  };
  return {
    write(chunk, atMs) {
      const shownMs = lastMs;
      lastMs = atMs;
      // The terminal takes writes one after the other: it is looked at once those before this one are on it.
      if (atMs - shownMs >= STILL_MS) terminal.write('', () => keep(shownMs));
      terminal.write(chunk);
    },
    async end() {
      await new Promise<void>((written) => terminal.write('', written));
      keep(lastMs);
      terminal.dispose();
      return screens;
    },
  };
}
