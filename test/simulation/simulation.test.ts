import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KindName } from './kinds.ts';
import { playScenario, SCENARIOS } from './scenarios.ts';
import { runTrial } from './trial.ts';

/** Seeds of each kind, for some ten seconds; `soak.ts` runs more. */
const SEEDS: Readonly<Record<KindName, number>> = { A: 80, B: 80, C: 20 };

for (const [kind, count] of Object.entries(SEEDS) as [KindName, number][]) {
  describe(`the whole system in virtual time, kind ${kind}`, () => {
    it(`converges and never goes back, for the seeds 1 to ${count}`, async () => {
      for (let seed = 1; seed <= count; seed += 1) {
        const { findings, story } = await runTrial(kind, seed);
        const replay = `node test/simulation/soak.ts --kind ${kind} --from ${seed} --seeds 1`;
        assert.deepEqual(findings, [], `seed ${seed} of kind ${kind}: ${findings.join('; ')}\nreplay: ${replay}\n${story}`);
      }
    });
  });
}

describe('the whole system, where', () => {
  for (const scenario of SCENARIOS) {
    it(`${scenario.name} (kind ${scenario.kind}), ends as promised`, async () => {
      const { findings, story } = await playScenario(scenario);
      assert.deepEqual(findings, [], `${findings.join('; ')}\n${story}`);
    });
  }
});

describe('a simulation', () => {
  it('is the same every time for one seed', async () => {
    const stories = await Promise.all([runTrial('A', 7, 1_000), runTrial('A', 7, 1_000)]);
    assert.equal(stories[0].story, stories[1].story);
    assert.ok(stories[0].story.split('\n').length > 50);
  });
});
