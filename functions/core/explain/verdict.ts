/** What is the case with an object. The facts are gathered elsewhere (functions/cli/explain); what they mean is decided here, without asking anybody. */
import type { Unit } from '../settings.ts';
import type { CellView, Elsewhere } from './facts.ts';
import type { ShownFailure } from './failures.ts';

/** What there is to say of a condition that somebody wrote. */
export type Said = Pick<ShownFailure, 'reason' | 'message'>;

/** Why a watcher has not told of an object, by its own account. */
export type WatcherFault =
  | { readonly kind: 'watcher-without-cluster' }
  | { readonly kind: 'watcher-without-kind' }
  /** The stream is not open; `cell` says why. */
  | { readonly kind: 'stream-down'; readonly cell: CellView }
  /** It reads the kind for longer than a message may take. */
  | { readonly kind: 'not-listed'; readonly cell: CellView }
  /** Its stream is open, and nothing has come for longer than a stream may be silent. */
  | { readonly kind: 'stream-silent'; readonly cell: CellView; readonly ageSeconds: number }
  /** SQS refused messages of the kind for good. */
  | { readonly kind: 'not-sent'; readonly cell: CellView };

export type Verdict =
  // Nothing was read.
  | { readonly kind: 'unknown-kind'; readonly asked: string; readonly nearest: string | undefined; readonly known: readonly string[] }
  | { readonly kind: 'owned-kind'; readonly asked: string; readonly owners: readonly string[] }
  | { readonly kind: 'cluster-unusable'; readonly code: string; readonly says: string }
  | { readonly kind: 'cluster-unauthorized'; readonly says: string }
  | { readonly kind: 'cluster-unreachable'; readonly code: string; readonly says: string }
  | { readonly kind: 'may-not-read'; readonly says: string }
  | { readonly kind: 'not-served' }
  // There is no such object.
  /** `letterCount`: of letters that are about it and need nothing. */
  | { readonly kind: 'absent'; readonly elsewhere: Elsewhere; readonly letterCount: number }
  | { readonly kind: 'left-behind'; readonly code: string }
  // Whatever else is so, nothing is done for it.
  | { readonly kind: 'paused'; readonly isDeleting: boolean }
  | { readonly kind: 'held-by-former'; readonly finalizers: readonly string[] }
  | { readonly kind: 'held-by-others'; readonly finalizers: readonly string[]; readonly sinceSeconds: number }
  | { readonly kind: 'not-selected'; readonly outside: string }
  // Something would have to be done, and cannot be.
  | { readonly kind: 'crd-lacks'; readonly what: string }
  | { readonly kind: 'namespace-ending' }
  | {
      readonly kind: 'no-right';
      readonly missing: readonly string[];
      readonly user: string;
      readonly isShown: boolean;
      readonly unit: Unit;
    }
  | {
      readonly kind: 'dead-letter';
      readonly code: string;
      readonly message: string | undefined;
      readonly count: number;
      readonly because: string;
    }
  | { readonly kind: 'given-up'; readonly failure: Said; readonly isLooked: boolean }
  // Where it is on its way from changed to reconciled.
  | { readonly kind: 'failing'; readonly failure: ShownFailure; readonly isDeleting: boolean; readonly isSettled: boolean }
  | { readonly kind: 'retrying'; readonly failure: ShownFailure; readonly isDeleting: boolean; readonly isSettled: boolean }
  | { readonly kind: 'described' }
  | { readonly kind: 'settled' }
  | { readonly kind: 'not-ready'; readonly ready: Said }
  | {
      readonly kind: 'waiting';
      readonly untilMs: number;
      readonly seconds: number;
      readonly isDeleting: boolean;
      readonly ready: Said | undefined;
    }
  | { readonly kind: 'due'; readonly seconds: number }
  | { readonly kind: 'overdue'; readonly seconds: number }
  | { readonly kind: 'deleting'; readonly finalizers: readonly string[]; readonly sinceSeconds: number; readonly isHeld: boolean }
  | { readonly kind: 'held-by-us'; readonly finalizer: string; readonly sinceSeconds: number }
  | { readonly kind: 'other-revision'; readonly observed: number; readonly revision: number }
  | { readonly kind: 'on-its-way'; readonly sinceSeconds: number; readonly changeCount: number | undefined }
  | WatcherFault
  /** The watcher sees it and has sent its message. */
  | { readonly kind: 'not-run'; readonly sinceSeconds: number | undefined; readonly outboxCount: number }
  /** Nobody says what the watcher sees. */
  | { readonly kind: 'not-seen'; readonly sinceSeconds: number | undefined };

export type VerdictKind = Verdict['kind'];

/** Of each kind whether somebody has to act; where nobody has, the object is reconciled, or on its way. */
export const NEEDS_SOMEBODY: Readonly<Record<VerdictKind, boolean>> = {
  'unknown-kind': true,
  'owned-kind': true,
  'cluster-unusable': true,
  'cluster-unauthorized': true,
  'cluster-unreachable': true,
  'may-not-read': true,
  'not-served': true,
  absent: true,
  'left-behind': true,
  paused: true,
  'held-by-former': true,
  'held-by-others': true,
  'not-selected': true,
  'crd-lacks': true,
  'namespace-ending': true,
  'no-right': true,
  'dead-letter': true,
  'given-up': true,
  failing: true,
  retrying: false,
  described: false,
  settled: false,
  // It is reconciled, and its author says that this is not enough.
  'not-ready': true,
  waiting: false,
  due: false,
  overdue: true,
  deleting: false,
  'held-by-us': true,
  'other-revision': true,
  'on-its-way': false,
  'watcher-without-cluster': true,
  'watcher-without-kind': true,
  'stream-down': true,
  'not-listed': true,
  'stream-silent': true,
  'not-sent': true,
  'not-run': true,
  'not-seen': true,
};

/** The process's exit code. */
export function exitCodeOf({ kind }: Verdict): 0 | 1 {
  return NEEDS_SOMEBODY[kind] ? 1 : 0;
}
