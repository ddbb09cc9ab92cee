/** What the apply of a plan is given, what it tells while it goes on, and what it comes to. */
import type { Clock } from '../../adapters/clock.ts';
import type { LetterQueue, QueueDescription } from '../../adapters/letter-queue-port.ts';
import type { Queue } from '../../adapters/queue-port.ts';
import type { PlanItem } from '../plan.ts';
import type { ObjectSource } from '../read-objects.ts';
import type { AuditLine } from './audit-line.ts';

export interface ApplySettings {
  /** Objects that are sent first, and that have a verdict before any other is sent. An integer of 1 or more. */
  readonly canary: number;
  /** Seconds after its send by which an object has to be reconciled; later is bad. Over 0. */
  readonly canaryTimeoutSeconds: number;
  /** Objects of one cluster that are sent in a second, at most; spread over it. Over 0; 0.5 is one in two seconds. */
  readonly ratePerSecond: number;
  /** The share of bad ones among those with a verdict over which nothing more is sent. 0 to 1. */
  readonly stopAt: number;
  /** Sends letters, too, that were replayed twice before. */
  readonly again: boolean;
  /** Who does this; stands in every message that is sent, so at most 128 characters of it. */
  readonly by: string;
}

/** Where an object is, as the plan has it. */
export type Place = NonNullable<PlanItem['object']>;

export interface PlanToApply {
  /** Of the plan's file, in hexadecimal: says which plan an audit is about. */
  readonly sha256: string;
  /** ISO 8601 in UTC; one that is edited keeps it. */
  readonly madeAt: string;
  readonly items: readonly PlanItem[];
}

/** The append-only record of a plan. One process has it at a time. */
export interface AuditPort {
  /** What applies of this plan before this one wrote, oldest first. */
  readonly past: readonly AuditLine[];
  /**
   * Adds lines at the end. `synced`: resolves when they survive a loss of power.
   *
   * @throws ConfigError `audit-unwritable`; then nothing may be done that the lines announce
   */
  append(lines: readonly AuditLine[], durability: 'synced' | 'buffered'): Promise<void>;
}

export interface ApplyOptions {
  readonly plan: PlanToApply;
  /** Message ids of letters that are not missed when they do not come: what was done with them is on record. */
  readonly accounted: ReadonlySet<string>;
  readonly queue: LetterQueue;
  readonly description: QueueDescription;
  readonly sender: Pick<Queue, 'send'>;
  readonly bulkQueueUrl: string;
  readonly source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>;
  readonly audit: AuditPort;
  readonly clock: Clock;
  /** Ends it early: the batch under way is finished, and letters are given back. */
  readonly stop: AbortSignal;
  readonly settings: ApplySettings;
  /** What was typed, for the audit. */
  readonly command: string;
  readonly tell: (event: ApplyEvent) => void;
}

/**
 * What became of an object after its send.
 * - `good`: reconciled, or nothing of ours is left to do
 * - `quiet`: nothing can show a success, and nothing showed a failure for a while
 * - `bad`: failed again, or not reconciled in time
 * - `unjudged`: its cluster could not be asked, or the apply ended before
 */
export type SendVerdict = 'good' | 'quiet' | 'bad' | 'unjudged';

/** Why an apply stops before all is done. `failed`: of {@link ApplySummary.failure}. */
export type ApplyEnd = 'done' | 'too-many-bad' | 'signal' | 'failed';

/** Counts; what stands in the summary as well, stands there when the apply is over. */
interface ApplyProgress {
  /** Of the plan. */
  readonly objects: number;
  /** Objects that were sent, acknowledged or left by now. */
  readonly decided: number;
  readonly sent: number;
  readonly underWay: number;
  readonly good: number;
  readonly bad: number;
}

/** What happens, as it happens. `object` is left out for letters that are about none. */
export type ApplyEvent =
  /** Letters received so far; before `looked` only. */
  | { readonly kind: 'looking'; readonly received: number; readonly ofPlan: number }
  /** The queue is seen through for the first time: acting begins. */
  | { readonly kind: 'looked'; readonly received: number; readonly ofPlan: number; readonly planned: number }
  /** An apply before this one was not finished: objects that it sent and that have no verdict yet. */
  | {
      readonly kind: 'resumed';
      readonly sentBefore: number;
      readonly open: number;
      /** Letters that the one before may hide still, and for how long at most: it was killed. */
      readonly hidden: number;
      readonly hiddenSeconds: number;
    }
  | { readonly kind: 'sent'; readonly object: Place; readonly letters: number }
  | { readonly kind: 'acknowledged'; readonly object?: Place; readonly letters: number; readonly reason: string }
  | { readonly kind: 'left'; readonly object?: Place; readonly letters: number; readonly reason: string }
  | { readonly kind: 'verdict'; readonly object: Place; readonly verdict: SendVerdict; readonly reason: string }
  /** Every object of the canary has a verdict, and few enough are bad. */
  | { readonly kind: 'canary-over' }
  | { readonly kind: 'cluster-down'; readonly cluster: string; readonly code: string; readonly says: string }
  | { readonly kind: 'stopping'; readonly end: Exclude<ApplyEnd, 'done'> }
  /** After each of the others that changes a count. */
  | { readonly kind: 'progress'; readonly progress: ApplyProgress };

type Counts = Readonly<Record<string, number>>;

/**
 * An account of every letter received. Sums that hold always:
 * - `received` = `sent` + `folded` + `sentBefore` + all of `acknowledged` + all of `left` + `notOfPlan`
 * - letters of the plan = `received` - `notOfPlan` + `notSeen`
 * - `sent` = all of `sends`
 */
export interface ApplySummary {
  readonly end: ApplyEnd;
  /** What made it fail; the same command again goes on from here. */
  readonly failure?: { readonly code: string; readonly says: string };
  /** Letters by message id: one that was received twice counts once. */
  readonly letters: {
    readonly received: number;
    /** Replaced by a message that was accepted now: one for each object. */
    readonly sent: number;
    /** The other letters of those objects. */
    readonly folded: number;
    /** Replaced by an earlier apply of this plan. */
    readonly sentBefore: number;
    /** By reason: see `REASON_TEXTS`. */
    readonly acknowledged: Counts;
    /** By reason: see `LEFT_TEXTS`. */
    readonly left: Counts;
    readonly notOfPlan: number;
    /** Of the plan, and not received. */
    readonly notSeen: number;
    /** Letters among `notSeen` of which nothing is on record: somebody else has them, or they are gone. */
    readonly missed: number;
    /** Letters among `sent`, `folded`, `sentBefore` and `acknowledged` that are in the queue still. */
    readonly notDeleted: number;
    /** Letters that come back only when their visibility ends. */
    readonly notReleased: number;
    /** Letters among `notOfPlan` that objects wrote which were sent now. */
    readonly cameBack: number;
  };
  readonly sends: Readonly<Record<SendVerdict, number>>;
  /** Objects that an earlier apply sent, judged by this one. */
  readonly earlierSends: Readonly<Record<SendVerdict, number>>;
}
