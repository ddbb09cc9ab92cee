/**
 * What happens next to a message whose run has come to an outcome: exactly one of done, requeue, dead-letter, fail-item.
 *
 * What is known is sent again with a delay, by us, so that delay and budget are ours. What is unknown (a crash, a deadline)
 * fails its item: SQS hands it out again and in the end moves it to the dead-letter queue by itself.
 */
import { backoffSeconds, DELAY_MAX_SECONDS } from './backoff.ts';
import { type FailedKind, type Failure, newerTypeFailure, type Outcome, overtakenFailure } from './outcome.ts';

/** How long a message is tried. From the configuration: see `budgetsOf` in config.ts. */
export interface Budgets {
  /** Base of the backoff after transient and author errors. */
  readonly retryBaseSeconds: number;
  readonly maxAgeSeconds: number;
  /** Author errors. */
  readonly maxAttempts: number;
  readonly overtakenMaxAttempts: number;
}

/** How often a message has failed, by row of the table below. Written by `nextEnvelopeData`. */
type FailureCounts = Readonly<Record<string, number>>;

export interface DispositionContext {
  /** Which attempt this run was; 1 is the first. Whatever a message says counts as an integer of 1 or more. */
  readonly attempt: number;
  /** How often the message failed before, by row. Left out: every attempt before failed as this one did. */
  readonly failures?: FailureCounts | undefined;
  /** Time since the change was first seen, less the time it was held. Negative (a clock that is ahead) counts as 0. */
  readonly ageSeconds: number;
  /** A number in [0, 1). */
  readonly random: number;
  readonly now: Date;
  readonly budgets: Budgets;
}

/**
 * - `done`: acknowledge
 * - `requeue`: send the message again with `delaySeconds` (0 to 900), then acknowledge. `attempt` is the next run's.
 *   `notBefore`, in whole seconds, where the wait is longer than one delay.
 * - `dead-letter`: send a letter, then acknowledge. `because` says which limit was reached; `refused` is none.
 * - `fail-item`: report the record as failed
 */
export type Disposition =
  | { readonly kind: 'done' }
  | Requeue
  | { readonly kind: 'dead-letter'; readonly failure: Failure; readonly because: 'refused' | 'age' | 'attempts' }
  | { readonly kind: 'fail-item' };

export interface Requeue {
  readonly kind: 'requeue';
  readonly delaySeconds: number;
  readonly attempt: number;
  readonly notBefore?: Date;
}

/** The rows that are tried again: failures of their kind, how long to wait, and what ends it. */
export type RetryRow = Exclude<FailedKind, 'refused' | 'unknown'> | 'overtaken' | 'foreign-fields' | 'newer-type';

interface RetryRule {
  /** Jittered and doubling from base to cap, or always the same. */
  readonly wait: { readonly baseSeconds: number; readonly capSeconds: number } | { readonly everySeconds: number };
  readonly ends: { readonly maxAgeSeconds: number } | { readonly maxAttempts: number };
  /** False: such a failure is no attempt. */
  readonly isAttempt?: false;
}

/** Architecture 3.3, the rows with a budget. */
function retryRules(budgets: Budgets): Readonly<Record<RetryRow, RetryRule>> {
  const { retryBaseSeconds, maxAgeSeconds, maxAttempts, overtakenMaxAttempts } = budgets;
  return {
    overtaken: { wait: { baseSeconds: 1, capSeconds: 60 }, ends: { maxAttempts: overtakenMaxAttempts } },
    'foreign-fields': { wait: { baseSeconds: 1, capSeconds: 60 }, ends: { maxAgeSeconds }, isAttempt: false },
    transient: { wait: { baseSeconds: retryBaseSeconds, capSeconds: 900 }, ends: { maxAgeSeconds } },
    denied: { wait: { baseSeconds: 30, capSeconds: 900 }, ends: { maxAgeSeconds } },
    waiting: { wait: { baseSeconds: 3, capSeconds: 60 }, ends: { maxAgeSeconds } },
    'field-conflict': { wait: { baseSeconds: 30, capSeconds: 900 }, ends: { maxAgeSeconds } },
    'author-error': { wait: { baseSeconds: retryBaseSeconds, capSeconds: 900 }, ends: { maxAttempts } },
    'unknown-target': { wait: { everySeconds: 300 }, ends: { maxAgeSeconds } },
    'newer-type': { wait: { everySeconds: 300 }, ends: { maxAgeSeconds } },
  };
}

