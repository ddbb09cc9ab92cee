/** What an author's `finalize` answered, checked before anything rests on it. */
import { isJsonObject } from './plain-json.ts';
import { invalidPlan, isRequeueSeconds } from './plan.ts';
import type { FinalizeAnswer } from './reconciler.ts';
import { REQUEUE_MAX_SECONDS } from './wake-time.ts';

/**
 * The answer, copied. Nothing but `done: true` lets an object go: whatever is in doubt keeps the finalizer on.
 *
 * @throws TerminalError `invalid-plan`, naming the field
 */
export function checkFinalizeAnswer(answer: unknown): FinalizeAnswer {
  if (!isJsonObject(answer))
    throw invalidPlan('finalize returned no answer; return { done: true } or { done: false, requeueAfterSeconds }');
  const { done, requeueAfterSeconds } = answer;
  if (done === true) return { done };
  if (done !== false) throw invalidPlan('finalize returned an answer whose done is not true or false');
  if (isRequeueSeconds(requeueAfterSeconds)) return { done, requeueAfterSeconds };
  throw invalidPlan(`finalize is not done, and its requeueAfterSeconds is not a number from 1 to ${REQUEUE_MAX_SECONDS}`);
}
