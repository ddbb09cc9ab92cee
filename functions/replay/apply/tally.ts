/** The account of an apply: every letter that was received is in exactly one of its counts. */

import type { ApplyEnd, ApplySummary, SendVerdict } from './contract.ts';
import type { Item } from './items.ts';

export interface TallyInput {
  readonly end: ApplyEnd;
  readonly failure?: NonNullable<ApplySummary['failure']>;
  readonly items: readonly Item[];
  /** Letters of the plan, and those of them that are not missed. */
  readonly byLetter: ReadonlyMap<string, Item>;
  readonly accounted: ReadonlySet<string>;
  readonly notOfPlanCount: number;
  readonly cameBackCount: number;
  readonly notReleasedCount: number;
  /** Message ids that are deleted. */
  readonly removed: ReadonlySet<string>;
  /** Whether we hold a letter, or held it when we gave back what was left. */
  readonly wasOurs: (messageId: string) => boolean;
  readonly sends: Readonly<Record<SendVerdict, number>>;
  readonly earlierSends: Readonly<Record<SendVerdict, number>>;
}

/** What became of one letter: one of these counts, and whether it was to be deleted. */
export type Fate =
  | { readonly kind: 'sent' | 'folded' | 'sentBefore' }
  | { readonly kind: 'acknowledged' | 'left'; readonly reason: string };

/** The fate of a letter that was received. */
export function fateOf(item: Item, messageId: string, wasOurs: TallyInput['wasOurs']): Fate {
  const leftFor = item.received.get(messageId)?.leftFor;
  if (leftFor !== undefined) return { kind: 'left', reason: leftFor };
  const { state } = item;
  switch (state.kind) {
    case 'sent':
      if (state.isEarlier) return { kind: 'sentBefore' };
      return { kind: state.of === messageId ? 'sent' : 'folded' };
    case 'acknowledged':
      return { kind: 'acknowledged', reason: state.reason };
    case 'left':
      return { kind: 'left', reason: state.reason };
    case 'waiting':
      return { kind: 'left', reason: wasOurs(messageId) ? 'not-reached' : 'elsewhere' };
    case 'acting':
      return { kind: 'left', reason: 'unrecorded' };
  }
}

export function summarize(input: TallyInput): ApplySummary {
  const { end, failure, items, removed, sends, earlierSends, wasOurs } = input;
  const counts = { sent: 0, folded: 0, sentBefore: 0, notDeleted: 0 };
  const acknowledged: Record<string, number> = {};
  const left: Record<string, number> = {};
  let ofPlan = 0;
  for (const item of items) {
    for (const messageId of item.received.keys()) {
      const fate = fateOf(item, messageId, wasOurs);
      ofPlan += 1;
      if (fate.kind === 'acknowledged') acknowledged[fate.reason] = (acknowledged[fate.reason] ?? 0) + 1;
      else if (fate.kind === 'left') left[fate.reason] = (left[fate.reason] ?? 0) + 1;
      else counts[fate.kind] += 1;
      if (fate.kind !== 'left' && !removed.has(messageId)) counts.notDeleted += 1;
    }
  }
  const notSeen = [...input.byLetter].flatMap(([messageId, { received }]) => (received.has(messageId) ? [] : [messageId]));
  const missed = notSeen.filter((messageId) => !input.accounted.has(messageId)).length;
  return {
    end,
    ...(failure === undefined ? {} : { failure }),
    letters: {
      ...{ received: ofPlan + input.notOfPlanCount, ...counts, acknowledged, left, notOfPlan: input.notOfPlanCount },
      ...{ notSeen: notSeen.length, missed, notReleased: input.notReleasedCount, cameBack: input.cameBackCount },
    },
    sends,
    earlierSends,
  };
}
