/** What a cell says of its cluster's faults: a line when the state changes, never one for each try. */
import type { Log, LogFields } from '../adapters/telemetry.ts';
import { cutText, DogwatchError } from '../core/errors.ts';

/** The fault that a cell has now, for /readyz. */
export interface Trouble {
  readonly code: string;
  /** Cut; text of the cluster may be in it. */
  readonly message: string;
}

export class TroubleLog {
  readonly #log: Log;
  readonly #fields: LogFields;
  /** Codes told of in this outage, so that two faults that take turns are told once each. */
  readonly #told = new Set<string>();
  #sinceMs = 0;
  #current: Trouble | undefined;

  constructor(log: Log, fields: LogFields) {
    this.#log = log;
    this.#fields = fields;
  }

  /** Undefined where all is well. */
  get current(): Trouble | undefined {
    return this.#current;
  }

  /** A call or stream failed. Errors that are no DogwatchError are told of each time, with their stack: somebody has to mend them. */
  failed(error: unknown, nowMs: number): void {
    const code = error instanceof DogwatchError ? error.code : 'unclassified';
    const message = cutText(error instanceof Error ? error.message : String(error));
    if (this.#current === undefined) this.#sinceMs = nowMs;
    this.#current = { code, message };
    if (!(error instanceof DogwatchError)) {
      this.#log.error('unexpected error in a watch; it goes on', { ...this.#fields, code, error });
    } else if (!this.#told.has(code)) {
      this.#log.warn('watch failing', { ...error.facts, ...this.#fields, code, reason: message });
    }
    this.#told.add(code);
  }

  /** A watch is open again. */
  recovered(nowMs: number): void {
    if (this.#current === undefined) return;
    const { code } = this.#current;
    this.#current = undefined;
    this.#told.clear();
    this.#log.info('watch recovered', { ...this.#fields, code, outageSeconds: Math.round((nowMs - this.#sinceMs) / 100) / 10 });
  }
}
