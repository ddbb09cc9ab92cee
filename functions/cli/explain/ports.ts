/** What `dogwatch explain` works with, so that tests can put something else in its place. */
import { type Clock, systemClock } from '../../adapters/clock.ts';
import { type ClusterEntry, connectCluster } from '../../adapters/clusters.ts';
import type { KubernetesClient } from '../../adapters/kubernetes/port.ts';
import type { ClusterFacts } from '../../core/doctor/facts.ts';
import type { Reconciler } from '../../core/reconciler.ts';
import { reconcilers } from '../../reconcilers/index.ts';
import { askClusters } from '../doctor/cluster-facts.ts';
import { atDesk } from '../replay/desk.ts';

/** An answer by HTTP. */
export interface Page {
  readonly status: number;
  readonly text: string;
}

export interface ExplainPorts {
  readonly reconcilers: readonly Reconciler[];
  readonly clock: Clock;
  /** @throws ConfigError where the entry cannot be used */
  readonly connect: (entry: ClusterEntry) => KubernetesClient;
  /** Rights, CRD and kinds that a reconciler needs there. */
  readonly askCluster: (entry: ClusterEntry, reconciler: Reconciler) => Promise<ClusterFacts>;
  readonly atDesk: typeof atDesk;
  /** Rejects where nobody answers. */
  readonly fetchPage: (url: URL) => Promise<Page>;
  /** A line for the reader of the result, and one for whoever waits for it. */
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}

/** Limits of a call of a cluster, in milliseconds. */
const CALL_LIMITS = { connectMs: 5_000, totalMs: 10_000 };
/** And of the watcher. */
const PAGE_MS = 5_000;

export const PORTS: ExplainPorts = {
  reconcilers,
  clock: systemClock,
  connect: (entry) => connectCluster(entry, { timeouts: CALL_LIMITS, userAgent: 'dogwatch-explain' }),
  async askCluster(entry, reconciler) {
    const [facts] = await askClusters([entry], { reconcilers: [reconciler], units: ['reconcile', 'watcher'] });
    return facts as ClusterFacts;
  },
  atDesk,
  async fetchPage(url) {
    const response = await fetch(url, { signal: AbortSignal.timeout(PAGE_MS) });
    return { status: response.status, text: await response.text() };
  },
  print: (line) => console.log(line),
  say: (line) => console.error(line),
};
