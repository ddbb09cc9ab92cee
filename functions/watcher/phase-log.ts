/** The phase that a cell is in and since when; one line in the log for each change of it. */
import type { WatchPhase } from '../../events/watch-phase.ts';
import type { Clock } from '../adapters/clock.ts';
import type { Log, LogFields } from '../adapters/telemetry.ts';

export class PhaseLog {
  readonly #log: Log;
  readonly #fields: LogFields;
  readonly #clock: Clock;
  #phase: WatchPhase;
  #sinceMs: number;
  #enteredMs: number;

  constructor(log: Log, fields: LogFields, phase: WatchPhase, clock: Clock) {
    this.#log = log;
    this.#fields = fields;
    this.#clock = clock;
    this.#phase = phase;
    this.#sinceMs = clock.now().getTime();
    this.#enteredMs = clock.steadyMs();
  }

  get phase(): WatchPhase {
    return this.#phase;
  }

  /** In Unix milliseconds, as the wall clock had it then. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** @param code of the fault that the cell has now, told where the phase is one of trouble */
  enter(phase: WatchPhase, code: string | undefined): void {
    if (phase === this.#phase) return;
    const nowMs = this.#clock.steadyMs();
    const isTrouble = phase === 'failing' || phase === 'recovering';
    this.#log.info('cell changed its state', {
      ...this.#fields,
      phase,
      phaseBefore: this.#phase,
      secondsBefore: Math.round((nowMs - this.#enteredMs) / 100) / 10,
      ...(isTrouble && code !== undefined ? { code } : {}),
    });
    this.#phase = phase;
    this.#sinceMs = this.#clock.now().getTime();
    this.#enteredMs = nowMs;
  }
}
