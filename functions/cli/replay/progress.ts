/** How far it is: a bar that stands still on a terminal, and a line now and then elsewhere. */
import type { Clock } from '../../adapters/clock.ts';
import { cutText } from '../../core/errors.ts';
import { printable } from './text.ts';

/** Where it is shown. */
export interface Screen {
  /** Of a terminal that can take a line back; undefined for a file, a pipe, or one that cannot. */
  readonly columns: number | undefined;
  write(text: string): void;
}

/** stderr: stdout is the result's. */
export const processScreen: Screen = {
  get columns() {
    const { isTTY, columns } = process.stderr;
    return isTTY && process.env['TERM'] !== 'dumb' ? columns || 80 : undefined;
  },
  write: (text) => void process.stderr.write(text),
};

/** Milliseconds between two pictures of the bar, and between two lines where there is none. */
const PICTURE_MS = 100;
const LINE_MS = 10_000;
const BAR_WIDTH = 24;
const ERASE_LINE = '\r\u001b[K';

export class Progress {
  readonly #clock: Pick<Clock, 'steadyMs'>;
  readonly #screen: Screen;
  #shown = false;
  #nextMs = Number.NEGATIVE_INFINITY;
  #latest: string | undefined;

  constructor(clock: Pick<Clock, 'steadyMs'>, screen: Screen) {
    this.#clock = clock;
    this.#screen = screen;
  }

  /** A line that stays. */
  readonly note = (line: string): void => {
    this.#erase();
    this.#screen.write(`${line}\n`);
    if (this.#latest !== undefined && this.#screen.columns !== undefined) this.#draw(this.#latest);
  };

  /** What is true now; shown when it is time for it. `share`, from 0 to 1, is drawn. */
  update(text: string, share?: number): void {
    const { columns } = this.#screen;
    this.#latest = columns === undefined || share === undefined ? text : `${bar(share)} ${text}`;
    const nowMs = this.#clock.steadyMs();
    if (nowMs < this.#nextMs) return;
    // The first line elsewhere comes after a while: what is over at once needs none.
    const isFirst = this.#nextMs === Number.NEGATIVE_INFINITY;
    this.#nextMs = nowMs + (columns === undefined ? LINE_MS : PICTURE_MS);
    if (columns !== undefined) this.#draw(this.#latest);
    else if (!isFirst) this.#screen.write(`${printable(text)}\n`);
  }

  /** Takes the bar away. */
  end(): void {
    this.#erase();
    this.#latest = undefined;
  }

  #draw(text: string): void {
    const width = Math.max(1, (this.#screen.columns ?? 80) - 1);
    this.#screen.write(`${ERASE_LINE}${cutText(printable(text), width)}`);
    this.#shown = true;
  }

  #erase(): void {
    if (this.#shown) this.#screen.write(ERASE_LINE);
    this.#shown = false;
  }
}

function bar(share: number): string {
  const full = Math.floor(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}]`;
}
