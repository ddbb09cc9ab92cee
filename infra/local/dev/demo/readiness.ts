/** Whether an object is as its spec wants it, by its own status. */
import { type Condition, conditionsIn, READY, STALLED } from '../../../../functions/core/conditions.ts';
import { isJsonObject } from '../../../../functions/core/plain-json.ts';
import type { KubernetesObject } from '../../../../functions/core/reconciler.ts';
import type { OutcomeLine } from '../dev-state.ts';
import { outcomeText } from '../outcome-text.ts';

/** The condition of that type, if the object has it. */
export function conditionOf(object: KubernetesObject, type: string): Partial<Condition> | undefined {
  return conditionsIn(statusOf(object)).find((condition) => condition.type === type);
}

/** Its newest generation is in force. */
export function isReady(object: KubernetesObject): boolean {
  return conditionOf(object, READY)?.status === 'True' && statusOf(object)['observedGeneration'] === object.metadata.generation;
}

/** Nothing will be done for its newest generation by itself. */
export function isStalled(object: KubernetesObject): boolean {
  const stalled = conditionOf(object, STALLED);
  return stalled?.status === 'True' && stalled.observedGeneration === object.metadata.generation;
}

/** What is there instead, in one line, with what its last run came to. */
export function readyText(object: KubernetesObject | undefined, lastLine: OutcomeLine | undefined): string {
  if (object === undefined) return 'it does not exist';
  const ready = conditionOf(object, READY);
  const { observedGeneration = 'none' } = statusOf(object);
  const told = ready === undefined ? 'no condition Ready' : `Ready=${ready.status} (${ready.reason})`;
  return `it has ${told} for generation ${observedGeneration} of ${object.metadata.generation}; ${lastRunText(lastLine)}`;
}

function lastRunText(line: OutcomeLine | undefined): string {
  if (line === undefined) return 'no run in this step';
  const { branch, end } = outcomeText(line, 0);
  return `its last run: ${[branch, end].filter((text) => text !== '').join(', ')}`;
}

function statusOf(object: KubernetesObject): Readonly<Record<string, unknown>> {
  const { status } = object;
  return isJsonObject(status) ? status : {};
}
