/**
 * The circuit of one cluster: whether to ask it at all. Once it has failed to answer {@link OPENS_AFTER} times in a row it is left
 * alone for a while, then one run at a time may try; that run's end closes the circuit or doubles the wait. Times are
 * milliseconds of a clock that never goes back.
 */
import { DogwatchError, TransientError } from './errors.ts';

/** Failures in a row, with no answer between them, that open a circuit. */
const OPENS_AFTER = 5;

/** A call that our own deadline ended after this time is taken for one that gets no answer; of a shorter one nothing is known. */
const HANGS_AFTER_MS = 500;

/** Failures that speak of the cluster and of no object: not reached, no answer in time, too much of it, our credentials. */
const CLUSTER_CODES: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'throttled', 'unauthorized']);

export interface CircuitLimits {
  /** The first wait, in seconds; and how long to wait while a probe is under way. */
  readonly openSeconds: number;
  readonly openMaxSeconds: number;
}

/** What one call says of its cluster. `nothing`: it was not answered, but not long enough to tell. */
export type CallResult = { readonly kind: 'answer' } | { readonly kind: 'nothing' } | ClusterFailure;

export interface ClusterFailure {
  readonly kind: 'failure';
  readonly code: string;
  /** What the server asked for, in seconds: the circuit stays open no shorter. */
  readonly retryAfterSeconds: number | undefined;
}

/**
 * - `closed`: whoever asks may call; `failures` in a row so far, none of which wants to be asked before `notBeforeMs`
 * - `open`: nobody may call before `untilMs`
 * - `half-open`: one run, the probe, is under way; nobody else may call
 *
 * `era` grows whenever a circuit opens: what a run of an earlier era has to tell is out of date.
 */
export type Circuit =
  | { readonly kind: 'closed'; readonly era: number; readonly failures: number; readonly notBeforeMs: number }
  | (Broken & { readonly kind: 'open'; readonly untilMs: number })
  | (Broken & { readonly kind: 'half-open' });

interface Broken {
  readonly era: number;
  readonly failures: number;
  /** The wait of this era without what the server asked for: the next one is twice as long. */
  readonly openSeconds: number;
  readonly code: string;
}

export const CLOSED: Circuit = { kind: 'closed', era: 0, failures: 0, notBeforeMs: 0 };

/** Whether a run may call: as one of many, as the probe, or not before so many seconds (1 or more) have passed. */
export type Admission = { readonly kind: 'go' | 'probe'; readonly circuit: Circuit } | { readonly kind: 'wait'; readonly seconds: number };

/** Whether a run may call at `nowMs`, and the circuit as that leaves it: after an open one's wait, this run is its probe. */
export function admit(circuit: Circuit, nowMs: number, limits: CircuitLimits): Admission {
  switch (circuit.kind) {
    case 'closed':
      return { kind: 'go', circuit };
    case 'half-open':
      return { kind: 'wait', seconds: limits.openSeconds };
    case 'open': {
      if (nowMs < circuit.untilMs) return { kind: 'wait', seconds: secondsUntil(circuit.untilMs, nowMs) };
      const { untilMs: _over, ...broken } = circuit;
      return { kind: 'probe', circuit: { ...broken, kind: 'half-open' } };
    }
  }
}

/** The circuit after a run of its era met a failure. */
export function afterFailure(
  circuit: Circuit,
  { code, retryAfterSeconds = 0 }: ClusterFailure,
  nowMs: number,
  limits: CircuitLimits,
): Circuit {
  if (circuit.kind === 'open') return circuit;
  const failures = circuit.failures + 1;
  const askedMs = nowMs + retryAfterSeconds * 1000;
  const notBeforeMs = circuit.kind === 'closed' ? Math.max(circuit.notBeforeMs, askedMs) : askedMs;
  if (circuit.kind === 'closed' && failures < OPENS_AFTER) return { ...circuit, failures, notBeforeMs };
  const openSeconds = circuit.kind === 'closed' ? limits.openSeconds : Math.min(2 * circuit.openSeconds, limits.openMaxSeconds);
  const untilMs = Math.max(nowMs + openSeconds * 1000, notBeforeMs);
  return { kind: 'open', era: circuit.era + 1, failures, openSeconds, code, untilMs };
}

/** The circuit after a run of its era got an answer, whatever it was. That of a probe counts once it has ended. */
export function afterAnswer(circuit: Circuit): Circuit {
  return circuit.kind === 'closed' && circuit.failures > 0 ? { ...circuit, failures: 0, notBeforeMs: 0 } : circuit;
}

/** The circuit after its probe ended without a failure: closed if it got an answer; else the next run is the probe. */
export function afterProbe(circuit: Circuit, isAnswered: boolean, nowMs: number): Circuit {
  if (circuit.kind !== 'half-open') return circuit;
  return isAnswered ? { ...CLOSED, era: circuit.era } : { ...circuit, kind: 'open', untilMs: nowMs };
}

/** How long an open circuit stays so, in whole seconds of 1 or more. */
export function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
}

/**
 * What a call says of its cluster that ended with `error` (undefined: with a result). An error of ours that is no failure of the
 * cluster is an answer: a 500 or 422 of one object too.
 */
export function callResult(error: unknown): CallResult {
  if (error === undefined) return { kind: 'answer' };
  if (error instanceof TransientError && CLUSTER_CODES.has(error.code)) {
    return { kind: 'failure', code: error.code, retryAfterSeconds: error.retryAfterSeconds };
  }
  return { kind: error instanceof DogwatchError ? 'answer' : 'nothing' };
}

/** What a call says of its cluster that our own deadline ended after `tookMs`. */
export function cutShortResult(tookMs: number): CallResult {
  return tookMs >= HANGS_AFTER_MS ? { kind: 'failure', code: 'timeout', retryAfterSeconds: undefined } : { kind: 'nothing' };
}
