/** The objects behind the fake client: uid, resourceVersion and generation as a real API server counts them, and the history that watches replay. */
import { FIELD_MANAGER, FINALIZER_MANAGER } from '../../events/labels.ts';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { apiVersionOf, groupKind, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import { fieldsV1, isJson, type Json, mergeApplied, stillOwned } from './server-side-apply.ts';

/** One committed change. `before` is absent for ADDED. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: string;
  readonly resourceVersion: number;
  readonly object: KubernetesObject;
  readonly before: KubernetesObject | undefined;
}

interface Stored {
  object: KubernetesObject;
  /** What our field managers last applied, less what others have taken since. */
  owned: Owned;
}

/** What is applied by our manager, to its subresource, and by our manager of finalizers. */
export type Part = 'main' | 'status' | 'finalizer';
type Owned = Record<Part, Json>;

const OURS: ReadonlySet<unknown> = new Set([FIELD_MANAGER, FINALIZER_MANAGER]);
const nothingOwned = (): Owned => ({ main: {}, status: {}, finalizer: {} });

/** Groups of built-in kinds that have no generation, as far as tests use them. */
const WITHOUT_GENERATION = new Set(['', 'rbac.authorization.k8s.io', 'coordination.k8s.io', 'events.k8s.io']);

export class ObjectStore {
  resourceVersion = 1000;
  /** Watches from below this position are told that it expired. */
  compactedAt = 0;
  readonly history: Change[] = [];
  onChange: (change: Change) => void = () => {};
  readonly #objects = new Map<string, Stored>();
  readonly #now: () => Date;
  #uids = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get(type: ResourceType, at: ObjectAddress): KubernetesObject | undefined {
    return this.#objects.get(keyOf(type, at))?.object;
  }

  /** All objects of a kind in the order of a LIST: by namespace, then name. */
  all(type: ResourceType): KubernetesObject[] {
    const prefix = `${groupKind(type)} `;
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.flatMap((key) => this.#objects.get(key)?.object ?? []);
  }

  /** Server-side apply of the main resource or of `/status`; creates in the first case. */
  apply(type: ResourceType, at: ObjectAddress, body: Json, part: Part): KubernetesObject {
    const { apiVersion: _, kind: __, metadata, status, ...fields } = body;
    const { name: ___, namespace: ____, uid: _____, resourceVersion: ______, ...meta } = isJson(metadata) ? metadata : {};
    const next: Json =
      part === 'status' ? { status: status ?? {} } : { ...fields, ...(Object.keys(meta).length > 0 ? { metadata: meta } : {}) };
    const stored = this.#objects.get(keyOf(type, at));
    if (stored === undefined) return this.#add(type, at, mergeApplied({}, {}, next), { ...nothingOwned(), [part]: next });
    const merged = mergeApplied(stored.object as Json, stored.owned[part], next);
    stored.owned[part] = next;
    return this.#replace(type, at, merged);
  }

  create(type: ResourceType, at: ObjectAddress, fields: Json): KubernetesObject {
    if (this.get(type, at) !== undefined) throw new Error(`${type.kind} ${at.name} exists already`);
    return this.#add(type, at, structuredClone(fields), nothingOwned());
  }

  /** Somebody else's write: `change` edits a copy. What it takes from us is no longer ours. */
  edit(type: ResourceType, at: ObjectAddress, change: (draft: Json) => void): KubernetesObject {
    const stored = this.#objects.get(keyOf(type, at));
    if (stored === undefined) throw new Error(`${type.kind} ${at.name} does not exist`);
    const draft = structuredClone(stored.object) as Json;
    change(draft);
    const before = stored.object as Json;
    const { main, status, finalizer } = stored.owned;
    stored.owned = {
      main: stillOwned(main, before, draft),
      status: stillOwned(status, before, draft),
      finalizer: stillOwned(finalizer, before, draft),
    };
    return this.#replace(type, at, draft);
  }

  /** DELETE: held back by finalizers, as on a real server. */
  delete(type: ResourceType, at: ObjectAddress): void {
    const object = this.get(type, at);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    if (!object.metadata.finalizers?.length) {
      this.#remove(type, at);
      return;
    }
    const deletionTimestamp = this.#now().toISOString();
    const { generation } = object.metadata;
    const more = { deletionTimestamp, ...(generation === undefined ? {} : { generation: generation + 1 }) };
    this.#replace(type, at, { ...object, metadata: { ...object.metadata, ...more } });
  }

  /** The store as it is now: calling the result makes it so again, as a restore of etcd does. Open watches are told nothing. */
  snapshot(): () => void {
    const { resourceVersion } = this;
    const copy = (from: ReadonlyMap<string, Stored>) =>
      [...from].map(([key, { object, owned }]) => [key, { object, owned: { ...owned } }] as const);
    const objects = new Map(copy(this.#objects));
    return () => {
      this.#objects.clear();
      for (const [key, stored] of copy(objects)) this.#objects.set(key, stored);
      this.resourceVersion = resourceVersion;
      this.history.splice(0, Infinity, ...this.history.filter((change) => change.resourceVersion <= resourceVersion));
    };
  }

  #add(type: ResourceType, at: ObjectAddress, fields: Json, owned: Stored['owned']): KubernetesObject {
    this.#uids += 1;
    const metadata = {
      ...(isJson(fields['metadata']) ? fields['metadata'] : {}),
      ...at,
      uid: `00000000-0000-4000-8000-${String(this.#uids).padStart(12, '0')}`,
      creationTimestamp: this.#now().toISOString(),
      ...(WITHOUT_GENERATION.has(type.group) ? {} : { generation: 1 }),
    };
    const stored: Stored = { object: { ...fields, apiVersion: apiVersionOf(type), kind: type.kind, metadata } as KubernetesObject, owned };
    this.#objects.set(keyOf(type, at), stored);
    return this.#commit('ADDED', type, stored, undefined);
  }

  /** Stores what changed: nothing at all for equal content; generation only for more than metadata and status. */
  #replace(type: ResourceType, at: ObjectAddress, next: Json): KubernetesObject {
    const stored = this.#objects.get(keyOf(type, at));
    if (stored === undefined) throw new Error(`${type.kind} ${at.name} does not exist`);
    const before = stored.object;
    if (canonical(before) === canonical(next) && canonical(ownEntriesOf(before)) === canonical(managedFields(stored.owned))) return before;
    const metadata: Json = { ...(isJson(next['metadata']) ? next['metadata'] : {}) };
    const moved = canonical(specOf(before as Json)) !== canonical(specOf(next));
    if (moved && before.metadata.generation !== undefined) metadata['generation'] = before.metadata.generation + 1;
    stored.object = { ...next, metadata } as unknown as KubernetesObject;
    if (before.metadata.deletionTimestamp !== undefined && !stored.object.metadata.finalizers?.length) {
      this.#remove(type, at, before);
      return stored.object;
    }
    return this.#commit('MODIFIED', type, stored, before);
  }

  #remove(type: ResourceType, at: ObjectAddress, last = this.get(type, at)): void {
    if (last === undefined) return;
    this.#objects.delete(keyOf(type, at));
    this.#commit('DELETED', type, { object: last, owned: nothingOwned() }, last);
  }

  #commit(kind: Change['type'], type: ResourceType, stored: Stored, before: KubernetesObject | undefined): KubernetesObject {
    this.resourceVersion += 1;
    const foreign = (stored.object.metadata.managedFields ?? []).filter(({ manager }) => !OURS.has(manager));
    const entries = [...managedFields(stored.owned), ...foreign];
    const metadata: ObjectMetadata = {
      ...stored.object.metadata,
      resourceVersion: String(this.resourceVersion),
      ...(kind === 'DELETED' ? {} : { managedFields: entries }),
    };
    const object = deepFreeze({ ...stored.object, metadata });
    stored.object = object;
    const change: Change = { type: kind, kind: groupKind(type), resourceVersion: this.resourceVersion, object, before };
    this.history.push(change);
    this.onChange(change);
    return object;
  }
}

