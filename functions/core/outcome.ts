/**
 * What a run came to, as a value. Whatever was thrown is sorted here, once, by class and code; what happens next is
 * decided in `disposition.ts`.
 */
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import { ConflictError, cutText, DogwatchError, TerminalError, TransientError } from './errors.ts';

/** The longest `message` of a failure, in UTF-16 units. */
export const FAILURE_MESSAGE_MAX = 512;

/** How an object whose message was given up is run again, once its cause is mended: the end of a text that says what to mend. */
export const RUN_AGAIN = `then change the spec, or set and remove the annotation ${PAUSED_ANNOTATION}`;

/** A failure as it is written to a log line, a condition and a dead letter. */
export interface Failure {
  readonly code: string;
  readonly errorClass: string;
  /** At most {@link FAILURE_MESSAGE_MAX}: our own text with its facts, or the text of an error that is not ours. */
  readonly message: string;
  readonly httpStatus?: number;
  readonly httpReason?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * How a run that is finished ended. Each is a name in the log line and the metric.
 * - `reconciled`: acted and confirmed
 * - `settled`: nothing to do for this generation
 * - `gone`, `replaced`: no object of that name, or another one, where only the one in the envelope counts
 * - `paused`, `deleting`: left alone
 * - `not-selected`: outside the reconciler's selector, or held back by its predicate
 * - `finalized`: the finalizer is off
 * - `retry-superseded`: a retry for a generation that is no longer the object's
 * - `requeue-stale`: a wake-up that is not the one its object waits for
 */
export type Branch = (typeof BRANCHES)[number];

export const BRANCHES = [
  'reconciled',
  'settled',
  'gone',
  'replaced',
  'paused',
  'deleting',
  'not-selected',
  'finalized',
  'retry-superseded',
  'requeue-stale',
] as const;

/** What moved the object under a run: fields of others only, its spec, another run of ours, or another object of that name. */
export type OvertakenBy = (typeof OVERTAKEN_BY)[number];

export const OVERTAKEN_BY = ['foreign-fields', 'newer-spec', 'newer-run', 'replacement'] as const;

/** An outcome that says no more than how it failed. Architecture 3.3 has a row for each kind. */
export type FailedKind = (typeof FAILED_KINDS)[number];

export const FAILED_KINDS = [
  'transient',
  'denied',
  'waiting',
  'field-conflict',
  'author-error',
  'refused',
  'unknown-target',
  'unknown',
] as const;

/**
 * Everything that a run can come to. The facts of `overtaken` and `requeue-after` are the newest ones seen: what the next run has to
 * know. `requeue-after`: the run did what it had to, and is to be followed by another one, for the same uid, at `notBefore`.
 */
export type Outcome =
  | { readonly kind: 'finished'; readonly branch: Branch }
  | {
      readonly kind: 'overtaken';
      readonly by: OvertakenBy;
      readonly uid?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly generation?: number | undefined;
      /** The wake-up that the object found waits for, in Unix milliseconds. */
      readonly nextReconcileTime?: number | undefined;
    }
  | { readonly kind: FailedKind; readonly failure: Failure }
  | { readonly kind: 'circuit-open'; readonly waitSeconds: number }
  | { readonly kind: 'newer-type'; readonly type: string }
  | { readonly kind: 'not-due'; readonly notBefore: Date }
  | {
      readonly kind: 'requeue-after';
      readonly notBefore: Date;
      readonly uid?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly generation?: number | undefined;
      /** There is no object: nothing but the message knows since when it has been waited for. */
      readonly isGone?: true;
    };

/** The name of the way a run ended, as log line and metric have it: a branch of a finished one, who overtook it, else its kind. */
export function branchOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'finished':
      return outcome.branch;
    case 'overtaken':
      return `overtaken-${outcome.by}`;
    default:
      return outcome.kind;
  }
}

/** Where an error was thrown: in one of our reads, in the author's own function, or in one of our writes. */
export type Stage = 'read' | 'author' | 'write';

/** Codes that say more than their class does. */
const KIND_OF_CODE: Readonly<Record<string, FailedKind>> = {
  unauthorized: 'denied',
  forbidden: 'denied',
  'namespace-terminating': 'waiting',
  'namespace-missing': 'waiting',
  predecessor: 'waiting',
  'not-served': 'unknown-target',
  'unknown-cluster': 'unknown-target',
  'unknown-kind': 'unknown-target',
  'field-manager-conflict': 'field-conflict',
  'invalid-plan': 'author-error',
  // A CRD without /status cannot be healed by trying again: one letter with the remedy, no endless requeue.
  'status-subresource-missing': 'refused',
  // Whoever aborts a run at its deadline does so with this code; how far the run came is not known.
  deadline: 'unknown',
};

/**
 * The outcome of a run that threw `error` in `stage`. An error that is none of ours is the author's if it came out of the
 * author's function; anywhere else it is a fault of Dogwatch or of the runtime, hence unknown, and never swallowed. An
 * author may throw our classes: TransientError to wait longer, TerminalError to give up at once.
 */
