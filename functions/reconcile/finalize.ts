/**
 * The author's `finalize`, and the runs that call it for an object which is not there: gone, or another one has its name. What such
 * an object left outside is found by its uid alone.
 */
import { checkFinalizeAnswer } from '../core/finalize-answer.ts';
import type { CustomObject, Finalization, FinalizeAnswer, KubernetesObject } from '../core/reconciler.ts';
import { wakeTime } from '../core/wake-time.ts';
import { authorInput } from './author.ts';
import { overtaken } from './overtaken.ts';
import type { ObjectContext, RunContext } from './run-context.ts';
import type { StepsResult } from './run-report.ts';

/** Whose effects are to be undone, and the object while it is there and fits its schema. */
interface Finalized {
  readonly uid: string;
  readonly object: CustomObject<unknown, unknown> | undefined;
}

/**
 * What `finalize` answered. Under the same guard as `reconcile`: whatever it throws, returns or never returns stays a matter of
 * this one object.
 *
 * @throws whatever the author throws; TerminalError `invalid-plan` for an answer that is none
 */
export async function askToFinalize(context: RunContext, { finalize }: Finalization, { uid, object }: Finalized): Promise<FinalizeAnswer> {
  context.progress.stage = 'author';
  return checkFinalizeAnswer(await finalize({ ...authorInput(context, uid, undefined), uid, object }));
}

/**
 * A run whose object is not there: its own effects first, then whatever has the name now, by a message of its own.
 *
 * @param found  what has the name of the object; never the object itself
 */
export async function finalizeAbsent(
  context: RunContext,
  finalization: Finalization,
  { uid, found }: { readonly uid: string; readonly found: KubernetesObject | undefined },
): Promise<StepsResult> {
  const answer = await askToFinalize(context, finalization, { uid, object: undefined });
  if (!answer.done) return wakeFor(context, uid, answer.requeueAfterSeconds);
  return { outcome: found === undefined ? { kind: 'finished', branch: 'finalized' } : overtaken('replacement', found) };
}

/**
 * The end of a run that acted, corrected where its object is gone or replaced by now: what it did outside came after whatever
 * finalized the object, so it is undone here.
 */
export async function finalizeLost(context: ObjectContext, finalization: Finalization, result: StepsResult): Promise<StepsResult> {
  if (!isLost(result)) return result;
  const { uid } = context.object.metadata;
  const answer = await askToFinalize(context, finalization, { uid, object: undefined });
  const { outcome } = result;
  if (!answer.done) return { ...result, ...wakeFor(context, uid, answer.requeueAfterSeconds) };
  const isGone = outcome.kind === 'finished' && outcome.branch === 'gone';
  return isGone ? { ...result, outcome: { kind: 'finished', branch: 'finalized' } } : result;
}

function isLost({ outcome }: StepsResult): boolean {
  if (outcome.kind === 'overtaken') return outcome.by === 'replacement';
  return outcome.kind === 'finished' && (outcome.branch === 'gone' || outcome.branch === 'replaced');
}

/** To be run again for `uid`, whatever has its name by then. There is no status that could remember the time, or show how long it takes. */
function wakeFor({ now }: RunContext, uid: string, seconds: number): StepsResult {
  return { outcome: { kind: 'requeue-after', notBefore: wakeTime(now, seconds), uid, isGone: true } };
}
