/**
 * The clusters that take part in a development run. One that is somebody's is left out where another Dogwatch may be at work on the same
 * kinds: it has the real AWS, and this run has embedded queues. An object would get a status of either in turn, and one that is deleted
 * meanwhile would lose its finalizer here, while what it stands for stays in AWS.
 */
import { ConfigError } from '../../../functions/core/errors.ts';
import { type Applier, applierOf } from './apply-object.ts';
import { createClusterCalls } from './cluster-calls.ts';
import { type Crd, type CrdCalls, createCrdCalls } from './crd-calls.ts';
import type { KeptCluster } from './crd-keeper.ts';
import type { DevCluster } from './dev-clusters.ts';
import type { DevEvent } from './dev-state.ts';

export interface SessionClusters<Cluster extends DevCluster> {
  /** Those that take part, for the keeper of their CRDs, who follows. */
  readonly kept: Iterable<KeptCluster>;
  all(): readonly Cluster[];
  /** By the clusters' names. */
  appliers(): Map<string, Applier>;
  /**
   * Leaves out those where somebody else than a development run has applied one of the CRDs, those that do not say it, and those that are
   * one that takes part already; tells why of each. A cluster that was taken over is asked for neither of the first two.
   *
   * @throws ConfigError `no-cluster` where none would be left, and leaves out none then
   */
  admit(crds: readonly Crd[]): Promise<void>;
  close(): void;
}

interface Member<Cluster> extends KeptCluster {
  readonly cluster: Cluster;
  readonly applier: Applier;
  readonly calls: CrdCalls;
  /** What the cluster is, whatever its address, asked once; undefined where it did not say. */
  readonly identity: () => Promise<string | undefined>;
  /** Names of CRDs that are nobody else's. */
  readonly admitted: Set<string>;
}

/** @param onLeftOut  called when some were, with those that still take part */
export function sessionClusters<Cluster extends DevCluster>(
  clusters: readonly Cluster[],
  emit: (event: DevEvent) => void,
  onLeftOut: (left: readonly Cluster[]) => void,
): SessionClusters<Cluster> {
  const all = clusters.map(memberOf);
  const members = new Set(all);
  const clustersLeft = (): Cluster[] => Array.from(members, ({ cluster }) => cluster);

  return {
    kept: members,
    all: clustersLeft,
    appliers: () => new Map(Array.from(members, ({ name, applier }) => [name, applier])),
    async admit(crds) {
      const asked = [...members];
      const [reasons, identities] = await Promise.all([
        Promise.all(asked.map((member) => reasonAgainst(member, crds))),
        Promise.all(asked.map((member) => member.identity())),
      ]);
      const taken = new Map<string, string>();
      const leftOut = asked.flatMap((member, index) => {
        const identity = identities[index];
        const twin = identity === undefined ? undefined : taken.get(identity);
        const reason = reasons[index] ?? (twin === undefined ? undefined : sameClusterText(twin));
        if (reason === undefined && identity !== undefined) taken.set(identity, member.cluster.context);
        return reason === undefined ? [] : [{ member, text: `context ${member.cluster.context} is left out: ${reason}` }];
      });
      if (leftOut.length === 0) return;
      if (leftOut.length === members.size) throw new ConfigError('no-cluster', leftOut.map(({ text }) => text).join('\n'));
      for (const { member, text } of leftOut) {
        members.delete(member);
        emit({ kind: 'notice', level: 'error', text });
      }
      onLeftOut(clustersLeft());
    },
    close() {
      for (const { applier } of all) applier.close();
    },
  };
}

/** Of a context that leads where another one leads. */
export function sameClusterText(context: string): string {
  return `it leads to the same cluster as context ${context}, where each object would be reconciled twice`;
}

function memberOf<Cluster extends DevCluster>(cluster: Cluster): Member<Cluster> {
  const calls = createClusterCalls(cluster);
  const { name, isOwn } = cluster;
  const ask = async (): Promise<string | undefined> => {
    // It is there for as long as the cluster is, and its uid is no other cluster's.
    const answer = await calls.send({ method: 'GET', path: '/api/v1/namespaces/kube-system' });
    if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
    return (JSON.parse(answer.text) as { metadata?: { uid?: string } }).metadata?.uid;
  };
  let identity: Promise<string | undefined> | undefined;
  return {
    ...{ name, isOwn, cluster, applier: applierOf(calls), calls: createCrdCalls(calls), admitted: new Set() },
    identity: async () => {
      if (!isOwn) identity ??= ask();
      return identity;
    },
  };
}

/** Undefined where nothing speaks against it. */
async function reasonAgainst({ cluster, calls, admitted }: Member<DevCluster>, crds: readonly Crd[]): Promise<string | undefined> {
  if (cluster.isOwn || cluster.isTakenOver === true) return undefined;
  const others = new Map<string, string>();
  for (const crd of crds.filter(({ metadata: { name } }) => !admitted.has(name))) {
    const { kind } = crd.spec.names;
    const found = await calls.read(crd);
    if (found.kind === 'unavailable')
      return `whether another Dogwatch reconciles ${kind} there is not known: ${found.problem}; start again when that is mended`;
    if (found.kind === 'stored' && found.crd.otherWriter !== undefined) others.set(kind, found.crd.otherWriter);
    else admitted.add(crd.metadata.name);
  }
  if (others.size === 0) return undefined;
  const writers = [...new Set(others.values())].join(' and ');
  return `the definition of ${[...others.keys()].join(' and ')} there is applied by ${writers}, so a deployed Dogwatch may reconcile these objects, with the real AWS where this run has embedded queues; stop that one, then take its place with --take-over`;
}
