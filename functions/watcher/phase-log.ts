/** The phase that a cell is in and since when; one line in the log for each change of it. */
import type { WatchPhase } from '../../events/watch-phase.ts';
import type { Log, LogFields } from '../adapters/telemetry.ts';

export class PhaseLog {
  readonly #log: Log;
  readonly #fields: LogFields;
  #phase: WatchPhase;
  #sinceMs: number;

  constructor(log: Log, fields: LogFields, phase: WatchPhase, nowMs: number) {
    this.#log = log;
    this.#fields = fields;
    this.#phase = phase;
    this.#sinceMs = nowMs;
  }

  get phase(): WatchPhase {
    return this.#phase;
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** @param code of the fault that the cell has now, told where the phase is one of trouble */
  enter(phase: WatchPhase, code: string | undefined, nowMs: number): void {
    if (phase === this.#phase) return;
    const isTrouble = phase === 'failing' || phase === 'recovering';
    this.#log.info('cell changed its state', {
      ...this.#fields,
      phase,
      phaseBefore: this.#phase,
      secondsBefore: Math.round((nowMs - this.#sinceMs) / 100) / 10,
      ...(isTrouble && code !== undefined ? { code } : {}),
    });
    this.#phase = phase;
    this.#sinceMs = nowMs;
  }
}
