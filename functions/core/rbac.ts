/** Manifests of RBAC: a ClusterRole with what a process needs and nothing else, and the binding that gives it to somebody. */
import type { KubernetesObject } from './reconciler.ts';
import { type Declared, type Right, rightsOf, type Verb } from './rights.ts';
import type { Unit } from './settings.ts';

const API_GROUP = 'rbac.authorization.k8s.io';

/** One rule as RBAC has it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly Verb[];
}

/** Who is given the role. */
export type Subject =
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string };

/** As an object to be applied: no metadata of the server's. */
export type Manifest = Omit<KubernetesObject, 'metadata'> & {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
};

/** What the watcher's manifests of `infra/watcher/kubernetes` run as. */
export const WATCHER_ACCOUNT: Subject & { readonly kind: 'ServiceAccount' } = {
  kind: 'ServiceAccount',
  namespace: 'dogwatch',
  name: 'dogwatch-watcher',
};

/** The group in the cluster of whoever comes from outside: no prefix that Kubernetes or EKS keeps for itself. */
export function groupOf(unit: Unit): Subject & { readonly kind: 'Group' } {
  return { kind: 'Group', name: roleNameOf(unit) };
}

/**
 * ClusterRole and ClusterRoleBinding, both named `dogwatch-<unit>`.
 *
 * For a cluster, not for a namespace: watches go over all of them, and a role in one could not let them.
 */
export function rbacManifests(unit: Unit, reconcilers: readonly Declared[], subject: Subject): readonly Manifest[] {
  const metadata = {
    name: roleNameOf(unit),
    labels: { 'app.kubernetes.io/name': 'dogwatch', 'app.kubernetes.io/component': unit },
  };
  return [
    { apiVersion: `${API_GROUP}/v1`, kind: 'ClusterRole', metadata, rules: rulesOf(rightsOf(unit, reconcilers)) },
    {
      apiVersion: `${API_GROUP}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: roleNameOf(unit) },
      subjects: [subject.kind === 'Group' ? { apiGroup: API_GROUP, ...subject } : subject],
    },
  ];
}

/** Of the ClusterRole, its binding and the group. */
export function roleNameOf(unit: Unit): string {
  return `dogwatch-${unit}`;
}

/**
 * The fewest rules that say exactly this: what is of one group and has the same verbs is one rule. Groups stay apart, since a rule of
 * two groups is about each resource in both.
 */
export function rulesOf(rights: readonly Right[]): readonly PolicyRule[] {
  const places = grouped(rights, ({ group, resource, name }) => [group, resource, name]).map((same) => ({
    ...(same[0] as Right),
    verbs: same.map(({ verb }) => verb),
  }));
  const named = grouped(places, ({ group, resource, verbs, name }) => [group, resource, verbs, name !== undefined]).map((same) => ({
    ...(same[0] as (typeof places)[number]),
    names: same.flatMap(({ name }) => name ?? []),
  }));
  return grouped(named, ({ group, verbs, names }) => [group, verbs, names]).map((same) => {
    const { group, verbs, names } = same[0] as (typeof named)[number];
    const resourceNames = names.length === 0 ? {} : { resourceNames: names };
    return { apiGroups: [group], resources: same.map(({ resource }) => resource), ...resourceNames, verbs };
  });
}

/** Those with equal `key` together, in the order of the first of each. */
function grouped<Item>(items: readonly Item[], key: (item: Item) => unknown): readonly (readonly Item[])[] {
  return [...Map.groupBy(items, (item) => JSON.stringify(key(item))).values()];
}