function keyOf(type: ResourceType, at: ObjectAddress): string {
  return `${groupKind(type)} ${at.namespace ?? ''}/${at.name}`;
}

/** Everything that counts for generation. */
function specOf(object: Json): Json {
  const { metadata: _, status: __, ...rest } = object;
  return rest;
}

function managedFields(owned: Stored['owned']): Json[] {
  const entry = (fields: Json, subresource?: string, manager = FIELD_MANAGER): Json => ({
    manager,
    operation: 'Apply',
    ...(subresource === undefined ? {} : { subresource }),
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsV1(fields),
  });
  return [
    ...(Object.keys(owned.main).length > 0 ? [entry(owned.main)] : []),
    ...(Object.keys(owned.status).length > 0 ? [entry(owned.status, 'status')] : []),
    ...(Object.keys(owned.finalizer).length > 0 ? [entry(owned.finalizer, undefined, FINALIZER_MANAGER)] : []),
  ];
}

/** Entries of other managers are kept as a test wrote them. */
function ownEntriesOf(object: KubernetesObject): unknown {
  return (object.metadata.managedFields ?? []).filter(({ manager }) => OURS.has(manager));
}

/** JSON with sorted fields; RV and managedFields do not count. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (field, inner: unknown) => {
    if (field === 'resourceVersion' || field === 'managedFields') return undefined;
    return isJson(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner;
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
