/** What a message says when it is sent again. */
import { type EnvelopeData, HISTORY_MAX, type Lane } from '../../events/envelope.ts';
import { newestResourceVersion } from '../../events/resource-version.ts';
import { type DispositionContext, type Requeue, type RetryRow, rowOf } from './disposition.ts';
import { fitEnvelope, knownFieldsOnly, type Shortening, shortAttempts } from './fit-envelope.ts';
import type { Outcome } from './outcome.ts';
import { wholeSeconds } from './wake-time.ts';

/** The newest facts that a run has seen of its object. */
interface Seen {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
}

export interface RunFacts {
  readonly now: Date;
  /** The lane of the record; the next message goes there too. */
  readonly lane: Lane;
  /** True once the run sent any write, whatever became of it: then the next run may not trust the settled test. */
  readonly wrote: boolean;
  /** Left out where nothing was read. */
  readonly seen?: Seen | undefined;
  /** A record was received before: the run that died may have known more, and written more, than its message says. */
  readonly redelivered?: boolean;
  /** True if no server has reached the message's resourceVersion: it is one of a lost history, and no measure of what is newer. */
  readonly isPositionLost?: boolean;
}

/**
 * How much of its budget a message has used up. Age counts from the first sight of the change, less the time it was held
 * behind an open circuit; a clock that is ahead makes it 0. A letter that SQS's own redrive brought back begins anew.
 */
export function spentBudget(data: EnvelopeData, now: Date): Pick<DispositionContext, 'attempt' | 'failures' | 'ageSeconds'> {
  if (data.diagnosis !== undefined) return { attempt: 1, failures: undefined, ageSeconds: 0 };
  const ageSeconds = secondsSince(data.firstSeenAt, now) - (data.heldSeconds ?? 0);
  return { attempt: data.attempt, failures: data.failures, ageSeconds: Math.max(0, ageSeconds) };
}

/**
 * The data of a message as its run found the object. Another object of the name (by uid) begins a budget of its own: all that
 * failed before, failed for its predecessor.
 */
export function dataOfFound(data: EnvelopeData, outcome: Outcome, seen: Seen | undefined, now: Date): EnvelopeData {
  const found = factsOf(outcome).uid === undefined ? seen : factsOf(outcome);
  if (found?.uid === undefined || data.uid === undefined || found.uid === data.uid) return data;
  const { history: _history, failures: _failures, heldSeconds: _held, diagnosis: _diagnosis, generation: _generation, ...rest } = data;
  const { uid, generation } = found;
  return { ...rest, uid, ...(generation === undefined ? {} : { generation }), attempt: 1, firstSeenAt: now.toISOString() };
}

/**
 * The data of the message that follows a run, small enough to be sent. Fields that this release does not know are kept as
 * long as there is room.
 * - after a failure: reason `retry`, with the attempt added to the history; mustRun once a run wrote anything or was overtaken
 * - a hop (circuit open, not due): the same message, nothing spent
 * - to be woken: {@link wakeUpData}
 *
 * @throws RangeError for an outcome that is never sent again
 */
export function nextEnvelopeData(data: EnvelopeData, outcome: Outcome, requeue: Requeue, run: RunFacts): EnvelopeData {
  return fitEnvelope(nextData(data, outcome, requeue, run), SHORTENINGS);
}

function nextData(data: EnvelopeData, outcome: Outcome, requeue: Requeue, run: RunFacts): EnvelopeData {
  switch (outcome.kind) {
    case 'circuit-open':
      return hop(data, outcome, requeue, run);
    case 'not-due':
      return { ...data, lane: run.lane, notBefore: data.notBefore ?? wholeSeconds(outcome.notBefore) };
    case 'requeue-after':
      return { ...wakeUp(data, outcome.notBefore, newest(data, outcome, run)), ...(outcome.isGone ? waited(data, outcome.notBefore) : {}) };
    default: {
      const row = rowOf(outcome);
      if (row === undefined) throw new RangeError(`a message whose run is ${outcome.kind} is not sent again`);
      return retry(data, outcome, row, requeue, run);
    }
  }
}

/** The same message, unless something was or may have been written: the next run, which cannot see that, then takes nothing on trust. */
function hop(data: EnvelopeData, outcome: Outcome, { delaySeconds }: Requeue, run: RunFacts): EnvelopeData {
  const held = { ...data, lane: run.lane, heldSeconds: (data.heldSeconds ?? 0) + delaySeconds };
  if (!run.wrote && !run.redelivered) return held;
  return { ...held, ...newest(data, outcome, run), mustRun: true, reason: data.reason === 'requeue' ? 'retry' : data.reason };
}

