import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransientError } from '../../../../../functions/core/errors.ts';
import { type Playable, playSteps } from '../../../../../infra/local/dev/demo/story.ts';
import { type Step, StepFailure } from '../../../../../infra/local/dev/demo/story-step.ts';
import { isWell } from '../../../../../infra/local/dev/demo/summary.ts';
import type { DevEvent, OutcomeLine } from '../../../../../infra/local/dev/dev-state.ts';

/** A stage on which the steps write the lines themselves, and a clock that they move. */
class StageDouble implements Playable {
  readonly stopping = new AbortController();
  readonly events: DevEvent[] = [];
  readonly late: OutcomeLine[] = [];
  nowMs = 0;
  #lines: OutcomeLine[] = [];

  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  beginStep(): void {
    this.#lines = [];
  }

  run(...lines: readonly OutcomeLine[]): void {
    this.#lines.push(...lines);
  }

  lines(): readonly OutcomeLine[] {
    return this.#lines;
  }

  async quiet(): Promise<void> {
    this.nowMs += 400;
    this.#lines.push(...this.late.splice(0));
  }

  play(steps: readonly Step<StageDouble>[], likelyCause?: string) {
    return playSteps(steps, this as StageDouble, (event) => this.events.push(event), { nowMs: () => this.nowMs, likelyCause });
  }
}

const step = (name: string, play: Step<StageDouble>['play'] = async () => `${name} is done`): Step<StageDouble> => ({
  ...{ name, text: `what ${name} does`, play },
});
const failing = (error: unknown): Step<StageDouble> =>
  step('second', async () => {
    throw error;
  });

describe('playSteps', () => {
  it('tells what a step does before it, and what followed after it', async () => {
    const stage = new StageDouble();
    const result = await stage.play([step('first'), step('second')]);
    assert.deepEqual(stage.events, [
      { kind: 'story', part: 'step', text: '1/2 first: what first does' },
      { kind: 'story', part: 'result', text: 'first is done' },
      { kind: 'story', part: 'step', text: '2/2 second: what second does' },
      { kind: 'story', part: 'result', text: 'second is done' },
    ]);
    assert.ok(isWell(result));
  });

  it('counts for a step what ran in it, also what came late, and takes its time without that', async () => {
    const stage = new StageDouble();
    const busy = step('busy', async (on) => {
      on.run({ branch: 'reconciled', messageIds: ['a'] });
      on.late.push({ branch: 'settled', messageIds: ['b'] });
      on.nowMs += 1500;
      return 'done';
    });
    const { results, seconds } = await stage.play([busy, step('idle')]);
    const told = results.map((each) => (each.kind === 'well' ? [each.name, each.seconds, each.figures.messages] : each.kind));
    assert.deepEqual(told, [
      ['busy', 1.5, 2],
      ['idle', 0, 0],
    ]);
    assert.equal(seconds, 2.3);
  });

  const failures: readonly (readonly [name: string, error: unknown, told: string | RegExp])[] = [
    [
      'names the object and what was waited for',
      new StepFailure('waited 30 s for Tenant/harbor in east to be Ready'),
      'waited 30 s for Tenant/harbor in east to be Ready',
    ],
    [
      'tells an error of ours in its own words',
      new TransientError('unreachable', 'the API server is out of reach'),
      'the API server is out of reach',
    ],
    [
      'tells where one that nobody foresaw was thrown',
      new TypeError('no such thing'),
      /^TypeError: no such thing\n\s+at .*story\.test\.ts/,
    ],
    ['tells what was thrown and is no error', 'nonsense', 'nonsense'],
  ];
  for (const [name, error, told] of failures) {
    it(`${name}, and plays no more after a step that failed`, async () => {
      const stage = new StageDouble();
      const result = await stage.play([step('first'), failing(error), step('third')]);
      assert.deepEqual(
        result.results.map(({ kind }) => kind),
        ['well', 'failed', 'not played'],
      );
      const last = stage.events.at(-1);
      assert.ok(last?.kind === 'story' && last.part === 'failure');
      if (typeof told === 'string') assert.equal(last.text, told);
      else assert.match(last.text, told);
      assert.ok(!isWell(result));
    });
  }

  it('tells a likely cause with what a step waited for in vain, and with no fault of the code', async () => {
    const told = async (error: unknown): Promise<string> => {
      const stage = new StageDouble();
      await stage.play([failing(error)], 'likely because of A=60');
      const last = stage.events.at(-1);
      return last?.kind === 'story' ? last.text : '';
    };
    assert.equal(await told(new StepFailure('waited 30 s')), 'waited 30 s; likely because of A=60');
    assert.doesNotMatch(await told(new TypeError('no such thing')), /likely/);
  });

  it('is a failure of the step where its messages come to no end', async () => {
    const stage = new StageDouble();
    stage.quiet = async () => {
      throw new StepFailure('2 messages wait');
    };
    const { results } = await stage.play([step('first')]);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['failed'],
    );
  });

  it('is no failure where the run is ended in the middle', async () => {
    const stage = new StageDouble();
    const ended = new Error('ended');
    const stopped = step('first', async (on) => {
      on.stopping.abort(ended);
      throw new StepFailure('the cluster is gone');
    });
    await assert.rejects(stage.play([stopped, step('second')]), ended);
    assert.deepEqual(stage.events.length, 1);
  });
});
