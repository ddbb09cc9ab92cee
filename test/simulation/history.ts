/** The objects of a store as they were: what a cache shows that lags behind. */
import { groupKind, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import type { Change } from '../fakes/object-store.ts';

/** The object as it was at a resourceVersion; undefined where it was not there. */
export function objectAt(
  history: readonly Change[],
  type: ResourceType,
  at: ObjectAddress,
  resourceVersion: number,
): KubernetesObject | undefined {
  const kind = groupKind(type);
  const last = history.findLast(
    (change) =>
      change.resourceVersion <= resourceVersion &&
      change.kind === kind &&
      change.object.metadata.name === at.name &&
      (change.object.metadata.namespace ?? '') === (at.namespace ?? ''),
  );
  return last === undefined || last.type === 'DELETED' ? undefined : last.object;
}

/** All objects of a kind as they were at a resourceVersion, in the order of a LIST. */
export function objectsAt(history: readonly Change[], type: ResourceType, resourceVersion: number): KubernetesObject[] {
  const kind = groupKind(type);
  const objects = new Map<string, KubernetesObject>();
  for (const change of history) {
    if (change.kind !== kind || change.resourceVersion > resourceVersion) continue;
    const { namespace = '', name } = change.object.metadata;
    if (change.type === 'DELETED') objects.delete(`${namespace}/${name}`);
    else objects.set(`${namespace}/${name}`, change.object);
  }
  return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}
