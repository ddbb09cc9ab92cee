/** What a step claims, on a stage whose watcher and commands say what the test says. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KubernetesObject } from '../../../../../functions/core/reconciler.ts';
import { change } from '../../../../../infra/local/dev/demo/steps/change.ts';
import { replay } from '../../../../../infra/local/dev/demo/steps/replay.ts';
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

describe('the step of a replay', () => {
  let dir: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-replay-step-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const counts = { letters: 1, objects: 1 };
  const toReplay = { 'to-replay': { ...counts, reasons: { 'not-settled': counts } } };
  const converged = { converged: { ...counts, reasons: { settled: counts } } };

  /** Plays it. @param says  what `plan` and `apply` print, or throw */
  async function play(says: readonly (object | Error)[], { letters = [1, 0] } = {}) {
    const [told, ran, answers, counted]: [string[], string[][], (object | Error)[], number[]] = [[], [], [...says], [...letters]];
    const until: Stage['until'] = async (what, look) => {
      for (let looks = 0; looks < 3; looks++) {
        const found = await look();
        if (found !== undefined) return found;
      }
      throw new StepFailure(`waited for ${what}`);
    };
    const east = { name: 'east', remove: async () => undefined, get: async () => undefined };
    const stage = {
      ...{ east, dir, until, tell: (text: string) => told.push(text) },
      ready: async () => ({ metadata: { name: 'quarry' } }) as KubernetesObject,
      letterCount: async () => (counted.length > 1 ? counted.shift() : counted[0]),
      dogwatch: async (...words: string[]) => {
        ran.push(words.map((word) => (word.startsWith(dir) ? 'PLAN' : word)));
        const answer = answers.shift() ?? assert.fail('a command too many');
        if (answer instanceof Error) throw answer;
        return JSON.stringify(answer);
      },
    } as unknown as Stage;
    const end = await replay.play(stage).catch((error: unknown) => error);
    assert.deepEqual(readdirSync(dir), [], 'the plan is left');
    return { end, told, ran };
  }

  it('plans, applies that plan, tells what both said, and waits for the letter to be gone', async () => {
    const { end, told, ran } = await play([{ classes: toReplay }, { end: 'done', letters: { sent: 1 }, sends: { good: 1 } }]);
    assert.equal(end, 'Ready, no longer Stalled; no dead letter left');
    assert.deepEqual(told, [
      'plan: 1 letter to replay, not reconciled for its generation',
      'apply: 1 letter sent again, 1 object good; done',
    ]);
    assert.deepEqual(ran, [
      ['replay', 'plan', '--out', 'PLAN', '--json'],
      ['replay', 'apply', 'PLAN', '--yes', '--canary-timeout', '60s', '--json'],
    ]);
  });

  it('fails where there is nothing to replay, and says what the plan says', async () => {
    for (const [classes, says] of [
      [{}, /has nothing to replay: no letter$/],
      [converged, /has nothing to replay: 1 letter converged, reconciled since$/],
    ] as const) {
      const { end, ran } = await play([{ classes }]);
      assert.ok(isFailure(says)(end), String(end));
      assert.equal(ran.length, 1);
    }
  });

  it('fails where apply does, and tells nothing of it', async () => {
    const failure = new StepFailure('dogwatch replay apply PLAN ends with code 1: bad: east: Tenant quarry');
    const { end, told } = await play([{ classes: toReplay }, failure]);
    assert.equal(end, failure);
    assert.equal(told.length, 1);
  });

  it('fails where a letter stays', async () => {
    const { end } = await play([{ classes: toReplay }, { end: 'done', letters: { sent: 1 }, sends: { good: 1 } }], { letters: [1] });
    assert.ok(isFailure(/^waited for the dead-letter queue to be empty$/)(end), String(end));
  });
});
