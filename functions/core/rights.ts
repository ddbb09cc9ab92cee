/**
 * What the watcher and the function ask of an API server, from nothing but what reconcilers declare. It is the list that RBAC is made
 * of; a call of theirs that is not in it is a fault of this file.
 */
import { parseFieldSelector } from '../../events/selector.ts';
import { fullNameOf } from './kind-names.ts';
import type { Reconciler } from './reconciler.ts';
import type { Unit } from './settings.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'bind';

/** One thing that one process does in all namespaces. */
export interface Right {
  readonly group: string;
  /** Plural, with the subresource where it is about one: `tenants/status`. */
  readonly resource: string;
  readonly verb: Verb;
  /** The one object that it is about; undefined: all of them. */
  readonly name: string | undefined;
  /** Kinds of the reconcilers that need it; empty for what the process needs by itself. */
  readonly because: readonly string[];
}

/** What rights follow from. */
export type Declared = Pick<Reconciler, 'resource' | 'owns' | 'reads' | 'grants' | 'watch' | 'finalization'>;

/** A server-side apply is `patch`, and `create` besides where the object is not there. */
const OWNED_VERBS: Readonly<Record<Unit, readonly Verb[]>> = {
  watcher: ['list', 'watch'],
  reconcile: ['get', 'list', 'create', 'patch', 'delete'],
};

/** Each right once, with all kinds that need it, sorted by group, resource, name and verb. */
export function rightsOf(unit: Unit, reconcilers: readonly Declared[]): readonly Right[] {
  const found = new Map<string, Right>();
  const add = (because: string | undefined, group: string, resource: string, verbs: readonly Verb[], name?: string): void => {
    for (const verb of verbs) {
      const key = JSON.stringify([group, resource, name ?? '', verb]);
      const known = found.get(key)?.because ?? [];
      const kinds = because === undefined || known.includes(because) ? known : [...known, because];
      found.set(key, { group, resource, verb, name, because: kinds });
    }
  };
  for (const reconciler of reconcilers) {
    const { resource, owns, reads, grants } = reconciler;
    const { group, plural, kind } = resource;
    for (const owned of owns) add(kind, owned.group, owned.plural, OWNED_VERBS[unit]);
    // A selection by name is the one that RBAC knows.
    const only = onlyName(reconciler.watch.fieldSelector);
    if (unit === 'watcher') {
      add(kind, group, plural, ['list', 'watch'], only);
      if (!resource.isDescribed) add(kind, 'apiextensions.k8s.io', 'customresourcedefinitions', ['get'], fullNameOf(resource));
      continue;
    }
    add(kind, group, plural, ['get'], only);
    if (!resource.isDescribed) add(kind, group, `${plural}/status`, ['patch'], only);
    if (reconciler.finalization !== undefined) add(kind, group, plural, ['patch'], only);
    // Children block the deletion of their owner, which OwnerReferencesPermissionEnforcement lets only those say who may do this.
    if (owns.length > 0) add(kind, group, `${plural}/finalizers`, ['update'], only);
    for (const read of reads) add(kind, read.group, read.plural, ['get']);
    for (const { kind: role, name } of grants) {
      add(kind, 'rbac.authorization.k8s.io', role === 'ClusterRole' ? 'clusterroles' : 'roles', ['bind'], name);
    }
  }
  if (unit === 'reconcile') add(undefined, 'events.k8s.io', 'events', ['create']);
  return [...found.values()].filter((right) => !isCovered(right, found)).sort(byPlace);
}

/** True for a right to one object that there is for all. */
function isCovered({ group, resource, verb, name }: Right, all: ReadonlyMap<string, Right>): boolean {
  return name !== undefined && all.has(JSON.stringify([group, resource, '', verb]));
}

function onlyName(fieldSelector: string | undefined): string | undefined {
  if (fieldSelector === undefined) return undefined;
  const parsed = parseFieldSelector(fieldSelector);
  if (parsed.kind === 'refused') return undefined;
  return parsed.requirements.find(({ path, isEqual }) => path === 'metadata.name' && isEqual)?.value;
}

const VERBS: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'bind'];

function byPlace(a: Right, b: Right): number {
  const place = ({ group, resource, name = '' }: Right): string => `${group} ${resource} ${name}`;
  if (place(a) !== place(b)) return place(a) < place(b) ? -1 : 1;
  return VERBS.indexOf(a.verb) - VERBS.indexOf(b.verb);
}