function retry(data: EnvelopeData, outcome: Outcome, row: RetryRow, requeue: Requeue, run: RunFacts): EnvelopeData {
  const { diagnosis, notBefore: _over, ...rest } = data;
  const { attempt } = spentBudget(data, run.now);
  const failures = diagnosis === undefined ? data.failures : undefined;
  const held = diagnosis === undefined ? data.heldSeconds : secondsSince(data.firstSeenAt, run.now);
  const failed = { attempt, at: run.now.toISOString(), code: codeOf(outcome) };
  const isAttempt = requeue.attempt > attempt;
  return {
    ...rest,
    ...newest(data, outcome, run),
    reason: 'retry',
    mustRun: data.mustRun || run.wrote || outcome.kind === 'overtaken',
    attempt: requeue.attempt,
    ...(held === undefined ? {} : { heldSeconds: held }),
    lane: run.lane,
    history: isAttempt ? [...(data.history ?? []), failed].slice(-HISTORY_MAX) : (data.history ?? []),
    failures: { ...failures, [row]: (failures?.[row] ?? 0) + 1 },
  };
}

/**
 * The data of the message that wakes the object at `notBefore`, whatever else is sent after the run: reason `requeue` with a new
 * budget, which begins when it is due.
 */
export function wakeUpData(data: EnvelopeData, outcome: Outcome, notBefore: Date, run: RunFacts): EnvelopeData {
  return fitEnvelope(wakeUp(data, notBefore, newest(data, outcome, run)), SHORTENINGS);
}

function wakeUp(data: EnvelopeData, notBefore: Date, seen: Seen): EnvelopeData {
  const { history: _history, failures: _failures, heldSeconds: _held, diagnosis: _diagnosis, replay: _replay, ...rest } = data;
  const due = wholeSeconds(notBefore);
  return {
    ...rest,
    ...seen,
    reason: 'requeue',
    mustRun: true,
    attempt: 1,
    firstSeenAt: due,
    notBefore: due,
    lane: 'live',
  };
}

/** Since when it has been waited for. Its budget begins when it is due all the same: until then it counts as held. */
function waited({ firstSeenAt }: EnvelopeData, until: Date): Pick<EnvelopeData, 'firstSeenAt' | 'heldSeconds'> {
  return { firstSeenAt, heldSeconds: secondsSince(firstSeenAt, until) };
}

/**
 * uid, resourceVersion and generation as last seen; what an overtaken run found counts more than what it had read before.
 * undefined where nobody knows, which is left out of the JSON.
 */
function newest(data: EnvelopeData, outcome: Outcome, { seen = {}, isPositionLost = false, redelivered = false }: RunFacts): Seen {
  const found = factsOf(outcome);
  // What the run before has read is not known, so only the newest is not older; the next record says that it is a first one.
  const isUnread = redelivered && seen.resourceVersion === undefined && found.resourceVersion === undefined;
  const versions = [isPositionLost ? undefined : data.resourceVersion, seen.resourceVersion, found.resourceVersion];
  // After a restore of etcd no server reaches this version again: the next run reads the newest there is.
  const isBeyond = outcome.kind === 'transient' && outcome.failure.code === 'resource-version-too-large';
  return {
    uid: found.uid ?? seen.uid ?? data.uid,
    resourceVersion: isBeyond || isUnread ? undefined : versions.reduce(newestResourceVersion),
    generation: found.generation ?? seen.generation ?? data.generation,
  };
}

/** What an outcome says of the object that the next run is for. */
function factsOf(outcome: Outcome): Seen {
  return outcome.kind === 'overtaken' || outcome.kind === 'requeue-after' ? outcome : {};
}

function codeOf(outcome: Outcome): string {
  if ('failure' in outcome) return outcome.failure.code;
  return outcome.kind === 'overtaken' ? `overtaken-${outcome.by}` : outcome.kind;
}

function secondsSince(instant: string, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - Date.parse(instant)) / 1000));
}

const SHORTENINGS: readonly Shortening[] = [
  (data) => ({ ...data, history: shortAttempts((data.history ?? []).slice(-3)) }),
  knownFieldsOnly,
  (data) => ({ ...data, history: [] }),
];
