/** What a drop will do, and what it came to, for a person to read. */
import type { DropSummary } from '../../replay/drop.ts';
import type { PlanItem } from '../../replay/plan.ts';
import { REASON_TEXTS } from '../../replay/verdict.ts';
import { placeText } from './acting.ts';
import { plural, reasonText } from './text.ts';

/** Objects that are named before their letters go. */
const NAMED_MAX = 20;

/** All that was meant is deleted. One that was not received may be at somebody else's. */
export function isDone({ end, letters }: DropSummary): boolean {
  return end === 'done' && letters.notDeleted === 0 && letters.notReached === 0 && letters.missed === 0;
}

/** Objects whose letters say more than nothing. */
export function namedObjects(items: readonly PlanItem[]): string[] {
  const named = items.filter(({ class: name }) => name === 'to-replay' || name === 'unknown');
  if (named.length === 0) return [];
  const more = named.length > NAMED_MAX ? [`  and ${named.length - NAMED_MAX} more objects of these classes`] : [];
  return [
    ...named.slice(0, NAMED_MAX).map(({ class: name, reason, object, letters }) => {
      const of = object === undefined ? 'no object' : placeText(object);
      return `  ${name.replace('-', ' ')}: ${of}: ${plural(letters.length, 'letter')}: ${reasonText(reason, REASON_TEXTS)}`;
    }),
    ...more,
  ];
}

export function summaryText({ end, failure, letters }: DropSummary): string[] {
  const { received, dropped, notDeleted, leftOfPlan, notReached, notOfPlan, goneBefore, missed, notReleased } = letters;
  const rows: readonly (readonly [count: number, says: string])[] = [
    [dropped, 'dropped'],
    [notDeleted, 'written, but not deleted: run the same command again'],
    [notReached, 'given back before their turn: run the same command again'],
    [leftOfPlan, 'of the plan, and left'],
    [notOfPlan, 'not of the plan, and left'],
    [goneBefore, 'dropped before'],
    [missed, 'of the plan, and not seen: somebody else has them, or they are gone'],
    [notReleased, 'of those left come back only when SQS shows them again, within minutes'],
  ];
  const ends = {
    done: 'done',
    signal: 'stopped; the same command goes on from here',
    limit: 'stopped: SQS hides no more letters at once; run the same command again',
    failed: `stopped: ${failure?.says ?? 'it failed'}; the same command goes on from here`,
  };
  return [
    ...rows.filter(([count]) => count > 0).map(([count, says]) => `${String(count).padStart(8)}  ${says}`),
    `${plural(received, 'letter')} received; ${ends[end]}`,
  ];
}