/** The disposition of a run. Never throws for what a message says; throws RangeError for budgets or random out of bounds. */
export function dispose(outcome: Outcome, context: DispositionContext): Disposition {
  switch (outcome.kind) {
    case 'finished':
      return { kind: 'done' };
    case 'refused':
      return { kind: 'dead-letter', failure: outcome.failure, because: 'refused' };
    case 'unknown':
      return { kind: 'fail-item' };
    case 'overtaken':
      return retry(outcome.by === 'foreign-fields' ? 'foreign-fields' : 'overtaken', overtakenFailure(outcome.by), context);
    case 'newer-type':
      return retry('newer-type', newerTypeFailure(outcome.type), context);
    case 'transient':
    case 'denied':
    case 'waiting':
    case 'field-conflict':
    case 'author-error':
    case 'unknown-target':
      return retry(outcome.kind, outcome.failure, context);
    case 'circuit-open':
      return {
        kind: 'requeue',
        delaySeconds: heldSeconds(outcome.waitSeconds, context.random),
        attempt: whole(context.attempt),
      };
    case 'not-due':
      return wake(outcome.notBefore, whole(context.attempt), context.now);
    case 'requeue-after':
      return wake(outcome.notBefore, 1, context.now);
  }
}

/** The row that a failed outcome is counted in; undefined for an outcome that is not tried again as a failure. */
export function rowOf(outcome: Outcome): RetryRow | undefined {
  switch (outcome.kind) {
    case 'overtaken':
      return outcome.by === 'foreign-fields' ? 'foreign-fields' : 'overtaken';
    case 'newer-type':
    case 'transient':
    case 'denied':
    case 'waiting':
    case 'field-conflict':
    case 'author-error':
    case 'unknown-target':
      return outcome.kind;
    case 'finished':
    case 'refused':
    case 'unknown':
    case 'circuit-open':
    case 'not-due':
    case 'requeue-after':
      return undefined;
  }
}

function retry(row: RetryRow, failure: Failure, context: DispositionContext): Disposition {
  const { wait, ends, isAttempt = true } = retryRules(context.budgets)[row];
  const attempt = whole(context.attempt);
  const nth = nthFailure(row, attempt, isAttempt, context.failures);
  if ('maxAgeSeconds' in ends) {
    if (context.ageSeconds >= ends.maxAgeSeconds) return { kind: 'dead-letter', failure, because: 'age' };
  } else if (nth >= ends.maxAttempts) {
    return { kind: 'dead-letter', failure, because: 'attempts' };
  }
  const { random } = context;
  const delaySeconds =
    'everySeconds' in wait ? wait.everySeconds : backoffSeconds({ ...wait, attempt: nth, random, floorSeconds: failure.retryAfterSeconds });
  return { kind: 'requeue', delaySeconds, attempt: isAttempt ? attempt + 1 : attempt };
}

/**
 * How often the message has failed by now in this row: an hour without API server is not held against the author's first
 * error. Never more than the attempts there were: records of one object are folded, and the smallest attempt is a new budget.
 */
function nthFailure(row: RetryRow, attempt: number, isAttempt: boolean, failures: FailureCounts | undefined): number {
  if (!isAttempt) return whole((failures?.[row] ?? 0) + 1);
  return failures === undefined ? attempt : Math.min(attempt, whole((failures[row] ?? 0) + 1));
}

/** Of all that was held, not everything comes back in the second in which the circuit lets one probe through; nor at the longest delay. */
function heldSeconds(waitSeconds: number, random: number): number {
  const least = waitSeconds > 0 ? Math.min(waitSeconds, DELAY_MAX_SECONDS * 0.8) : 1;
  return delay(least * (1 + random / 4));
}

/** A hop towards `notBefore`: SQS delays for 900 seconds at most, so a longer wait is several hops. No attempt is spent. */
export function wake(notBefore: Date, attempt: number, now: Date): Requeue {
  return { kind: 'requeue', delaySeconds: delay((notBefore.getTime() - now.getTime()) / 1000), attempt, notBefore };
}

/** Whole seconds from 1 to 900. */
function delay(seconds: number): number {
  return seconds > 1 ? Math.min(DELAY_MAX_SECONDS, Math.ceil(seconds)) : 1;
}

/** A count that a message brought along: an integer of 1 or more, whatever it said. */
function whole(count: number): number {
  return Number.isSafeInteger(count) && count >= 1 ? count : 1;
}
