/**
 * The plan of a replay: what is to become of every letter, and why. It names letters by message id, so that who carries it out does that
 * and nothing else.
 */
import type { QueueDescription } from '../adapters/letter-queue-port.ts';
import type { Reconciler } from '../core/reconciler.ts';
import type { FilterWords } from './letter-filter.ts';
import { expiryOf, type LetterRecord, type Target } from './letter-record.ts';
import type { ObjectState } from './object-state.ts';
import { kindFactsOf, reconcilerFor } from './read-objects.ts';
import { judgeLetters, REPLAY_CLASSES, type Reading, type ReplayClass, type Verdict, verdictWithoutObject } from './verdict.ts';

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

/** Letters with one verdict: of one object, or of none. Records, since what is written of a letter takes more room than a record. */
export interface Verdicts extends Verdict {
  readonly target: Target | undefined;
  readonly state: ObjectState | undefined;
  readonly letters: readonly LetterRecord[];
}

/** The same as it is written. */
export interface PlanItem extends Verdict {
  readonly object?: Omit<Target, 'namespace'> & { readonly namespace?: string };
  /** As it was read; left out where nothing was there, or could be read. */
  readonly state?: ObjectState;
  readonly letters: readonly PlannedLetter[];
}

interface ClassCount {
  readonly letters: number;
  readonly objects: number;
  readonly reasons: Readonly<Record<string, { readonly letters: number; readonly objects: number }>>;
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
  readonly filters: FilterWords;
  /** All that were received, whether or not they match the filters. */
  readonly receivedLetters: number;
  readonly letters: number;
  readonly objects: number;
  readonly classes: Readonly<Partial<Record<ReplayClass, ClassCount>>>;
  readonly warnings: readonly string[];
}

/** The items, by class, then by place. */
export function planItems(
  letters: readonly LetterRecord[],
  readings: ReadonlyMap<Target, Reading>,
  reconcilers: readonly Reconciler[],
): Verdicts[] {
  const items: { readonly order: string; readonly item: Verdicts }[] = [];
  const add = (verdict: Verdict, target: Target | undefined, state: ObjectState | undefined, group: readonly LetterRecord[]): void => {
    const order = [
      REPLAY_CLASSES.indexOf(verdict.class),
      verdict.reason,
      target?.cluster,
      target?.kind,
      target?.namespace,
      target?.name,
    ].join('/');
    items.push({ order, item: { ...verdict, target, state, letters: group } });
  };
  const apart = Map.groupBy(letters, (letter) => letter.target ?? `${letter.kind} ${letter.code}`);
  for (const [target, group] of apart) {
    const [first] = group as [LetterRecord, ...LetterRecord[]];
    const verdict = verdictWithoutObject(first);
    if (typeof target === 'string' || verdict !== undefined) {
      if (verdict !== undefined) add(verdict, undefined, undefined, group);
      continue;
    }
    const reading = readings.get(target) ?? { kind: 'untold', code: 'not-read' };
    const kind = kindFactsOf(reconcilerFor(target, reconcilers));
    const state = reading.kind === 'found' ? reading.state : undefined;
    for (const of of byUid(group, state?.uid)) add(judgeLetters(of, reading, kind), target, state, of);
  }
  return items.sort((a, b) => (a.order < b.order ? -1 : 1)).map(({ item }) => item);
}

/** Letters without uid belong to the object that is there, or to whichever there was. */
function byUid(letters: readonly LetterRecord[], presentUid: string | undefined): readonly (readonly LetterRecord[])[] {
  return [...Map.groupBy(letters, ({ uid }) => uid ?? presentUid).values()];
}

/** How many letters and objects there are of each class, and for which reasons. */
export function countClasses(items: readonly Verdicts[]): PlanHead['classes'] {
  const classes: Partial<Record<ReplayClass, ClassCount>> = {};
  for (const { class: name, reason, target, letters } of items) {
    const plus = (before: { letters: number; objects: number } | undefined) => ({
      letters: (before?.letters ?? 0) + letters.length,
      objects: (before?.objects ?? 0) + (target === undefined ? 0 : 1),
    });
    const before = classes[name];
    classes[name] = { ...plus(before), reasons: { ...before?.reasons, [reason]: plus(before?.reasons[reason]) } };
  }
  return classes;
}

/** An item as it is written. */
export function writtenItem({ class: name, reason, target, state, letters }: Verdicts, retentionSeconds: number | undefined): PlanItem {
  return {
    ...{ class: name, reason },
    ...(target === undefined ? {} : { object: placeOf(target) }),
    ...(state === undefined ? {} : { state }),
    letters: letters.map((letter) => plannedLetter(letter, retentionSeconds)),
  };
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
