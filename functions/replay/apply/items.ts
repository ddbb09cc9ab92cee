/** The items of a plan while it is applied: which of their letters came, and what became of them. */
import type { Envelope } from '../../../events/envelope.ts';
import { newestResourceVersion } from '../../../events/resource-version.ts';
import type { Letter } from '../../core/letter.ts';
import type { LetterRecord, Target } from '../letter-record.ts';
import type { PlanItem } from '../plan.ts';
import type { KindFacts, LetterFacts, Reading } from '../verdict.ts';
import type { Past } from './audit-text.ts';
import type { Place } from './contract.ts';

/**
 * - `waiting`: for its letters, or for its turn
 * - `acting`: in the batch under way
 * - `sent`: a message was accepted, now or by an earlier apply; `uid` is whose it is, `of` the letter that it stands for
 * - `acknowledged`: needs nothing, as `reading` shows
 * - `left`: stays in the queue
 */
export type ItemState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'acting' }
  | { readonly kind: 'sent'; readonly envelope: string; readonly uid: string | undefined; readonly of: string; readonly isEarlier: boolean }
  | { readonly kind: 'acknowledged'; readonly reason: string; readonly reading: Reading; readonly kindFacts: KindFacts }
  | { readonly kind: 'left'; readonly reason: string };

interface Newest {
  readonly messageId: string;
  readonly envelope: Envelope;
  readonly writtenMs: number;
}

export class Item {
  readonly planned: PlanItem;
  readonly target: Target | undefined;
  state: ItemState = { kind: 'waiting' };
  /** Letters that came, by message id; one that is left for a reason of its own has it. */
  readonly received = new Map<string, { readonly record: LetterRecord; readonly leftFor: string | undefined }>();
  /** The newest letter that came: what is sent is made of it. */
  newest: Newest | undefined;
  /** The newest that any letter which came knows. */
  resourceVersion: string | undefined;

  constructor(planned: PlanItem) {
    this.planned = planned;
    this.target = planned.object === undefined ? undefined : { ...planned.object, namespace: planned.object.namespace };
  }

  get place(): Place | undefined {
    return this.planned.object;
  }

  /** How often the most replayed letter was. */
  get replays(): number {
    return Math.max(0, ...this.#theirs().map(({ record }) => record.replayCount));
  }

  /** Whose letters they are; undefined where none of them says. */
  get uid(): string | undefined {
    return this.planned.letters.find(({ uid }) => uid !== undefined)?.uid;
  }

  /** Takes a letter of the plan; it is left at once where it is not what the plan says. */
  take(record: LetterRecord, letter: Letter): void {
    const isAsPlanned =
      this.target === undefined
        ? record.target === undefined
        : record.target !== undefined &&
          placeKey(record.target) === placeKey(this.target) &&
          (record.uid === undefined || record.uid === this.uid);
    this.received.set(record.messageId, { record, leftFor: isAsPlanned ? undefined : 'not-as-planned' });
    if (!isAsPlanned || (letter.kind !== 'diagnosed' && letter.kind !== 'undiagnosed')) return;
    const { envelope } = letter;
    this.resourceVersion = newestResourceVersion(this.resourceVersion, envelope.data.resourceVersion);
    const writtenMs = record.deadLetteredMs ?? record.sentMs ?? 0;
    if (this.newest === undefined || writtenMs >= this.newest.writtenMs) this.newest = { messageId: record.messageId, envelope, writtenMs };
  }

  /** Message ids of letters that came and are not left for a reason of their own. */
  get usable(): string[] {
    return [...this.received].filter(([, { leftFor }]) => leftFor === undefined).map(([messageId]) => messageId);
  }

  leave(messageId: string, reason: string): void {
    const known = this.received.get(messageId);
    if (known !== undefined) this.received.set(messageId, { ...known, leftFor: known.leftFor ?? reason });
  }

  /** What all of its letters say: those that came for themselves, the others by the plan. */
  facts(): LetterFacts[] {
    const absent = this.planned.letters.filter(({ messageId }) => !this.received.has(messageId));
    const planned = absent.map(({ uid, generation, reason, mustRun = false, deadLetteredAt }) => ({
      ...{ uid, generation, mustRun, reason: reason as LetterFacts['reason'] },
      deadLetteredMs: deadLetteredAt === undefined ? undefined : Date.parse(deadLetteredAt),
    }));
    return [...this.#theirs().map(({ record }) => record), ...planned];
  }

  #theirs(): { readonly record: LetterRecord }[] {
    return [...this.received.values()].filter(({ leftFor }) => leftFor === undefined);
  }
}

/** An object by name: `cluster/group/kind/namespace/name`. */
export function placeKey({ cluster, group, kind, namespace, name }: Place | Target): string {
  return [cluster, group, kind, namespace ?? '', name].join('/');
}

/** The items of a plan, with what earlier applies sent. A message id counts for the first item that names it. */
export function itemsOf(
  plan: readonly PlanItem[],
  past: Past,
): { readonly items: readonly Item[]; readonly byLetter: ReadonlyMap<string, Item> } {
  const byLetter = new Map<string, Item>();
  const items = plan.map((planned) => {
    const item = new Item(planned);
    for (const { messageId } of planned.letters) if (!byLetter.has(messageId)) byLetter.set(messageId, item);
    const intent = planned.letters.map(({ messageId }) => past.sent.get(messageId)).findLast((one) => one !== undefined);
    if (intent !== undefined)
      item.state = { kind: 'sent', envelope: intent.envelope, uid: intent.uid, of: intent.replay.of, isEarlier: true };
    return item;
  });
  return { items, byLetter };
}
