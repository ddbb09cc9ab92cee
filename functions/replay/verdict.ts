/**
 * What is to become of letters, from what they say and from their object as it is now.
 *
 * A letter says "this object may be unreconciled". It needs nothing where the object shows that a run since then did everything. For a
 * message that must run, a settled object does not show that: its generation was settled before. There, only a later generation that is
 * settled, or Ready turning True after the letter was written, is a run that succeeded since.
 */
import type { LetterRecord } from './letter-record.ts';
import { type ObjectState, readySinceMs } from './object-state.ts';

/**
 * - `to-replay`: still needs a run
 * - `converged`: needs nothing any more
 * - `gone`: its object is not there
 * - `superseded`: another object has its name
 * - `unknown`: it cannot be told now; its letters stay where they are
 * - `unreadable`: the letter does not say what it is about
 */
export const REPLAY_CLASSES = ['to-replay', 'converged', 'gone', 'superseded', 'unknown', 'unreadable'] as const;
export type ReplayClass = (typeof REPLAY_CLASSES)[number];

/** Class and reason; what `reason` means is in {@link REASON_TEXTS}, save for an error's code. */
export interface Verdict {
  readonly class: ReplayClass;
  readonly reason: string;
}

/** What was found where the letter's object should be. */
export type Reading =
  | { readonly kind: 'found'; readonly state: ObjectState }
  | { readonly kind: 'absent' }
  /** `code` of the error, or `unknown-cluster`, `unknown-kind`, `given-up`. */
  | { readonly kind: 'untold'; readonly code: string };

/** What of its reconciler counts here. */
export interface KindFacts {
  readonly hasFinalize: boolean;
  readonly isDescribed: boolean;
}

export const REASON_TEXTS: Readonly<Record<string, string>> = {
  'not-settled': 'not reconciled for its generation',
  stalled: 'given up for its generation',
  'must-run': 'nothing shows a run since',
  deleting: 'being deleted, and our finalizer holds it',
  finalize: 'gone, and what it left outside is not undone',
  'no-status': 'its kind does not show whether it was reconciled',
  paused: 'paused: nothing is done until it is resumed',
  'not-selected': 'its reconciler does not select it',
  settled: 'reconciled since',
  'being-deleted': 'being deleted, and nothing of ours is left to do',
  heartbeat: 'a heartbeat, which asks for nothing',
  gone: 'not in its cluster any more',
  'other-uid': 'another object has its name',
  'unknown-cluster': 'its cluster is not in the registry',
  'unknown-kind': 'no reconciler is for its kind',
  'given-up': 'its cluster did not answer others before it',
  unreachable: 'its cluster cannot be reached',
  timeout: 'its cluster does not answer in time',
  unauthorized: 'its cluster does not accept our credentials',
  forbidden: 'we may not read it',
  throttled: 'its cluster has too much to do',
  'server-error': 'its cluster answers with an error of its own',
  'bad-response': 'its cluster answers what is no answer',
  'response-too-large': 'it is larger than what is read',
  'bad-request': 'its cluster takes no such name',
  'not-served': 'its kind is not served by its cluster',
  'other-scope': 'the letter names a namespace and its kind is in none, or the other way round',
  'entry-invalid': 'the entry of its cluster in the registry cannot be used',
  'file-unreadable': 'a file that the entry of its cluster names cannot be read',
  'kubeconfig-invalid': 'the kubeconfig of its cluster cannot be used',
  'kubeconfig-unparsable': 'the kubeconfig of its cluster is no YAML',
  'kubeconfig-empty': 'the kubeconfig of its cluster is empty',
  'not-in-cluster': 'its cluster is the one that a Pod is in, and this is none',
  foreign: 'not an envelope of ours',
  'older-type': 'an envelope of an older release',
  'newer-type': 'an envelope of a newer release',
};

/** The verdict of a letter that is about no object; undefined for one that is. */
export function verdictWithoutObject({ kind, code }: Pick<LetterRecord, 'kind' | 'code'>): Verdict | undefined {
  switch (kind) {
    case 'diagnosed':
    case 'undiagnosed':
      return undefined;
    case 'heartbeat':
      return { class: 'converged', reason: 'heartbeat' };
    case 'other-release':
      return { class: 'unreadable', reason: code };
    case 'foreign':
      return { class: 'unreadable', reason: 'foreign' };
  }
}

/** The facts of letters of one object: of one uid, or of those that belong to the object that is there. */
export type LetterFacts = Pick<LetterRecord, 'uid' | 'reason' | 'mustRun' | 'generation' | 'deadLetteredMs'>;

/** The verdict of letters that share an object and a uid. */
export function judgeLetters(letters: readonly LetterFacts[], reading: Reading, kind: KindFacts): Verdict {
  if (reading.kind === 'untold') return { class: 'unknown', reason: reading.code };
  // Its finalizer is off, or was taken off: nothing but this letter remembers what it left outside.
  const mustFinalize = kind.hasFinalize && letters.some(({ reason, uid }) => reason === 'deleted' && uid !== undefined);
  if (reading.kind === 'absent') return mustFinalize ? toReplay('finalize') : { class: 'gone', reason: 'gone' };
  const { state } = reading;
  const isOther = letters.every(({ uid }) => uid !== undefined && uid !== state.uid);
  if (isOther) return mustFinalize ? toReplay('finalize') : { class: 'superseded', reason: 'other-uid' };
  if (state.isDeleting && !state.isHeld) return { class: 'converged', reason: 'being-deleted' };
  const need = needOf(letters, state, kind);
  if (need === undefined) return { class: 'converged', reason: 'settled' };
  if (state.isPaused) return toReplay('paused');
  if (!state.isDeleting && !state.isSelected) return toReplay('not-selected');
  return toReplay(need);
}

function needOf(letters: readonly LetterFacts[], state: ObjectState, kind: KindFacts): string | undefined {
  if (state.isDeleting) return 'deleting';
  if (kind.isDescribed) return 'no-status';
  if (!state.isSettled) return 'not-settled';
  if (state.isStalled) return 'stalled';
  return letters.every((letter) => !letter.mustRun || hasRunSince(letter, state)) ? undefined : 'must-run';
}

/** True where the object shows a success after the letter. Conditions have whole seconds: in doubt it was before. */
function hasRunSince({ generation, deadLetteredMs }: LetterFacts, state: ObjectState): boolean {
  if (generation !== undefined && state.generation !== undefined && generation < state.generation) return true;
  const readyMs = readySinceMs(state);
  return deadLetteredMs !== undefined && readyMs !== undefined && readyMs >= deadLetteredMs;
}

function toReplay(reason: string): Verdict {
  return { class: 'to-replay', reason };
}
