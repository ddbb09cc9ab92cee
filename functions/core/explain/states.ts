/** Where an object is on its way from changed to reconciled, where nothing stops it: exactly one of these is the case. */
import { OVERDUE_SECONDS } from '../../../events/healing.ts';
import { READY } from '../conditions.ts';
import { secondsSince } from './blocks.ts';
import type { CellView, FoundFacts } from './facts.ts';
import { readyFailure } from './failures.ts';
import type { Said, Verdict, WatcherFault } from './verdict.ts';

/** What lasts longer does not pass by itself, whatever it is. */
const PASSES_SECONDS = 3600;

/** What is shown by the object comes before what is inferred from time, and what the watcher says before what is inferred from silence. */
export function stateOf(facts: FoundFacts): Verdict {
  const { object } = facts;
  if (object.deletingSinceMs !== undefined)
    return object.isHeld ? heldState(facts, object.deletingSinceMs) : deletingState(facts, object.deletingSinceMs);
  if (facts.reconciler.resource.isDescribed) return { kind: 'described' };
  return failureState(facts) ?? (object.isSettled ? settledState(facts) : (revisionState(facts) ?? unsettledState(facts)));
}

/** A run failed since; of an object that is settled only where the reason is one of ours, since its author may say Ready=False as well. */
function failureState({ object, nowMs }: FoundFacts): Verdict | undefined {
  const failure = readyFailure(object);
  if (failure === undefined || (failure.code === undefined && wasDone(object))) return undefined;
  const { isSettled } = object;
  const sinceMs = Date.parse(failure.since ?? '');
  const isPassing = failure.isPassing && !(secondsSince(sinceMs, nowMs) >= PASSES_SECONDS);
  return { kind: isPassing ? 'retrying' : 'failing', failure, isDeleting: object.deletingSinceMs !== undefined, isSettled };
}

/** Some run did everything for this generation, of whatever revision it was. */
function wasDone({ generation, observedGeneration }: FoundFacts['object']): boolean {
  return generation !== undefined && observedGeneration === generation;
}

function settledState({ object, nowMs, limits }: FoundFacts): Verdict {
  const { nextMs, generation } = object;
  const ready = notReady(object.conditions, generation);
  if (nextMs !== undefined && nextMs > nowMs)
    return { kind: 'waiting', untilMs: nextMs, seconds: Math.ceil((nextMs - nowMs) / 1000), isDeleting: false, ready };
  if (nextMs !== undefined) {
    const seconds = secondsSince(nextMs, nowMs);
    // By then the watcher has asked for it again, if there is one.
    return { kind: seconds < OVERDUE_SECONDS + limits.healAfterSeconds ? 'due' : 'overdue', seconds };
  }
  return ready === undefined ? { kind: 'settled' } : { kind: 'not-ready', ready };
}

function notReady(conditions: FoundFacts['object']['conditions'], generation: number | undefined): Said | undefined {
  const ready = conditions.find(({ type }) => type === READY);
  if (ready === undefined || ready.status === 'True' || ready.observedGeneration !== generation) return undefined;
  return { reason: ready.reason ?? String(ready.status), message: ready.message ?? '' };
}

function revisionState({ object, reconciler }: FoundFacts): Verdict | undefined {
  if (!wasDone(object)) return undefined;
  return { kind: 'other-revision', observed: object.observedRevision ?? 1, revision: reconciler.revision };
}

function deletingState({ object, nowMs }: FoundFacts, sinceMs: number): Verdict {
  return { kind: 'deleting', finalizers: object.otherFinalizers, sinceSeconds: secondsSince(sinceMs, nowMs), isHeld: false };
}

function heldState(facts: FoundFacts, sinceMs: number): Verdict {
  const { object, nowMs, limits, reconciler } = facts;
  const failed = failureState(facts);
  if (failed !== undefined) return failed;
  const { nextMs } = object;
  // A time from before the deletion began says nothing: its wake-up is stale.
  if (nextMs !== undefined && nextMs > nowMs) {
    return { kind: 'waiting', untilMs: nextMs, seconds: Math.ceil((nextMs - nowMs) / 1000), isDeleting: true, ready: undefined };
  }
  const sinceSeconds = secondsSince(sinceMs, nowMs);
  const isYoung = sinceSeconds < limits.healAfterSeconds;
  const fault = watcherFault(facts, isYoung);
  if (fault !== undefined) return fault;
  const finalizer = reconciler.finalization?.name ?? '';
  return isYoung
    ? { kind: 'deleting', finalizers: [finalizer, ...object.otherFinalizers], sinceSeconds, isHeld: true }
    : { kind: 'held-by-us', finalizer, sinceSeconds };
}

function unsettledState(facts: FoundFacts): Verdict {
  const { object, nowMs, limits } = facts;
  const sinceSeconds = object.changedMs === undefined ? undefined : secondsSince(object.changedMs, nowMs);
  const isYoung = sinceSeconds !== undefined && sinceSeconds < limits.healAfterSeconds;
  const fault = watcherFault(facts, isYoung);
  if (fault !== undefined) return fault;
  if (isYoung) return { kind: 'on-its-way', sinceSeconds, changeCount: changesOf(object) };
  if (facts.watcher.kind !== 'told') return { kind: 'not-seen', sinceSeconds };
  return { kind: 'not-run', sinceSeconds, outboxCount: facts.watcher.value.cell?.outboxCount ?? 0 };
}

/** Changes of the spec since it was reconciled; undefined where it never was. */
function changesOf({ generation = 0, observedGeneration }: FoundFacts['object']): number | undefined {
  return observedGeneration === undefined || observedGeneration > generation ? undefined : generation - observedGeneration;
}

/** What the watcher says is wrong; what may pass within the time that a message may take is not. */
function watcherFault({ watcher, limits }: FoundFacts, isYoung: boolean): WatcherFault | undefined {
  if (watcher.kind !== 'told') return undefined;
  const { hasCluster, cell } = watcher.value;
  if (!hasCluster) return { kind: 'watcher-without-cluster' };
  if (cell === undefined) return { kind: 'watcher-without-kind' };
  return cellFault(cell, limits.silenceSeconds, isYoung);
}

function cellFault(cell: CellView, silenceSeconds: number, isYoung: boolean): WatcherFault | undefined {
  const { isStreaming, phase, lastEventAgeSeconds: age, refusedCount } = cell;
  if (!isStreaming && (phase === 'failing' || phase === 'stopped')) return { kind: 'stream-down', cell };
  if (isYoung) return undefined;
  if (!isStreaming) return { kind: phase === 'listing' ? 'not-listed' : 'stream-down', cell };
  if (age !== undefined && age > silenceSeconds) return { kind: 'stream-silent', cell, ageSeconds: Math.floor(age) };
  // Those that wait tell nothing: of a large kind some repairs always do.
  return refusedCount > 0 ? { kind: 'not-sent', cell } : undefined;
}
