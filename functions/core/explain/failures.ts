/** What a failure that an object shows is by its reason: whether it may pass by itself, and what else there is to say of it. */
import { type Condition, READY, STALLED } from '../conditions.ts';
import { reasonOf } from '../status.ts';
import type { LetterFacts, ObjectFacts } from './facts.ts';

/** Codes of failures that pass by themselves, as a rule. */
const PASSING = [
  'unreachable',
  'timeout',
  'throttled',
  'server-error',
  'resource-version-too-large',
  'expired',
  'bad-response',
  'bad-frame',
  'namespace-terminating',
  'namespace-missing',
  'predecessor',
  'circuit-open',
] as const;

/** And of those that somebody has to see to. An author's own codes are in neither list. */
const LASTING = [
  'unauthorized',
  'forbidden',
  'not-served',
  'unknown-cluster',
  'unknown-kind',
  'field-manager-conflict',
  'child-not-owned',
  'invalid',
  'invalid-object',
  'invalid-plan',
  'final-server-error',
  'bad-request',
  'response-too-large',
  'author-error',
  'deadline',
  'overtaken',
  'newer-type',
  'unclassified',
  'conditions-not-mergeable',
  'status-field-missing',
  'status-subresource-missing',
] as const;

const CODES = new Map([...PASSING, ...LASTING].map((code): [string, string] => [reasonOf(code), code]));
const PASSING_CODES: ReadonlySet<string> = new Set(PASSING);

/** Codes that say that the CRD, and no object of it, is to be mended. */
const CRD_CODES: ReadonlySet<string> = new Set(['conditions-not-mergeable', 'status-field-missing', 'status-subresource-missing']);
const RIGHT_CODES: ReadonlySet<string> = new Set(['forbidden', 'unauthorized']);

/** The code of a failure of ours that the reason of a condition stands for; undefined for an author's own. */
export function codeOfReason(reason: string): string | undefined {
  return CODES.get(reason);
}

/** A failure of a run as the object shows it. */
export interface ShownFailure {
  /** Of the condition. */
  readonly reason: string;
  readonly message: string;
  /** Undefined for a reason that is not one of ours: an author's own code, or what a run that succeeded says. */
  readonly code: string | undefined;
  /** It may pass by itself. */
  readonly isPassing: boolean;
  readonly since: string | undefined;
}

/** Ready=False for the generation that the object has; undefined where it is not. */
export function readyFailure(object: Pick<ObjectFacts, 'conditions' | 'generation'>): ShownFailure | undefined {
  const ready = object.conditions.find(({ type }) => type === READY);
  if (ready?.status !== 'False' || ready.observedGeneration !== object.generation) return undefined;
  const { reason = '', message = '', lastTransitionTime: since } = ready;
  const code = codeOfReason(reason);
  return { reason, message, code, isPassing: code !== undefined && PASSING_CODES.has(code), since };
}

/** Condition Stalled for the generation that the object has. */
export function stalledOf(object: Pick<ObjectFacts, 'conditions' | 'generation'>): Partial<Condition> | undefined {
  const stalled = object.conditions.find(({ type }) => type === STALLED);
  return stalled?.status === 'True' && stalled.observedGeneration === object.generation ? stalled : undefined;
}

/** Codes of all that failed, of the object and of the letters that still ask for a run. */
export function codesOf(object: ObjectFacts, letters: readonly LetterFacts[]): readonly string[] {
  const shown = readyFailure(object)?.code;
  return [...(shown === undefined ? [] : [shown]), ...letters.filter(({ needsRun }) => needsRun).map(({ code }) => code)];
}

export function isAboutCrd(code: string): boolean {
  return CRD_CODES.has(code);
}

export function isAboutRights(code: string): boolean {
  return RIGHT_CODES.has(code);
}
