/** What a step claims of messages, on a stage whose watcher sends as many as the row says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '../../../../../functions/core/reconciler.ts';
import { change } from '../../../../../infra/local/dev/demo/steps/change.ts';
import { twentyWriters } from '../../../../../infra/local/dev/demo/steps/twenty-writers.ts';
import { type Stage, type StageCluster, StepFailure } from '../../../../../infra/local/dev/demo/story-step.ts';

const LETS_BE = { until: async () => undefined, quiet: async () => undefined, lines: () => [] };

/** @param sent  what the watcher says that it has sent, before and after */
function stageOf(sent: readonly [before: number, after: number]): { readonly stage: Stage; readonly told: string[] } {
  const told: string[] = [];
  const answers = [...sent];
  const found = { metadata: { name: 'harbor' } } as KubernetesObject;
  const nothing = async (): Promise<void> => undefined;
  const east = { name: 'east', apply: nothing, patch: nothing, applyStatus: nothing, get: async () => found } as unknown as StageCluster;
  const stage = {
    ...LETS_BE,
    ...{ east, signal: new AbortController().signal, tell: (text: string) => told.push(text) },
    ready: async () => found,
    sentByWatcher: async () => answers.shift() ?? assert.fail('it is asked twice'),
  } as unknown as Stage;
  return { stage, told };
}

const isFailure = (says: RegExp) => (error: unknown) => error instanceof StepFailure && says.test(error.message);

describe('the step of a change', () => {
  it('is well with one message, or none that is known of', async () => {
    await change.play(stageOf([4, 5]).stage);
    await change.play(stageOf([4, 1]).stage);
  });

  it('fails with a second message', async () => {
    await assert.rejects(
      change.play(stageOf([4, 6]).stage),
      isFailure(/^Tenant\/harbor in east: of 1 change, the watcher has made 2 messages, not 1$/),
    );
  });
});

describe('the step of twenty writers', () => {
  it('is well with a message for each change of the spec, and tells it', async () => {
    const { stage, told } = stageOf([4, 6]);
    await twentyWriters.play(stage);
    assert.deepEqual(told, ['of 100 writes by others and 2 of the spec, the watcher has made 2 messages']);
  });

  it('fails where a foreign write has become one too', async () => {
    await assert.rejects(
      twentyWriters.play(stageOf([4, 7]).stage),
      isFailure(/^Tenant\/harbor in east: of 100 writes by others and 2 of the spec, the watcher has made 3 messages, not 2$/),
    );
  });
});
