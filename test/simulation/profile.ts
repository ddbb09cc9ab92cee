/** What a seed draws: which faults there are, how many, and what is promised under them. */
import type { KindName } from './kinds.ts';
import type { Random } from './random.ts';

/** So long that no resync comes: what only one would repair is then found. */
export const NO_RESYNC_SECONDS = 1_000_000_000;

/**
 * What repairs everything once the faults are over.
 * - `at-once`: what is under way by then
 * - `resync`: what is under way, healing, and the next resync: two faults met of which ARCHITECTURE.md says that only it repairs them
 */
export type RepairedBy = 'at-once' | 'resync';

export interface Profile {
  readonly kind: KindName;
  readonly repairedBy: RepairedBy;
  /** In how many seconds every object is run once. */
  readonly resyncSeconds: number;
  readonly chaosMs: number;
  readonly workerCount: number;
  readonly names: readonly string[];
  /** Changes by users, in bursts. */
  readonly changeCount: number;
  readonly hasDeletions: boolean;
  readonly hasPauses: boolean;
  readonly hasForeignWrites: boolean;
  readonly hasDrift: boolean;
  /** Functions that die at a call, at most. */
  readonly crashMax: number;
  /** Of calls at which a function dies, while any of them still may. */
  readonly crashRate: number;
  readonly watcherCrashCount: number;
  /** Messages that two workers get, at most. */
  readonly duplicateMax: number;
  /** Of calls that fail, or whose answer is lost. */
  readonly errorRate: number;
  /** Of sends that fail, or whose answer is lost. */
  readonly sendErrorRate: number;
  /** Of cached reads that are behind. */
  readonly staleRate: number;
  /** The longest that a call takes now and then. */
  readonly slowMaxMs: number;
  /** Calls hang now and then. */
  readonly hasHangs: boolean;
  /** When no call reaches the API server, in milliseconds since the start. */
  readonly outage: { readonly startMs: number; readonly endMs: number };
  /** Kind B: somebody else holds deleted objects too, for a while. */
  readonly hasOtherFinalizers: boolean;
  readonly apiRestartCount: number;
  readonly hasRestore: boolean;
  readonly hasPurge: boolean;
}

/** Faults that together leave nothing to the resync. */
type Mix = 'crashes' | 'duplicates' | 'drift' | 'all';

/** The profile of a seed. */
export function drawProfile(kind: KindName, random: Random): Profile {
  const mix: Mix = random.pick(['crashes', 'crashes', 'crashes', 'duplicates', 'duplicates', 'drift', 'drift', 'all', 'all', 'all']);
  const isAll = mix === 'all';
  const watcherCrashCount = mix === 'crashes' || isAll ? random.pick([0, 0, 1, 2]) : 0;
  const chaosMs = random.pick([10_000, 30_000, 60_000, 200_000]);
  const outageMs = random.int(0, chaosMs);
  const hasOutage = random.chance(0.15);
  const errorRate = random.pick([0, 0, 0.02, 0.1]);
  const hasHangs = mix !== 'duplicates' && random.chance(0.2);
  const apiRestartCount = random.pick([0, 0, 0, 1]);
  const hasPauses = random.chance(0.2);
  // What a pause ended, and a watcher that does not look just then does not see resumed, is left to healing or to the resync.
  const isLookedAway = watcherCrashCount + errorRate + apiRestartCount > 0 || hasOutage || hasHangs;
  const repairedBy = isAll || (hasPauses && isLookedAway) ? 'resync' : 'at-once';
  const hasRestore = isAll && kind === 'A' && random.chance(0.3);
  return {
    kind,
    repairedBy,
    resyncSeconds: repairedBy === 'resync' ? random.pick([36_000, 36_000, 120]) : NO_RESYNC_SECONDS,
    chaosMs,
    workerCount: random.int(2, 3),
    names: random.chance(0.6) ? ['a'] : ['a', 'b'],
    changeCount: random.int(3, 24),
    hasDeletions: random.chance(0.5),
    hasPauses,
    hasForeignWrites: random.chance(0.5),
    hasDrift: (mix === 'drift' || mix === 'duplicates' || isAll) && random.chance(0.7),
    // What SQS itself moves to the dead letters comes back as a first record: nothing says any more that a run of it has died.
    crashMax: mix === 'duplicates' ? 0 : isAll && random.chance(0.2) ? 15 : random.int(0, 4),
    crashRate: random.pick([0.05, 0.05, 0.4]),
    watcherCrashCount,
    duplicateMax: mix === 'duplicates' || isAll ? random.int(1, 4) : 0,
    errorRate,
    // A send that fails leaves its message to another receive, which a duplicate's other holder may spoil by acknowledging it.
    sendErrorRate: mix === 'duplicates' ? 0 : random.pick([0, 0, 0.1]),
    staleRate: random.pick([0, 0.3, 0.8]),
    slowMaxMs: mix === 'duplicates' ? 1_500 : random.pick([200, 2_000, 9_000]),
    hasHangs,
    outage: hasOutage ? { startMs: outageMs, endMs: outageMs + random.pick([5_000, 60_000]) } : { startMs: 0, endMs: 0 },
    hasOtherFinalizers: random.chance(0.3),
    apiRestartCount,
    hasRestore,
    // A purge loses what was to look after an object that is gone, and nobody knows of that any more.
    hasPurge: isAll && kind !== 'B' && random.chance(0.2),
  };
}
