/** Many seeds, for an hour or a night: `node test/simulation/soak.ts --kind A --from 1 --seeds 1000`. */
import { parseArgs } from 'node:util';
import type { KindName } from './kinds.ts';
import { runTrial } from './trial.ts';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', multiple: true, default: ['A'] },
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1000' },
    lines: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const startMs = performance.now();
const counts = { 'at-once': 0, healing: 0, resync: 0 };
let stepCount = 0;
let failedCount = 0;
let seedCount = 0;
for (const kind of values.kind as KindName[]) {
  for (let seed = from; seed < from + Number(values.seeds); seed += 1) {
    const verdict = await runTrial(kind, seed, values.lines === undefined ? undefined : Number(values.lines));
    seedCount += 1;
    stepCount += verdict.stepCount;
    counts[verdict.repairedBy] += 1;
    if (values.lines !== undefined) console.log(verdict.story);
    if (verdict.findings.length === 0) continue;
    failedCount += 1;
    console.log(`seed ${seed} of kind ${kind}:\n${verdict.findings.join('\n')}`);
    if (values['keep-going'] || values.lines !== undefined) continue;
    console.log(verdict.story);
    break;
  }
}
const seconds = (performance.now() - startMs) / 1000;
console.log(
  `${seedCount} seeds, ${failedCount} with findings, ${stepCount} steps, ${seconds.toFixed(1)} s; repaired ${JSON.stringify(counts)}`,
);
process.exitCode = failedCount > 0 ? 1 : 0;
