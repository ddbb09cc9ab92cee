/** Asks the clusters of a registry, all at once and each for itself: one that hangs is given up, and holds up nobody. */
import type { ClusterEntry } from '../../adapters/clusters.ts';
import { type ClusterProbe, openProbe, type ProbeOptions } from '../../adapters/kubernetes/probe.ts';
import { mapBounded } from '../../core/bounded.ts';
import type { AnsweredRight, ClusterFacts } from '../../core/doctor/facts.ts';
import type { Asked } from '../../core/doctor/finding.ts';
import { groupVersionOf, kindsOf } from '../../core/doctor/kind-checks.ts';
import { fullNameOf } from '../../core/kind-names.ts';
import { type Declared, rightsOf } from '../../core/rights.ts';
import type { Unit } from '../../core/settings.ts';

/** All that is asked of one cluster ends after this. */
const CLUSTER_LIMIT_MS = 30_000;
/** A single call. */
const CALL_LIMITS = { connectMs: 5_000, totalMs: 10_000 };
/** Clusters at once, and calls at once of each. */
const CLUSTERS_AT_ONCE = 20;
const CALLS_AT_ONCE = 6;

export interface AskOptions extends Partial<Omit<ProbeOptions, 'signal'>> {
  readonly reconcilers: readonly Declared[];
  /** Whose rights are asked for. */
  readonly units: readonly Unit[];
  readonly limitMs?: number;
}

/** The facts of each, in order. */
export function askClusters(entries: readonly ClusterEntry[], options: AskOptions): Promise<ClusterFacts[]> {
  return mapBounded(entries, CLUSTERS_AT_ONCE, (entry) => askCluster(entry, options));
}

async function askCluster(
  entry: ClusterEntry,
  { reconcilers, units, limitMs = CLUSTER_LIMIT_MS, ...options }: AskOptions,
): Promise<ClusterFacts> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the time for this cluster is over')), limitMs);
  const probe = openProbe(entry, { timeouts: CALL_LIMITS, ...options, signal: limit.signal });
  try {
    const server = await probe.server();
    const { name } = entry;
    const none = { name, server, rights: {}, served: new Map(), definitions: new Map() };
    const user: Asked<string> = server.kind === 'told' ? await probe.user() : server;
    // Nobody has rights whom the server does not know, and no more is asked in his name.
    if (user.kind === 'untold' && (server.kind === 'untold' || /^(unauthorized|anonymous)$/.test(user.code))) return { ...none, user };
    const kinds = kindsOf(reconcilers);
    const crds = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : [fullNameOf(resource)]));
    const served = await answersOf([...new Set(kinds.map(groupVersionOf))], (groupVersion) => probe.served(groupVersion));
    const definitions = await answersOf(crds, (crd) => probe.definition(crd));
    const rights = Object.fromEntries(await Promise.all(units.map(async (unit) => [unit, await askRights(probe, unit, reconcilers)])));
    return { name, server, user, rights, served, definitions };
  } finally {
    clearTimeout(timer);
    probe.close();
  }
}

async function askRights(probe: ClusterProbe, unit: Unit, reconcilers: readonly Declared[]): Promise<AnsweredRight[]> {
  const ask = async (right: AnsweredRight['right']) => ({ right, isAllowed: await probe.isAllowed(right) });
  return mapBounded(rightsOf(unit, reconcilers), CALLS_AT_ONCE / 2, ask);
}

async function answersOf<Value>(names: readonly string[], ask: (name: string) => Promise<Value>): Promise<Map<string, Value>> {
  return new Map(await mapBounded(names, CALLS_AT_ONCE, async (name) => [name, await ask(name)] as const));
}
