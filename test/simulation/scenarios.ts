/**
 * Schedules that random seeds come upon too seldom: each shows what one sentence of the protocol is for. Taken from the shortest
 * traces to a fault that an exhaustive search over small bounds has found.
 */

import { CHILD_SCENARIOS } from './child-scenarios.ts';
import { FINALIZER_SCENARIOS } from './finalizer-scenarios.ts';
import type { KindName } from './kinds.ts';
import { ScriptError, Stage } from './stage.ts';
import { WAKE_UP_SCENARIOS } from './wake-up-scenarios.ts';

export interface Scenario {
  readonly name: string;
  readonly kind: KindName;
  play(stage: Stage): Promise<void>;
}

export const SCENARIOS: readonly Scenario[] = [...CHILD_SCENARIOS, ...FINALIZER_SCENARIOS, ...WAKE_UP_SCENARIOS];

/**
 * Plays it, lets everything end, and tells what is not as promised, with the last steps.
 *
 * @throws ScriptError where it cannot be played: the code goes another way
 */
export async function playScenario({ kind, play }: Scenario): Promise<{ readonly findings: readonly string[]; readonly story: string }> {
  const stage = new Stage(kind);
  // The watcher has listed, so that what comes is news.
  await stage.pass(1_000);
  try {
    await play(stage);
  } catch (error) {
    if (!(error instanceof ScriptError && stage.simulation.hasFinding)) throw error;
  }
  const findings = await stage.finish();
  return { findings, story: stage.simulation.trace.tail(150) };
}
