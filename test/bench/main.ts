/**
 * `npm run bench`: what watcher, function and `replay plan` cost, and how long `dogwatch dev` lets one wait. Exit code 1 where it is more than it may be.
 *
 * `--quick`: a tenth of the objects, less time. `--only NAME`: one of the scenarios; may be given more than once. `--flag FLAG`:
 * a flag of Node for the watcher in place of those of its container; may be given more than once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../../infra/build.ts';
import { measureDemo } from './dev-demo.ts';
import { type DevReport, measureDevStart } from './dev-start.ts';
import { measureEmbeddedServer } from './embedded-server.ts';
import { measureForms } from './forms.ts';
import { type FunctionOptions, type FunctionReport, measureFunction } from './function.ts';
import { measureReplay, type ReplayScale } from './replay.ts';
import { tableOf } from './report-table.ts';
import { type MemoryStep, measureReal, measureScripted } from './watcher-memory.ts';

type ScenarioName = 'scripted' | 'children' | 'real' | 'forms' | 'embedded';

interface Scenario {
  readonly objects: number;
  /** MB that the watcher may have resident at any time, the second list included. */
  readonly maxMb?: number;
}

/** In the order in which they run. Of `children` three objects in four are children: four lists at once, whose pages add up. */
const FULL: Readonly<Record<ScenarioName, Scenario>> = {
  scripted: { objects: 100_000, maxMb: 160 },
  children: { objects: 100_000, maxMb: 180 },
  real: { objects: 10_000, maxMb: 100 },
  forms: { objects: 20_000 },
  embedded: { objects: 10_000 },
};
/** Without any object the watcher has some 75 MB, of which Node's own file is more than half. */
const QUICK: typeof FULL = {
  scripted: { objects: 10_000, maxMb: 110 },
  children: { objects: 10_000, maxMb: 130 },
  real: { objects: 1_000, maxMb: 100 },
  forms: { objects: 5_000 },
  embedded: { objects: 2_000 },
};

type FunctionScale = Omit<FunctionOptions, 'dist'>;
const FUNCTION: FunctionScale = { starts: 15, warmRounds: 15, warmRuns: 150 };
const QUICK_FUNCTION: FunctionScale = { starts: 4, warmRounds: 6, warmRuns: 50 };
/**
 * What the function may cost: CPU until its first message is done, as a multiple of what the least handler takes for one; time of a
 * warm run, as a multiple of its bare calls on loopback, where a call costs nearly nothing.
 */
const FUNCTION_MAX = { startRatio: 3.5, warmRatio: 3.5 } as const;

/** Runs of `dogwatch dev`, each some five seconds. */
const DEV_STARTS = 5;
const QUICK_DEV_STARTS = 2;

const REPLAY: ReplayScale = {
  memory: { letters: 100_000, objects: 100_000, maxMb: 150 },
  speed: { letters: 10_000, objects: 2_000, minRatio: 3 },
};
/** Where there is less to do, what a plan takes for any queue weighs more: its start, and two long polls of a second that find nothing. */
const QUICK_REPLAY: ReplayScale = {
  memory: { letters: 2_000, objects: 2_000, maxMb: 110 },
  speed: { letters: 4_000, objects: 800, minRatio: 1.3 },
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    flag: { type: 'string', multiple: true },
  },
});
const scenarios = Object.entries(values.quick ? QUICK : FULL).filter(([name]) => values.only?.includes(name) ?? true);
const hasFunction = values.only?.includes('function') ?? true;
const hasStart = values.only?.includes('start') ?? true;
const hasDemo = values.only?.includes('demo') ?? true;
const hasReplay = values.only?.includes('replay') ?? true;
if (scenarios.length === 0 && !hasFunction && !hasStart && !hasDemo && !hasReplay)
  throw new Error(`no scenario of that name; there are: ${Object.keys(FULL).join(', ')}, function, start, demo, replay`);

const dist = mkdtempSync(join(tmpdir(), 'dogwatch-bench-dist-'));
process.once('exit', () => rmSync(dist, { recursive: true, force: true }));
if (scenarios.length > 0 || hasFunction || hasReplay) await build({ out: dist, quiet: true });
for (const [name, scenario] of scenarios) {
  if (name === 'forms') console.log(`\n${await measureForms(scenario.objects)}`);
  else if (name === 'embedded') console.log(`\n${await measureEmbeddedServer(scenario.objects)}`);
  else report(name, scenario, await measure(name, scenario.objects));
}
if (hasFunction) reportFunction(await measureFunction({ dist, ...(values.quick ? QUICK_FUNCTION : FUNCTION) }));
if (hasStart) reportDev(await measureDevStart(values.quick ? QUICK_DEV_STARTS : DEV_STARTS));
if (hasDemo) reportDev(await measureDemo());
if (hasReplay) reportDev(await measureReplay({ dist, ...(values.quick ? QUICK_REPLAY : REPLAY) }));

function measure(name: string, objects: number): Promise<MemoryStep[]> {
  const options = { dist, objects, churnSeconds: values.quick ? 5 : 30, flags: values.flag };
  return name === 'real'
    ? measureReal({ ...options, restart: !values.quick })
    : measureScripted({ ...options, children: name === 'children' });
}

function report(name: string, { objects, maxMb = Number.POSITIVE_INFINITY }: Scenario, steps: readonly MemoryStep[]): void {
  const head = [`${name}, ${objects}`, 'seconds', 'peak MB', 'resident MB', 'heap MB', 'CPU s', 'messages'];
  const rows = steps.map(({ step, seconds, memory: { peak, resident, heap }, cpuSeconds, sent }) => {
    return [`after ${step}`, seconds, peak, resident, heap, cpuSeconds, sent];
  });
  console.log(`\n${tableOf([head, ...rows])}`);
  const peak = Math.max(...steps.map(({ memory }) => memory.peak));
  if (peak <= maxMb) return;
  console.error(`bench: ${name} with ${objects} objects took ${peak.toFixed(1)} MB; at most ${maxMb} are allowed`);
  process.exitCode = 1;
}

function reportFunction({ text, ...ratios }: FunctionReport): void {
  console.log(`\n${text}`);
  for (const name of ['startRatio', 'warmRatio'] as const) {
    if (ratios[name] <= FUNCTION_MAX[name]) continue;
    console.error(`bench: function has a ${name} of ${ratios[name].toFixed(2)}; at most ${FUNCTION_MAX[name]} is allowed`);
    process.exitCode = 1;
  }
}

function reportDev({ text, overruns }: DevReport): void {
  console.log(`\n${text}`);
  for (const overrun of overruns) console.error(`bench: ${overrun}`);
  if (overruns.length > 0) process.exitCode = 1;
}
