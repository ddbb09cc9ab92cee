/**
 * The plan of a replay: what is to become of every letter, and why. It names letters by message id, so that who carries it out does that
 * and nothing else.
 */
import type { QueueDescription } from '../adapters/letter-queue-port.ts';
import type { FilterWords } from './letter-filter.ts';
import { expiryOf, type LetterRecord, type Target } from './letter-record.ts';
import type { ObjectState } from './object-state.ts';
import type { DraftItem, PlanDraft } from './plan-draft.ts';
import type { ReplayClass, Verdict } from './verdict.ts';

/** Of the file's form. Raised when a reader of the last one would misunderstand it. */
export const PLAN_VERSION = 1;

/** A letter of the plan. Times are ISO 8601 in UTC. */
interface PlannedLetter {
  readonly messageId: string;
  readonly code: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly reason?: string;
  readonly mustRun?: true;
  readonly replays?: number;
  readonly firstSeenAt?: string;
  readonly deadLetteredAt?: string;
  readonly expiresAt?: string;
  /** What SQS counted when it was planned. */
  readonly receiveCount?: number;
  /** What is wrong with one that cannot be read. */
  readonly why?: string;
}

/** Letters with one verdict, of one object or of none, as they are written. */
export interface PlanItem extends Verdict {
  readonly object?: Omit<Target, 'namespace'> & { readonly namespace?: string };
  /** As it was read; left out where nothing was there, or could be read. */
  readonly state?: ObjectState;
  readonly letters: readonly PlannedLetter[];
}

/** The same while it is written: what is written of a letter takes more room than what is remembered of it. */
export type WritableItem = Omit<PlanItem, 'letters'> & { readonly letters: Iterable<PlannedLetter> };

interface ClassCount {
  readonly letters: number;
  readonly objects: number;
  readonly reasons: Readonly<Record<string, { readonly letters: number; readonly objects: number }>>;
}

/** Which letters are meant, and of how many objects at most. */
export interface PlanWords extends FilterWords {
  readonly limit?: string;
}

/** What stands before the items. */
export interface PlanHead {
  readonly plan: 'dogwatch-replay';
  readonly version: typeof PLAN_VERSION;
  readonly madeAt: string;
  readonly queue: {
    readonly url: string;
    readonly arn: string;
    /** Left out where it is not known. */
    readonly retentionSeconds: number | undefined;
    readonly depth: QueueDescription['depth'];
  };
  readonly filters: PlanWords;
  /** All that were received, whether or not they match the filters. */
  readonly receivedLetters: number;
  readonly letters: number;
  readonly objects: number;
  readonly classes: Readonly<Partial<Record<ReplayClass, ClassCount>>>;
  readonly warnings: readonly string[];
}

/** How many letters and objects there are of each class, and for which reasons. */
export function countClasses(items: readonly DraftItem[]): PlanHead['classes'] {
  const classes: Partial<Record<ReplayClass, ClassCount>> = {};
  for (const { verdict, target, letterCount } of items) {
    const { class: name, reason } = verdict;
    const plus = (before: { letters: number; objects: number } | undefined) => ({
      letters: (before?.letters ?? 0) + letterCount,
      objects: (before?.objects ?? 0) + (target === undefined ? 0 : 1),
    });
    const before = classes[name];
    classes[name] = { ...plus(before), reasons: { ...before?.reasons, [reason]: plus(before?.reasons[reason]) } };
  }
  return classes;
}

/** An item as it is written. */
export function* writtenItems(draft: PlanDraft, items: Iterable<DraftItem>, retentionSeconds: number | undefined): Generator<WritableItem> {
  for (const item of items) {
    const { verdict, target } = item;
    const state = draft.stateOf(item);
    yield {
      ...verdict,
      ...(target === undefined ? {} : { object: placeOf(target) }),
      ...(state === undefined ? {} : { state }),
      letters: plannedLetters(draft.lettersOf(item), retentionSeconds),
    };
  }
}

function* plannedLetters(letters: Iterable<LetterRecord>, retentionSeconds: number | undefined): Generator<PlannedLetter> {
  for (const letter of letters) yield plannedLetter(letter, retentionSeconds);
}

function placeOf({ namespace, ...rest }: Target): NonNullable<PlanItem['object']> {
  return namespace === undefined ? rest : { ...rest, namespace };
}

function plannedLetter(letter: LetterRecord, retentionSeconds: number | undefined): PlannedLetter {
  const { messageId, code, uid, generation, reason, mustRun, replayCount, firstSeenMs, deadLetteredMs, receiveCount, why } = letter;
  const at = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString());
  const fields = {
    ...{ messageId, code, uid, generation, reason, mustRun: mustRun || undefined, replays: replayCount || undefined },
    ...{ firstSeenAt: at(firstSeenMs), deadLetteredAt: at(deadLetteredMs), expiresAt: at(expiryOf(letter, retentionSeconds)) },
    ...{ receiveCount, why },
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as unknown as PlannedLetter;
}
