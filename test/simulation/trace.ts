/** What happened in a simulation, for whoever reads of its failure. */
import { START_MS, type VirtualTime } from './virtual-time.ts';

/** Steps that are kept. */
const KEPT_MAX = 4_000;

export class Trace {
  readonly #time: VirtualTime;
  readonly #lines: string[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  add(who: string, what: string): void {
    const seconds = ((this.#time.nowMs - START_MS) / 1000).toFixed(3).padStart(10);
    this.#lines.push(`${seconds}  ${who.padEnd(10)} ${what}`);
    if (this.#lines.length > 2 * KEPT_MAX) this.#lines.splice(0, KEPT_MAX);
  }

  /** The last steps, one a line. */
  tail(count: number): string {
    return count === 0 ? '' : this.#lines.slice(-count).join('\n');
  }
}
