/** Looks for a fault of one kind until one is found: what `mutations.ts` runs over sources with a fault in them. Prints JSON. */
import type { KindName } from './kinds.ts';
import { playScenario, SCENARIOS } from './scenarios.ts';
import { ScriptError } from './stage.ts';
import { runTrial } from './trial.ts';

const [kind, from, count, seedsOnly] = process.argv.slice(2);
const first = Number(from);
let found: { readonly by: string; readonly finding: string | undefined } | undefined;
for (const scenario of SCENARIOS.filter((one) => one.kind === kind && seedsOnly !== 'seeds-only')) {
  const { findings } = await playScenario(scenario).catch((error: unknown) => {
    // A fault may make the code go another way, which alone does no harm.
    if (error instanceof ScriptError) return { findings: [] };
    throw error;
  });
  if (found === undefined && findings.length > 0) found = { by: `scenario "${scenario.name}"`, finding: findings[0] };
}
let seed = first;
for (; seed < first + Number(count) && found === undefined; seed += 1) {
  const { findings } = await runTrial(kind as KindName, seed);
  if (findings.length > 0) found = { by: `seed ${seed}`, finding: findings[0] };
}
console.log(JSON.stringify({ found, seedCount: seed - first }));
