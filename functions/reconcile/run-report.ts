/** What a run came to, and how far it came: what is left of it once it has ended, however it ended. */
import type { Outcome, Stage } from '../core/outcome.ts';
import type { OwnStatus } from '../core/status.ts';
import type { RunClient } from './run-client.ts';
import type { ObjectContext } from './run-context.ts';

/** What a run came to, and what it saw on the way: enough to decide on it, to show it on the object, and to send it again. */
export interface RunReport {
  readonly outcome: Outcome;
  readonly stage: Stage;
  /** The error behind the outcome came from the API server, not from the author's code; so did a deadline that cut a call short. */
  readonly isApiServerError: boolean;
  /** Undefined where the run ended before its object was read, or there was none; so too where it worked for one that is not there. */
  readonly context: ObjectContext | undefined;
  readonly client: RunClient | undefined;
  /**
   * The run had sent a write when it ended, whatever became of it, or had asked an author who may write outside. What is written
   * afterwards to show a failure does not count.
   */
  readonly wrote: boolean;
  /** No server has reached the resourceVersion of the message: etcd was restored, and the object was read as it is instead. */
  readonly isPositionLost: boolean;
  /** Where the error behind the outcome was thrown; for the log alone. */
  readonly stack?: string | undefined;
  /** The status that was confirmed; undefined where none was. */
  readonly status: OwnStatus | undefined;
  /** Reads that conflicts have cost, at whatever step. */
  readonly rereadCount: number;
}

/** What the steps of a run come to when nothing is thrown. */
export type StepsResult = Pick<RunReport, 'outcome'> & Partial<Pick<RunReport, 'status'>>;

/** How far the steps of a run have come, kept up by them: all that is known of a run that is cut short. */
export interface Progress {
  stage: Stage;
  /** The object that the run works on, as it was last read, where a failure may be shown on it. */
  seen: ObjectContext | undefined;
  isPositionLost: boolean;
  /** An author who may write outside was asked. */
  mayHaveActed: boolean;
  /** Reads that conflicts have cost. */
  rereadCount: number;
  /** The time of the next run that a status apply was about to store, where nobody has sent for it yet. */
  storing: Date | undefined;
}

/** The progress of a run that has not begun. */
export function noProgress(): Progress {
  return { stage: 'read', seen: undefined, isPositionLost: false, mayHaveActed: false, rereadCount: 0, storing: undefined };
}

/** The report of a run that ended before it looked at its object. */
export function earlyReport(outcome: Outcome): RunReport {
  return {
    outcome,
    stage: 'read',
    isApiServerError: false,
    context: undefined,
    client: undefined,
    wrote: false,
    isPositionLost: false,
    status: undefined,
    rereadCount: 0,
  };
}
