/** What happens while a plan is carried out, as somebody who waits for it reads it. */
import type { ApplyEvent, ApplySettings, SendVerdict } from '../../replay/apply/contract.ts';
import { LEFT_TEXTS } from '../../replay/apply/decide.ts';
import { placeText } from './acting.ts';
import type { Progress } from './progress.ts';
import { plural, printable, reasonText } from './text.ts';

/** Objects of one kind of trouble that are told one by one; the audit has all. */
const TOLD_MAX = 20;

/** Why an object has its verdict; for other reasons, those of a cluster that could not be asked, see `LEFT_TEXTS`. */
const VERDICT_TEXTS: Readonly<Record<string, string>> = {
  failing: 'failed again: Ready is False',
  'letter-back': 'failed again: its letter is back',
  timeout: 'not reconciled in time',
};

/** Tells events until the apply is over. */
export function tellApply(progress: Progress, settings: Pick<ApplySettings, 'canary' | 'stopAt'>): (event: ApplyEvent) => void {
  const told = { bad: 0, unjudged: 0, left: 0 };
  const tellSome = (kind: keyof typeof told, line: string): void => {
    told[kind] += 1;
    if (told[kind] <= TOLD_MAX) progress.note(line);
    else if (told[kind] === TOLD_MAX + 1) progress.note(`further ones that are ${kind} are in the audit`);
  };
  return (event) => {
    switch (event.kind) {
      case 'looking':
        return progress.update(`${plural(event.received, 'letter')} received, ${event.ofPlan} of the plan`);
      case 'looked':
        return progress.note(`${plural(event.received, 'letter')} received: ${event.ofPlan} of the ${event.planned} of the plan`);
      case 'resumed':
        if (event.sentBefore > 0)
          progress.note(
            `an apply before this one replaced ${plural(event.sentBefore, 'letter')}; ${plural(event.open, 'object')} of it ${event.open === 1 ? 'has' : 'have'} no verdict yet`,
          );
        if (event.hidden > 0)
          progress.note(
            `${plural(event.hidden, 'letter')} may be hidden still by an apply that was killed: waited for, at most ${event.hiddenSeconds} s`,
          );
        return;
      case 'canary-over':
        return progress.note('the canary is over: the others follow');
      case 'cluster-down':
        return progress.note(`warning: ${printable(event.cluster)}: ${printable(event.says)}; its letters are left`);
      case 'left':
        if (isNews(event.reason) && event.object !== undefined)
          tellSome('left', `left: ${placeText(event.object)}: ${reasonText(event.reason, LEFT_TEXTS)}`);
        return;
      case 'verdict':
        if (isTold(event.verdict))
          tellSome(event.verdict, `${event.verdict}: ${placeText(event.object)}: ${reasonText(event.reason, VERDICT_TEXTS, LEFT_TEXTS)}`);
        return;
      case 'stopping':
        // Whoever sends a signal is told so at once.
        if (event.end !== 'signal') progress.note(stoppingText(event.end, settings.stopAt));
        return;
      case 'progress': {
        const { objects, decided, sent, underWay, good, bad } = event.progress;
        const isCanary = sent - underWay < settings.canary && good + bad < settings.canary;
        const text = `${decided} of ${plural(objects, 'object')}: ${sent} sent, ${underWay} under way, ${good} good, ${bad} bad${isCanary && underWay > 0 ? ' (canary)' : ''}`;
        return progress.update(text, objects === 0 ? 1 : decided / objects);
      }
      case 'sent':
      case 'acknowledged':
        return;
    }
  };
}

/** What the plan says itself is none. */
function isNews(reason: string): boolean {
  return reason !== 'undecided' && reason !== 'unreadable';
}

function isTold(verdict: SendVerdict): verdict is 'bad' | 'unjudged' {
  return verdict === 'bad' || verdict === 'unjudged';
}

function stoppingText(end: 'too-many-bad' | 'failed', stopAt: number): string {
  if (end === 'failed') return 'stopping: nothing more is sent';
  return `stopping: over ${Math.round(stopAt * 1000) / 10}% of the objects failed again; nothing more is sent`;
}
