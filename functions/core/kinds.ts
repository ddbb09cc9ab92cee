/** Built-in kinds that reconcilers own or read, so that `owns` lists names instead of literals. */
import type { ResourceType } from '../../events/resource.ts';

const core = { group: '', version: 'v1' } as const;

export const namespaces: ResourceType = { ...core, kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' };
export const configMaps: ResourceType = { ...core, kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' };
export const resourceQuotas: ResourceType = { ...core, kind: 'ResourceQuota', plural: 'resourcequotas', scope: 'Namespaced' };
export const roleBindings: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
};
