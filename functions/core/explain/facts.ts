/** What is known of an object, its surroundings and its letters before anything is judged. Every answer of others may be missing. */
import type { SkipReason } from '../../../events/predicate.ts';
import type { ResourceType } from '../../../events/resource.ts';
import type { Condition } from '../conditions.ts';
import type { ClusterFacts } from '../doctor/facts.ts';
import type { Asked, Untold } from '../doctor/finding.ts';
import type { Declared } from '../rights.ts';

/** The object that is asked about. */
export interface Place {
  readonly cluster: string;
  readonly type: ResourceType;
  /** KIND/NAME as our commands take it: the kind is no other's. */
  readonly words: string;
  /** Undefined for a kind that is in none. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** An object as it is now. Times in Unix milliseconds. */
export interface ObjectFacts {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly observedGeneration: number | undefined;
  /** As it stands in the status; absent counts as 1. */
  readonly observedRevision: number | undefined;
  readonly isSettled: boolean;
  readonly isPaused: boolean;
  /** Of everybody; messages are cut. */
  readonly conditions: readonly Partial<Condition>[];
  readonly deletingSinceMs: number | undefined;
  /** Our own one is on it. */
  readonly isHeld: boolean;
  /** Without our own one. */
  readonly otherFinalizers: readonly string[];
  /** Of those, what a release of ours put there by the API server's account. */
  readonly formerFinalizers: readonly string[];
  /** What does not select it, as a text; undefined where everything does. */
  readonly outside: string | undefined;
  /** What the watcher's filter makes of it when a watcher starts. */
  readonly atStart: 'sent' | SkipReason;
  /** When it wants to be run again. */
  readonly nextMs: number | undefined;
  /** At the latest then its spec was changed the last time; undefined where nothing tells. */
  readonly changedMs: number | undefined;
  /** What its status lacks, or how it is kept, so that no run can say that it did its work; undefined where nothing shows that. */
  readonly statusFault: string | undefined;
}

/** A dead letter of the object, and whether it still asks for something. */
export interface LetterFacts {
  readonly messageId: string;
  readonly code: string;
  /** Why it was given up; undefined for one without a diagnosis. */
  readonly message: string | undefined;
  readonly deadLetteredMs: number | undefined;
  /** Of the object as its last run, or its message, had it. */
  readonly generation: number | undefined;
  /** By the object as it is now: see functions/replay/verdict.ts. */
  readonly needsRun: boolean;
  /** Why it does, or does not. */
  readonly because: string;
}

/** How the watcher says that it sees one kind in one cluster. */
export interface CellView {
  readonly isStreaming: boolean;
  /** `listing`, `streaming`, `recovering`, `failing`, `stopped`; undefined where /readyz was not answered. */
  readonly phase: string | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Undefined before the first page. */
  readonly lastEventAgeSeconds: number | undefined;
  readonly knownCount: number;
  readonly unsettledCount: number;
  readonly oldestUnsettledSeconds: number;
  /** Objects whose message is not known to be in the queue. */
  readonly outboxCount: number;
  /** Sends that SQS never takes, since the watcher started. */
  readonly refusedCount: number;
}

/** What a watcher's metrics tell of the object's cluster and kind. */
export interface WatcherView {
  /** It watches something in that cluster. */
  readonly hasCluster: boolean;
  /** Undefined where it does not watch the kind there. */
  readonly cell: CellView | undefined;
}

/** Seconds, as configured here; a deployed process may have others. */
interface ExplainLimits {
  readonly healAfterSeconds: number;
  /** Without anything from the cluster for so long, a stream is dead. */
  readonly silenceSeconds: number;
}

/** Where else something of that name, or nearly so, was found. */
export interface Elsewhere {
  /** Of clusters that were asked. */
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
  /** A name of the same cluster and namespace that is nearly the same. */
  readonly closestName: string | undefined;
}

/** Nobody asked: `code` is `not-asked`. */
export const notAsked = (says: string): Untold => ({ kind: 'untold', code: 'not-asked', says });

/** What is found about an object that is there. */
export interface FoundFacts {
  readonly kind: 'found';
  readonly place: Place;
  readonly nowMs: number;
  readonly limits: ExplainLimits;
  /** Of its kind. */
  readonly reconciler: Declared & { readonly revision: number };
  readonly object: ObjectFacts;
  readonly letters: Asked<readonly LetterFacts[]>;
  /** Rights, CRD and kinds of its cluster, asked in the name of whoever asks. */
  readonly cluster: ClusterFacts;
  /** Whether its namespace is being deleted; undefined for a kind that is in none. */
  readonly isNamespaceEnding: Asked<boolean> | undefined;
  readonly watcher: Asked<WatcherView>;
  /** What did not answer on the way and would only have told more. */
  readonly notes: readonly string[];
}

/** How far one came. */
export type ExplainFacts =
  | {
      readonly kind: 'unknown-kind';
      readonly asked: string;
      readonly nearest: string | undefined;
      readonly known: readonly string[];
      /** Kinds of the reconcilers whose children are of that kind. */
      readonly ownedBy: readonly string[];
      readonly cluster: string | undefined;
      readonly namespace: string | undefined;
      readonly name: string;
    }
  | { readonly kind: 'unread'; readonly place: Place; readonly code: string; readonly says: string }
  | {
      readonly kind: 'absent';
      readonly place: Place;
      readonly elsewhere: Elsewhere;
      readonly letters: Asked<readonly LetterFacts[]>;
      readonly notes: readonly string[];
    }
  | FoundFacts;
