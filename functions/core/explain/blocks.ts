/**
 * What stops an object that is there, whatever a run of it would come to. In the order of this list, so that what is told first is what has
 * to be done first: each entry makes it futile to mend any of those behind it.
 *
 * 1. `paused`: whoever runs the object ends at once, a replayed letter too, and a deletion waits
 * 2. `held-by-former`, `held-by-others`: its deletion is no more of ours, and nothing else is done for what is being deleted
 * 3. `not-selected`: runs end at once; a deletion does not ask
 * 4. `crd-lacks`: every run does its work and cannot say so, and ends as a letter again
 * 5. `namespace-ending`: whatever a run applies there is refused
 * 6. `no-right`: a run fails by it, as the object or its letter says, or nothing was ever heard of one
 * 7. `dead-letter`, `given-up`: nobody tries any more, so that somebody has to send it again
 */
import type { ClusterFacts } from '../doctor/facts.ts';
import { kindFindings } from '../doctor/kind-checks.ts';
import { rightsFindings } from '../doctor/right-checks.ts';
import { fullNameOf } from '../kind-names.ts';
import type { Unit } from '../settings.ts';
import type { FoundFacts, LetterFacts } from './facts.ts';
import { codesOf, isAboutCrd, isAboutRights, readyFailure, stalledOf } from './failures.ts';
import type { Verdict } from './verdict.ts';

/** All that apply, the first of which is the verdict. */
export function blocksOf(facts: FoundFacts): readonly Verdict[] {
  return CHECKS.flatMap((check) => check(facts) ?? []);
}

type Check = (facts: FoundFacts) => Verdict | undefined;

const CHECKS: readonly Check[] = [pause, deletion, selection, crd, namespace, rights, deadLetter];

/** Those that were found; none where nobody looked. */
function lettersOf({ letters }: Pick<FoundFacts, 'letters'>): readonly LetterFacts[] {
  return letters.kind === 'told' ? letters.value : [];
}

/** Seconds for which something has been so; 0 for a time that is ahead, by another clock. */
export function secondsSince(sinceMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
}

/** True where a run would have something to do. */
function isUndone({ object, reconciler }: FoundFacts): boolean {
  if (object.deletingSinceMs !== undefined) return object.isHeld;
  return reconciler.resource.isDescribed || !object.isSettled;
}

function pause({ object }: FoundFacts): Verdict | undefined {
  return object.isPaused ? { kind: 'paused', isDeleting: object.deletingSinceMs !== undefined } : undefined;
}

function deletion({ object, nowMs, limits }: FoundFacts): Verdict | undefined {
  const { deletingSinceMs, isHeld, otherFinalizers, formerFinalizers } = object;
  if (deletingSinceMs === undefined || isHeld) return undefined;
  if (formerFinalizers.length > 0) return { kind: 'held-by-former', finalizers: formerFinalizers };
  const sinceSeconds = secondsSince(deletingSinceMs, nowMs);
  if (otherFinalizers.length === 0 || sinceSeconds < limits.healAfterSeconds) return undefined;
  return { kind: 'held-by-others', finalizers: otherFinalizers, sinceSeconds };
}

function selection({ object }: FoundFacts): Verdict | undefined {
  if (object.deletingSinceMs !== undefined || object.outside === undefined) return undefined;
  return { kind: 'not-selected', outside: object.outside };
}

/** What the CRD lacks by itself, by what stands on the object, and by what failed. */
function crd(facts: FoundFacts): Verdict | undefined {
  const { object, reconciler, cluster } = facts;
  const { resource } = reconciler;
  if (resource.isDescribed || object.deletingSinceMs !== undefined || !isUndone(facts)) return undefined;
  const wanted = ['served', 'status', 'conditions', 'status fields'].map((what) => `${resource.kind}: ${what}`);
  const found = kindFindings(cluster, [reconciler]).find(({ outcome, check }) => outcome === 'failure' && wanted.includes(check));
  if (found !== undefined) return { kind: 'crd-lacks', what: `the CRD ${fullNameOf(resource)} is not as it has to be: ${found.says}` };
  if (object.statusFault !== undefined) return { kind: 'crd-lacks', what: object.statusFault };
  const code = codesOf(object, lettersOf(facts)).find(isAboutCrd);
  return code === undefined
    ? undefined
    : { kind: 'crd-lacks', what: `the CRD ${fullNameOf(resource)} cannot keep what a run says (${code})` };
}

