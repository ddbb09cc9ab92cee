/** What the server says that it serves: groups, versions, resources; in the older form and in the aggregated one. */
import { apiVersionOf, type JsonObject, type KindInfo } from './api-object.ts';
import { NAMESPACES } from './built-in-kinds.ts';
import { clausesOf } from './forms.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/** Namespaces go one by one. */
const verbsOf = ({ plural, group }: KindInfo): readonly string[] =>
  plural === NAMESPACES && group === '' ? VERBS.filter((verb) => verb !== 'deletecollection') : VERBS;
const STATUS_VERBS = ['get', 'patch', 'update'];

/** Whether a client takes the aggregated form. */
export function takesAggregated(accept: string | undefined): boolean {
  return clausesOf(accept ?? '').some(
    ({ parameters: { as, g, v } }) => as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && v === 'v2',
  );
}

export const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Everything below `/api` (the core group) or `/apis` (all others) at once. */
export function aggregated(kinds: readonly KindInfo[], isCore: boolean): JsonObject {
  const groups = groupsOf(kinds.filter(({ group }) => (group === '') === isCore));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [...groups].map(([group, versions]) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([version, served]) => ({ version, resources: served.map(discoveryOf), freshness: 'Current' })),
    })),
  };
}

function discoveryOf(kind: KindInfo): JsonObject {
  const { group, version, plural, singular, shortNames, categories, namespaced, hasStatus } = kind;
  const responseKind = { group, version, kind: kind.kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(kind),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: STATUS_VERBS }] } : {}),
  };
}

export function apiVersions(address: string): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }] };
}

export function apiGroups(kinds: readonly KindInfo[]): JsonObject {
  const groups = groupsOf(kinds.filter(({ group }) => group !== ''));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups].map(([group, versions]) => groupOf(group, [...versions.keys()])) };
}

/** One group; undefined if it is not served. */
export function apiGroup(kinds: readonly KindInfo[], group: string): JsonObject | undefined {
  const versions = groupsOf(kinds).get(group);
  return versions === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, [...versions.keys()]) };
}

/** The resources of a version; undefined if it is not served. */
export function apiResources(kinds: readonly KindInfo[], group: string, version: string): JsonObject | undefined {
  const served = groupsOf(kinds).get(group)?.get(version);
  if (served === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap((kind) => [resourceOf(kind), ...(kind.hasStatus ? [statusOf(kind)] : [])]),
  };
}

function resourceOf(served: KindInfo): JsonObject {
  const { plural, singular, namespaced, kind, shortNames, categories } = served;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(served),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

function statusOf({ plural, namespaced, kind }: KindInfo): JsonObject {
  return { name: `${plural}/status`, singularName: '', namespaced, kind, verbs: STATUS_VERBS };
}

function groupOf(name: string, versions: readonly string[]): JsonObject {
  const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

function groupsOf(kinds: readonly KindInfo[]): Map<string, Map<string, KindInfo[]>> {
  const groups = new Map<string, Map<string, KindInfo[]>>();
  for (const kind of kinds) {
    const versions = groups.get(kind.group) ?? new Map<string, KindInfo[]>();
    groups.set(kind.group, versions);
    versions.set(kind.version, [...(versions.get(kind.version) ?? []), kind]);
  }
  return new Map([...groups].map(([group, versions]) => [group, new Map([...versions].sort(([a], [b]) => byPriority(a, b)))]));
}

/**
 * Which of two versions comes first: v2, v1, v2beta1, v1beta2, v1alpha1, then any other name by the alphabet.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
function byPriority(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? a.localeCompare(b) : (right[at] ?? 0) - (left[at] ?? 0);
}

/** Stability, major and minor number; larger ones come first. */
function rankOf(version: string): readonly number[] {
  const [, major, stage, minor] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  if (major === undefined) return [0, 0, 0];
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
}
