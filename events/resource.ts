/**
 * Who an object is: the cluster it lives in, its kind, and its place there. Everything that remembers or names an object
 * uses these types, so that two clusters holding the same namespace and name never meet in one map entry.
 */

declare const brand: unique symbol;

/** A cluster's name in the registry: a DNS label (RFC 1123, at most 63 characters), unique among all known clusters. */
export type ClusterName = string & { readonly [brand]: 'ClusterName' };

/** A ResourceKey as one line of text: see {@link formatResourceKey}. */
export type ResourceKeyText = string & { readonly [brand]: 'ResourceKeyText' };

/** A kind as the API server serves it. `group` is empty for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
}

/** Where an object is inside its cluster and kind. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectAddress {
  readonly namespace?: string;
  readonly name: string;
}

/** The identity of an object by name. Two objects that had one name after another share it: uid tells them apart. */
export interface ResourceKey extends ObjectAddress {
  readonly cluster: ClusterName;
  readonly group: string;
  readonly kind: string;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_MAX = 253;

/** True for a DNS subdomain of RFC 1123 as Kubernetes has it: lower-case labels with dots between, at most 253 characters. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= SUBDOMAIN_MAX && SUBDOMAIN.test(text);
}

/** True for a DNS label: lower case letters, digits and inner hyphens, 1 to 63 characters. */
export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}

/** The text as a cluster name. @throws RangeError if it is not a DNS label */
export function clusterName(text: string): ClusterName {
  if (!isDnsLabel(text)) {
    throw new RangeError(`cluster name ${JSON.stringify(text)} is not a DNS label (a-z, 0-9, inner hyphens, at most 63)`);
  }
  return text as ClusterName;
}

/** `apiVersion` as it stands in an object: `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** A type as a map key, version left out: served versions of one kind are one kind. `Tenant.platform.example`, `Namespace`. */
export function groupKind(type: Pick<ResourceType, 'group' | 'kind'>): string {
  return type.group === '' ? type.kind : `${type.kind}.${type.group}`;
}

/**
 * `cluster/group/kind/namespace/name`, always five segments; group and namespace may be empty.
 * No segment can hold a slash: the API server refuses it in names, and the others are DNS names or identifiers.
 */
export function formatResourceKey(key: ResourceKey): ResourceKeyText {
  return `${key.cluster}/${key.group}/${key.kind}/${key.namespace ?? ''}/${key.name}` as ResourceKeyText;
}

/** The key that {@link formatResourceKey} wrote, or undefined if the text is not one. */
export function parseResourceKey(text: string): ResourceKey | undefined {
  const [cluster, group, kind, namespace, name, ...rest] = text.split('/');
  if (rest.length > 0 || cluster === undefined || group === undefined || namespace === undefined) return undefined;
  if (!isDnsLabel(cluster) || !kind || !name) return undefined;
  const key = { cluster: cluster as ClusterName, group, kind, name };
  return namespace === '' ? key : { ...key, namespace };
}
