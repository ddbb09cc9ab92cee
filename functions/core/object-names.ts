/** What Kubernetes accepts as the name of an object, a label or an annotation, so that a bad one is refused before anything is written. */
import { groupKind, isDnsLabel, type ResourceType } from '../../events/resource.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const SUBDOMAIN_MAX = 253;

/** True for a DNS subdomain of RFC 1123 as Kubernetes has it: lower-case labels with dots between, at most 253 characters. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= SUBDOMAIN_MAX && SUBDOMAIN.test(text);
}

/** Kinds whose names are DNS labels: they become part of a host name. */
const DNS_LABEL_KINDS = new Set(['Namespace', 'Service']);

/** Kinds whose names only have to fit into a URL's path, so that `system:admin` is one. */
const PATH_SEGMENT_GROUP = 'rbac.authorization.k8s.io';

/**
 * What is wrong with the name of an object of this kind; undefined for one that may be used.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
export function nameProblem(type: Pick<ResourceType, 'group' | 'kind'>, name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'is missing';
  if (type.group === PATH_SEGMENT_GROUP) {
    return name === '.' || name === '..' || /[/%]/.test(name) ? 'is not a name that fits into a path (no / and no %)' : undefined;
  }
  if (DNS_LABEL_KINDS.has(groupKind(type))) {
    return isDnsLabel(name) ? undefined : 'is not a DNS label (a-z, 0-9, inner hyphens, at most 63 characters)';
  }
  return isDnsSubdomain(name) ? undefined : 'is not a DNS subdomain (a-z, 0-9, inner hyphens and dots, at most 253 characters)';
}

/** True for a key of a label or an annotation: a name of at most 63 characters, with or without a domain and a slash before it. */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  return QUALIFIED_NAME.test(key.slice(slash + 1)) && (slash < 0 || isDnsSubdomain(key.slice(0, slash)));
}

/** True for the value of a label: empty, or at most 63 characters of the few that are allowed. */
export function isLabelValue(value: string): boolean {
  return LABEL_VALUE.test(value);
}