function namespace(facts: FoundFacts): Verdict | undefined {
  const { object, isNamespaceEnding } = facts;
  if (isNamespaceEnding?.kind !== 'told' || !isNamespaceEnding.value) return undefined;
  return object.deletingSinceMs === undefined && isUndone(facts) ? { kind: 'namespace-ending' } : undefined;
}

/**
 * Asked in the name of whoever asks, who may have fewer rights than the function. So what is missing counts only for somebody who may do most
 * of what the process needs, and so may be it; and only where a run says so as well, or where none has said anything for longer than its
 * message may take: without a right to `/status` none can.
 */
function rights(facts: FoundFacts): Verdict | undefined {
  const { object, cluster } = facts;
  if (!isUndone(facts)) return undefined;
  const codes = codesOf(object, lettersOf(facts));
  const isShown = codes.some(isAboutRights);
  const ofFunction = mayBe(cluster, 'reconcile') ? missingRights(cluster, 'reconcile') : [];
  const ofWatcher = isShown || !mayBe(cluster, 'watcher') ? [] : missingRights(cluster, 'watcher');
  const missing = [...ofFunction, ...ofWatcher];
  const isSilent = readyFailure(object) === undefined && codes.length === 0 && isLate(facts) && !facts.reconciler.resource.isDescribed;
  if (missing.length === 0 || !(isShown || isSilent)) return undefined;
  const user = cluster.user.kind === 'told' ? cluster.user.value : 'whoever asks';
  return { kind: 'no-right', missing, user, isShown, unit: ofFunction.length > 0 ? 'reconcile' : 'watcher' };
}

/** True for an identity that may do most of what the process needs. */
function mayBe({ rights }: Pick<ClusterFacts, 'rights'>, unit: Unit): boolean {
  const answers = rights[unit] ?? [];
  const allowed = answers.filter(({ isAllowed }) => isAllowed.kind === 'told' && isAllowed.value);
  return allowed.length > answers.length / 2;
}

/** `may not patch tenants.platform.example/status`, and so on. */
export function missingRights(cluster: Pick<ClusterFacts, 'name' | 'rights'>, unit: Unit): string[] {
  return rightsFindings(cluster, unit).flatMap(({ outcome, says }) => (outcome === 'failure' ? [says] : []));
}

function deadLetter(facts: FoundFacts): Verdict | undefined {
  const { object, letters } = facts;
  const waiting = lettersOf(facts).filter((letter) => letter.needsRun && isLastWord(letter, facts));
  const newest = waiting.toSorted((a, b) => (b.deadLetteredMs ?? 0) - (a.deadLetteredMs ?? 0))[0];
  if (newest !== undefined) {
    const { code, message, because } = newest;
    return { kind: 'dead-letter', code, message, count: waiting.length, because };
  }
  if (stalledOf(object) === undefined) return undefined;
  const { reason = 'Stalled', message = '' } = readyFailure(object) ?? {};
  return { kind: 'given-up', failure: { reason, message }, isLooked: letters.kind === 'told' };
}

/** False while a later generation has a message of its own, or may have: that one does what the letter asks for. */
function isLastWord({ generation }: LetterFacts, facts: FoundFacts): boolean {
  const { object } = facts;
  const isOlder = generation !== undefined && object.generation !== undefined && generation < object.generation;
  if (!isOlder || stalledOf(object) !== undefined) return true;
  return readyFailure(object) === undefined && isLate(facts);
}

/** Its message has had the time that it may take. */
function isLate({ object, nowMs, limits }: FoundFacts): boolean {
  const changedMs = object.deletingSinceMs ?? object.changedMs;
  return changedMs === undefined || secondsSince(changedMs, nowMs) >= limits.healAfterSeconds;
}
