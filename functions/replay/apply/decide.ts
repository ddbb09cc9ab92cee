/** What is done with letters of a plan, from what the plan says of them and from their object as it is right before. */
import type { PlanItem } from '../plan.ts';
import { REASON_TEXTS, type Verdict } from '../verdict.ts';

/** `reason` of a letter that is left is in {@link LEFT_TEXTS}, of one that is acknowledged in `REASON_TEXTS`. */
export type Decision =
  | { readonly kind: 'send'; readonly reason: string }
  | { readonly kind: 'acknowledge'; readonly reason: string }
  | { readonly kind: 'leave'; readonly reason: string };

/** A letter that was replayed so often is sent again only when that is asked for. */
const REPLAYS_MAX = 2;

/** A run would do nothing, and the letter would be used up. */
const IDLE_REASONS = new Set(['paused', 'not-selected']);

/** Why letters stay in the queue; for other reasons, those of an object that could not be read, see `REASON_TEXTS`. */
export const LEFT_TEXTS: Readonly<Record<string, string>> = {
  ...REASON_TEXTS,
  undecided: 'the plan could not tell what they need; make a new one',
  unreadable: 'they do not say what they are about; drop or export them',
  'not-as-planned': 'the plan says something else of the letter; make a new one',
  'changed-since-plan': 'needed nothing when the plan was made, and does now; make a new one',
  'replayed-twice': 'replayed twice already; --again sends them once more',
  'not-accepted': 'SQS did not accept the message in their place',
  refused: 'SQS refuses the message in their place',
  'too-large': 'the message in their place would be too large: no object has such names',
  elsewhere: 'somebody else received them in between',
  unrecorded: 'perhaps replaced, but the audit did not take the result: the next apply sends them again',
  'not-reached': 'the apply ended before',
};

/** What the plan decides without a look at the object; undefined where the object decides. */
export function decideUnread({ class: planned }: Pick<PlanItem, 'class'>): Decision | undefined {
  switch (planned) {
    case 'unknown':
      return { kind: 'leave', reason: 'undecided' };
    case 'unreadable':
      return { kind: 'leave', reason: 'unreadable' };
    case 'to-replay':
    case 'converged':
    case 'gone':
    case 'superseded':
      return undefined;
  }
}

/**
 * Does the plan and nothing else: what was to be replayed is sent or found to need nothing any more, and what needed nothing is never sent.
 *
 * @param replays how often the most replayed of the letters was
 */
export function decide(
  planned: Pick<PlanItem, 'class'>,
  fresh: Verdict,
  { replays, again }: { readonly replays: number; readonly again: boolean },
): Decision {
  const unread = decideUnread(planned);
  if (unread !== undefined) return unread;
  const { reason } = fresh;
  switch (fresh.class) {
    case 'converged':
    case 'gone':
    case 'superseded':
      return { kind: 'acknowledge', reason };
    case 'unknown':
    case 'unreadable':
      return { kind: 'leave', reason };
    case 'to-replay':
      if (planned.class !== 'to-replay') return { kind: 'leave', reason: 'changed-since-plan' };
      if (IDLE_REASONS.has(reason)) return { kind: 'leave', reason };
      if (replays >= REPLAYS_MAX && !again) return { kind: 'leave', reason: 'replayed-twice' };
      return { kind: 'send', reason };
  }
}
