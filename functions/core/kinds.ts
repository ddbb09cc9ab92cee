/** Built-in kinds that reconcilers own or read, so that `owns` lists names instead of literals. */
import { ownedKind } from './owned-kind.ts';

const core = { group: '', version: 'v1' } as const;

export const namespaces = ownedKind({ ...core, kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' });
export const configMaps = ownedKind({ ...core, kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' });
export const resourceQuotas = ownedKind({ ...core, kind: 'ResourceQuota', plural: 'resourcequotas', scope: 'Namespaced' });
export const roleBindings = ownedKind({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
});
export const deployments = ownedKind({ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' });
