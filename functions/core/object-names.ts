/** What Kubernetes accepts as the name of an object, so that a bad one is refused before anything is written. */
import { groupKind, isDnsLabel, isDnsSubdomain, type ResourceType } from '../../events/resource.ts';

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
