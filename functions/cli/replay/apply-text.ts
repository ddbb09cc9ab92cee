/** What an apply will do, and what it came to, in figures. */
import type { ApplySettings, ApplySummary } from '../../replay/apply/contract.ts';
import { LEFT_TEXTS } from '../../replay/apply/decide.ts';
import { REASON_TEXTS, type ReplayClass } from '../../replay/verdict.ts';
import { type Count, figuresOf, sumOf } from './acting.ts';
import { plural, reasonText } from './text.ts';

/** Classes whose letters go although nothing is sent. */
const ACKNOWLEDGED: readonly ReplayClass[] = ['converged', 'gone', 'superseded'];

/** Reasons that somebody who reads the plan expects: nothing failed. */
const EXPECTED_LEFT: ReadonlySet<string> = new Set(['undecided', 'unreadable', 'paused', 'not-selected']);

/** What will happen to letters that have their fate still ahead. */
export function intentText(counts: ReadonlyMap<ReplayClass, Count>, settings: ApplySettings, accounted: number): string[] {
  const of = (names: readonly ReplayClass[]): ReadonlyMap<ReplayClass, Count> =>
    new Map([...counts].filter(([name]) => names.includes(name)));
  const [sends, acknowledged, left] = [of(['to-replay']), of(ACKNOWLEDGED), of(['unknown', 'unreadable'])];
  const { letters, objects } = sumOf(sends.values());
  const { canary, ratePerSecond, stopAt, canaryTimeoutSeconds } = settings;
  const percent = Math.round(stopAt * 1000) / 10;
  return [
    ...(accounted === 0 ? [] : [`  done with before: ${plural(accounted, 'letter')} of the plan`]),
    `  to be sent again: ${plural(letters, 'letter')} of ${plural(objects, 'object')}`,
    ...(objects === 0
      ? []
      : [
          `    ${canary < objects ? `${canary} first, and the others once those are reconciled, ` : ''}at most ${ratePerSecond} a second in a cluster`,
          `    nothing more once over ${percent}% failed again, or were not reconciled in ${canaryTimeoutSeconds} s`,
        ]),
    ...(acknowledged.size === 0 ? [] : [`  to be deleted, since nothing is to be done: ${figuresOf(acknowledged)}`]),
    ...(left.size === 0 ? [] : [`  to be left: ${figuresOf(left)}`]),
  ];
}

/** Letters that an apply deletes by these counts, with or without something in their place. */
export function actedOn(counts: ReadonlyMap<ReplayClass, Count>): number {
  return sumOf([...counts].filter(([name]) => name === 'to-replay' || ACKNOWLEDGED.includes(name)).map(([, count]) => count)).letters;
}

/** True where the plan is done: nothing failed or came back, nothing is open, and no letter is missed. */
export function isDone({ end, letters, sends, earlierSends }: ApplySummary): boolean {
  return (
    end === 'done' &&
    letters.missed === 0 &&
    letters.cameBack === 0 &&
    letters.notDeleted === 0 &&
    [sends, earlierSends].every(({ bad, unjudged }) => bad === 0 && unjudged === 0) &&
    Object.keys(letters.left).every((reason) => EXPECTED_LEFT.has(reason))
  );
}

export function summaryText({ end, failure, letters, sends, earlierSends }: ApplySummary): string[] {
  const { received, sent, folded, sentBefore, acknowledged, left, notOfPlan, notDeleted, missed, notReleased, cameBack } = letters;
  const row = (count: number, says: string): string[] => (count === 0 ? [] : [`${String(count).padStart(8)}  ${says}`]);
  const rows = (counts: Readonly<Record<string, number>>, verb: string, texts: Readonly<Record<string, string>>): string[] =>
    Object.entries(counts).flatMap(([reason, count]) => row(count, `${verb}: ${reasonText(reason, texts)}`));
  const stopped = 'stopped; the same command goes on from here';
  const ends = {
    done: 'done',
    signal: stopped,
    'too-many-bad': 'stopped by itself, since too many failed again; once the cause is gone, the same command goes on from here',
    failed: `stopped: ${failure?.says ?? 'it failed'}; the same command goes on from here`,
  };
  return [
    ...row(sent, `sent again, of as many objects: ${verdictsText(sends)}`),
    ...row(folded, 'more of those objects, deleted with them'),
    ...row(sentBefore, 'sent before'),
    ...rows(acknowledged, 'deleted', REASON_TEXTS),
    ...rows(left, 'left', LEFT_TEXTS),
    ...row(notOfPlan, `not of the plan, and left${cameBack === 0 ? '' : `; ${cameBack} of them came back, and need a new plan`}`),
    ...row(missed, 'of the plan, and not seen: somebody else has them, or they are gone'),
    ...row(notDeleted, 'of those that are done with are in the queue still: run the same command again'),
    ...row(notReleased, 'of those left come back only when SQS shows them again, within minutes'),
    ...(Object.values(earlierSends).every((count) => count === 0) ? [] : [`sent before, and judged now: ${verdictsText(earlierSends)}`]),
    `${plural(received, 'letter')} received; ${ends[end]}`,
  ];
}

function verdictsText(verdicts: ApplySummary['sends']): string {
  const names = { good: 'good', quiet: 'quiet', bad: 'bad', unjudged: 'without a verdict' } as const;
  return Object.entries(names)
    .flatMap(([verdict, name]) =>
      verdicts[verdict as keyof typeof names] === 0 ? [] : [`${verdicts[verdict as keyof typeof names]} ${name}`],
    )
    .join(', ');
}
