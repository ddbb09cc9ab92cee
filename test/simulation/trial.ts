/** One seed from its draw to its verdict. */
import { Chaos } from './chaos.ts';
import type { KindName } from './kinds.ts';
import { drawProfile, type Profile } from './profile.ts';
import { Random } from './random.ts';
import { Simulation } from './simulation.ts';
import { Users } from './users.ts';
import { START_MS } from './virtual-time.ts';

/** How long healing may take: the age budget of a message that was lost, and the wait after it. */
const HEALED_WITHIN_MS = 8 * 3_600_000;
/** Rounds in which an operator gives letters back. */
const REDRIVES_MAX = 5;

/** What became of a seed. */
export interface Verdict {
  /** Empty where all was as promised; else what was not. */
  readonly findings: readonly string[];
  /** What repaired the last of it. */
  readonly repairedBy: 'at-once' | 'healing' | 'resync';
  readonly stepCount: number;
  /** The profile and the last steps, for a message. */
  readonly story: string;
}

/**
 * Runs a seed: chaos, calm, and then a look at what is there.
 *
 * @param storyLines steps that the story tells, also of a seed without a finding; left out: the last, of one with findings
 */
export async function runTrial(kind: KindName, seed: number, storyLines?: number): Promise<Verdict> {
  const random = new Random(seed);
  const profile = drawProfile(kind, random);
  const chaos = new Chaos(profile, random.fork(), () => simulation.time.nowMs - START_MS);
  const { resyncSeconds } = profile;
  const simulation: Simulation = new Simulation({ kind, seed, fates: () => chaos, api: chaos.api, sqs: chaos.sqs, resyncSeconds });
  const users = new Users(simulation);
  await rage(simulation, users, profile, random);
  simulation.trace.add('sky', 'clears: no fault and no change from here on');
  chaos.isOver = true;
  if (!simulation.watching.isRunning) simulation.watching.start();
  users.resumeAll();
  users.letGo();
  const { problems, repairedBy } = await calm(simulation, profile);
  const findings = [...simulation.invariants.findings.map(({ name, what }) => `${name}: ${what}`), ...problems];
  const story = `${JSON.stringify(profile)}\n${simulation.trace.tail(storyLines ?? (findings.length > 0 ? STORY_LINES : 0))}`;
  return { findings, repairedBy, stepCount: simulation.time.stepCount, story };
}

/** The last steps that a failure tells. */
const STORY_LINES = 120;

async function rage(simulation: Simulation, users: Users, profile: Profile, random: Random): Promise<void> {
  const { time, watching, workers, api, sqs } = simulation;
  const startMs = time.nowMs;
  const plans: { readonly atMs: number; readonly run: () => void }[] = [];
  const plan = (run: () => void, atMs = random.int(0, profile.chaosMs)): void => {
    plans.push({ atMs: startMs + atMs, run });
  };
  if (random.chance(0.5)) for (const name of profile.names) plan(() => users.put(name, { children: ['x'] }), 0);
  let burstMs = 0;
  for (let change = 0; change < profile.changeCount; change += 1) {
    // Changes come in bursts: what goes wrong does while runs overlap.
    burstMs = random.chance(0.7) ? Math.min(profile.chaosMs, burstMs + random.int(0, 1_500)) : random.int(0, profile.chaosMs);
    plan(() => users.act(profile, random), burstMs);
  }
  for (let crash = 0; crash < profile.watcherCrashCount; crash += 1) {
    const atMs = random.int(0, profile.chaosMs);
    const isStopped = random.chance(0.3);
    plan(() => (isStopped ? void watching.stop() : watching.crash()), atMs);
    plan(() => watching.isRunning || watching.start(), atMs + random.int(0, 20_000));
  }
  for (let restart = 0; restart < profile.apiRestartCount; restart += 1) plan(() => api.restart());
  if (profile.hasPurge) plan(() => sqs.purge());
  if (profile.hasRestore) {
    const atMs = random.int(0, profile.chaosMs);
    plan(() => {
      const restore = api.snapshot();
      plans.push({
        atMs: time.nowMs + random.int(100, 10_000),
        run() {
          restore();
          workers.changeHistory();
        },
      });
    }, atMs);
  }
  watching.start();
  workers.start(profile.workerCount);
  while (plans.length > 0) {
    plans.sort((a, b) => a.atMs - b.atMs);
    const next = plans.shift();
    if (next === undefined || simulation.hasFinding) return;
    await simulation.pass(Math.max(0, next.atMs - time.nowMs));
    next.run();
  }
  await simulation.pass(Math.max(0, startMs + profile.chaosMs - time.nowMs));
}

async function calm(
  simulation: Simulation,
  profile: Profile,
): Promise<{ readonly problems: readonly string[]; readonly repairedBy: Verdict['repairedBy'] }> {
  // A restore is found by the next probe, after 5 minutes of quiet.
  if (profile.hasRestore) await simulation.pass(600_000);
  let problems = await settled(simulation);
  if (problems.length === 0 || profile.repairedBy === 'at-once') return { problems, repairedBy: 'at-once' };
  // A history that passed our position before anybody asked is told by the next list only.
  if (profile.hasRestore) simulation.api.restart();
  await simulation.pass(HEALED_WITHIN_MS);
  problems = await settled(simulation);
  if (problems.length === 0) return { problems, repairedBy: 'healing' };
  const unhealed = problems.filter((problem) => problem.startsWith('status') || problem.startsWith('deletion'));
  if (unhealed.length > 0) return { problems: unhealed, repairedBy: 'healing' };
  await simulation.pass(profile.resyncSeconds * 1000);
  return { problems: await settled(simulation), repairedBy: 'resync' };
}

/** What is wrong once nothing is under way any more and no letter is left. */
async function settled(simulation: Simulation): Promise<string[]> {
  const { sqs } = simulation;
  for (let round = 0; round < REDRIVES_MAX; round += 1) {
    await simulation.settle();
    if (simulation.hasFinding) return [];
    if (sqs.letters.length === 0) break;
    sqs.redriveLetters();
  }
  return await simulation.problems();
}