export function outcomeOf(error: unknown, stage: Stage): Outcome {
  const failure = failureOf(error);
  const ours = asOurs(error);
  if (ours !== undefined) {
    const byCode = Object.hasOwn(KIND_OF_CODE, ours.code) ? KIND_OF_CODE[ours.code] : undefined;
    // Ours in name only: what throws it is the Plan, and it is tried again, which TerminalError denies.
    if (byCode === 'author-error') return { kind: byCode, failure: { ...failure, errorClass: 'AuthorError' } };
    if (byCode !== undefined) return { kind: byCode, failure };
    if (ours instanceof ConflictError) return { kind: 'overtaken', by: ours.code === 'uid-conflict' ? 'replacement' : 'newer-run' };
    return { kind: kindOfClass(ours), failure };
  }
  if (stage === 'author') return { kind: 'author-error', failure: { ...failure, code: 'author-error' } };
  // Outside of the author's function no signal but that of the deadline is given to a call; the deadline of a run in the author's
  // function arrives with a code of ours, whatever the author's calls make of the signal.
  const aborted = failure.errorClass === 'AbortError' || failure.errorClass === 'TimeoutError';
  if (aborted) return { kind: 'unknown', failure: { ...failure, code: 'deadline' } };
  return { kind: 'unknown', failure };
}

function kindOfClass(error: DogwatchError): FailedKind {
  if (error instanceof TransientError) return 'transient';
  if (error instanceof TerminalError) return 'refused';
  // A ConfigError says that we are deployed wrong. The message is not at fault: it stays in the queue.
  return 'unknown';
}

/** The failure of a type of ours that this release does not know, once it has waited for as long as a message may. */
export function newerTypeFailure(type: string): Failure {
  const message = `the message has type ${cutText(type, 100)}, which this release does not know; deploy a newer one, ${RUN_AGAIN}`;
  return { code: 'newer-type', errorClass: TerminalError.name, message };
}

/** The failure of a run that was overtaken once too often. */
export function overtakenFailure(by: OvertakenBy): Failure {
  const message = `the object changed under every run, the last time by ${by}; find who else writes it, ${RUN_AGAIN}`;
  return { code: 'overtaken', errorClass: ConflictError.name, message };
}

/** The failure of a run whose author did not end by its deadline. */
export function lateAuthorFailure(): Failure {
  const message = 'the run took too long: pass `signal` to every call, or raise DOGWATCH_RECORD_DEADLINE_SECONDS';
  return { code: 'deadline', errorClass: TransientError.name, message };
}

/**
 * Anything that can be thrown, as a failure; never throws itself. An error that is none of ours has code `unclassified`
 * and brings the message of its cause along, since `fetch failed` alone helps nobody. Causes of our own errors stay out:
 * they may quote a body, and whoever threw ours chose what to show.
 */
export function failureOf(error: unknown): Failure {
  const ours = asOurs(error);
  if (ours !== undefined) return failureOfOurs(ours);
  try {
    return { code: 'unclassified', errorClass: cutText(classOf(error), 64), message: cutText(textOf(error), FAILURE_MESSAGE_MAX) };
  } catch {
    // A getter or a proxy that throws; there is nothing more to learn from such a value.
    return { code: 'unclassified', errorClass: typeof error, message: 'something was thrown that cannot be read' };
  }
}

function asOurs(error: unknown): DogwatchError | undefined {
  try {
    return error instanceof DogwatchError ? error : undefined;
  } catch {
    // A proxy may throw for this question too.
    return undefined;
  }
}

function failureOfOurs(error: DogwatchError): Failure {
  const { httpStatus, httpReason, retryAfterSeconds: _shownApart, ...facts } = error.facts;
  const listed = Object.entries(facts).map(([name, value]) => `${name}: ${String(value)}`);
  const retryAfterSeconds = error instanceof TransientError ? error.retryAfterSeconds : undefined;
  return {
    // An author who writes no types may throw any: a code that is no text would make the next message unreadable.
    code: String(error.code),
    errorClass: error.name,
    message: cutText(listed.length === 0 ? error.message : `${error.message} (${listed.join(', ')})`, FAILURE_MESSAGE_MAX),
    ...(typeof httpStatus === 'number' ? { httpStatus } : {}),
    ...(typeof httpReason === 'string' ? { httpReason: cutText(httpReason, 64) } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

function classOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return error === null ? 'null' : typeof error;
  const { name } = error as { name?: unknown };
  return typeof name === 'string' && name !== '' ? name : 'object';
}

/** Only what an error says of itself: another object is not serialised, for it may be anything, a Secret too. */
function textOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error === 'function' ? 'a function was thrown' : String(error);
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  const own = typeof message === 'string' && message !== '' ? message : 'an error without message was thrown';
  const deeper = typeof cause === 'object' && cause !== null ? (cause as { message?: unknown }).message : undefined;
  return typeof deeper === 'string' && deeper !== '' && !own.includes(deeper) ? `${own}: ${deeper}` : own;
}
