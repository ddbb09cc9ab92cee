/** Where the embedded server keeps its objects: revisions as etcd counts them, and the history that watches and old reads need. */
import { isJsonObject, type KubeObject } from './api-object.ts';

/** Which objects: the resource's name (`widgets.lab.example.com`) and `namespace/name`, or the name alone. */
export interface ObjectId {
  readonly resource: string;
  readonly key: string;
}

/** One committed write. */
export interface Change {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  /** Undefined: added. */
  readonly before: KubeObject | undefined;
  /** Undefined: deleted. */
  readonly after: KubeObject | undefined;
}

/** The state at one moment, to start another server from. */
export interface Snapshot {
  readonly revision: number;
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
}

/** Changes kept of each kind; older ones have expired. */
const HISTORY_LIMIT = 10_000;
/** Where counting begins: a position of 1 is always too old, as it is in any cluster that has been up for a while. */
const FIRST_REVISION = 200;

interface Kept {
  readonly objects: Map<string, KubeObject>;
  /** Of this kind only, by revision. */
  history: Change[];
  /** Watches from below this are refused. */
  watchFloor: number;
  /** States below this are gone. */
  readFloor: number;
  sortedKeys: readonly string[] | undefined;
}

export class ObjectStore {
  #revision: number;
  #held: number | undefined;
  #watchFloor: number;
  #readFloor: number;
  readonly #kinds = new Map<string, Kept>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #cacheListeners = new Set<() => void>();

  constructor(from?: Snapshot) {
    this.#revision = from?.revision ?? FIRST_REVISION;
    this.#watchFloor = this.#revision;
    this.#readFloor = this.#revision;
    for (const [resource, objects] of from?.objects ?? []) this.#kept(resource).objects = new Map(objects);
  }

  /** Of the newest write of any kind. */
  get revision(): number {
    return this.#revision;
  }

  /** How far the watch cache has come: reads that name a version, and watches, see no further. */
  get cacheRevision(): number {
    return this.#held ?? this.#revision;
  }

  /** The watch cache stays where it is until the returned function is called. */
  holdCache(): () => void {
    this.#held ??= this.#revision;
    return () => {
      this.#held = undefined;
      for (const listener of this.#cacheListeners) listener();
    };
  }

  get({ resource, key }: ObjectId): KubeObject | undefined {
    return this.#kinds.get(resource)?.objects.get(key);
  }

  /** Writes `object` at the next revision, which becomes its resourceVersion; returns it as stored. */
  put(id: ObjectId, object: KubeObject): KubeObject {
    const before = this.get(id);
    this.#revision += 1;
    const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    const kept = this.#kept(id.resource);
    kept.objects.set(id.key, after);
    if (before === undefined) kept.sortedKeys = undefined;
    this.#commit(kept, { ...id, revision: this.#revision, before, after });
    return after;
  }

  remove(id: ObjectId): void {
    const kept = this.#kept(id.resource);
    const before = kept.objects.get(id.key);
    if (before === undefined) return;
    this.#revision += 1;
    kept.objects.delete(id.key);
    kept.sortedKeys = undefined;
    this.#commit(kept, { ...id, revision: this.#revision, before, after: undefined });
  }

  /** Keys in the order of a LIST, and the objects, now or as they were at `revision`. Undefined: that state is gone. */
  stateAt(resource: string, revision = this.#revision): ReadonlyMap<string, KubeObject> | undefined {
    const kept = this.#kept(resource);
    if (revision < kept.readFloor) return undefined;
    const current = new Map<string, KubeObject>();
    kept.sortedKeys ??= [...kept.objects.keys()].sort();
    for (const key of kept.sortedKeys) {
      const object = kept.objects.get(key);
      if (object !== undefined) current.set(key, object);
    }
    if (revision >= (kept.history.at(-1)?.revision ?? 0)) return current;
    let wasDeleted = false;
    for (const change of kept.history.toReversed()) {
      if (change.revision <= revision) break;
      if (change.before === undefined) current.delete(change.key);
      else current.set(change.key, change.before);
      wasDeleted ||= change.after === undefined;
    }
    return wasDeleted ? new Map([...current].sort(([a], [b]) => (a < b ? -1 : 1))) : current;
  }

  /** Changes of a kind after `revision` that the cache has, oldest first. */
  changesAfter(resource: string, revision: number): readonly Change[] {
    const { history } = this.#kept(resource);
    let [low, high] = [0, history.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((history[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    const { cacheRevision } = this;
    const after = history.slice(low);
    return this.#held === undefined ? after : after.filter((change) => change.revision <= cacheRevision);
  }

  /** The oldest position that a watch of this kind may have. */
  watchFloor(resource: string): number {
    return this.#kept(resource).watchFloor;
  }

  /** All positions of the kind, or of all kinds, are void: watches are refused below the current revision. */
  expireWatches(resource?: string): void {
    if (resource === undefined) this.#watchFloor = this.#revision;
    for (const kept of this.#chosen(resource)) kept.watchFloor = this.#revision;
  }

  /** Former states are gone, as after a compaction: continue tokens and exact reads of them are refused. */
  compact(): void {
    this.#readFloor = this.#revision;
    for (const kept of this.#kinds.values()) kept.readFloor = this.#revision;
  }

  /** Resources that have objects. */
  resources(): string[] {
    return [...this.#kinds].filter(([, { objects }]) => objects.size > 0).map(([resource]) => resource);
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when the cache moves on, by a write or a release. */
  onCacheMove(listener: () => void): () => void {
    this.#cacheListeners.add(listener);
    return () => this.#cacheListeners.delete(listener);
  }

  snapshot(): Snapshot {
    const objects = new Map([...this.#kinds].map(([resource, kept]) => [resource, new Map(kept.objects)] as const));
    return { revision: this.#revision, objects };
  }

  #chosen(resource: string | undefined): Iterable<Kept> {
    return resource === undefined ? this.#kinds.values() : [this.#kept(resource)];
  }

  #kept(resource: string): Kept & { objects: Map<string, KubeObject> } {
    const known = this.#kinds.get(resource);
    if (known !== undefined) return known;
    const floors = { watchFloor: this.#watchFloor, readFloor: this.#readFloor };
    const made = { objects: new Map<string, KubeObject>(), history: [], ...floors, sortedKeys: undefined };
    this.#kinds.set(resource, made);
    return made;
  }

  #commit(kept: Kept, change: Change): void {
    kept.history.push(change);
    if (kept.history.length > HISTORY_LIMIT * 1.1) {
      kept.history = kept.history.slice(-HISTORY_LIMIT);
      const oldest = (kept.history[0]?.revision ?? 1) - 1;
      kept.watchFloor = Math.max(kept.watchFloor, oldest);
      kept.readFloor = Math.max(kept.readFloor, oldest);
    }
    for (const listener of this.#listeners) listener(change);
    if (this.#held === undefined) for (const listener of this.#cacheListeners) listener();
  }
}

/** The same object, frozen through and through: what is stored is shared by history and readers. */
export function freeze<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) freeze(item);
  else if (isJsonObject(value)) for (const item of Object.values(value)) freeze(item);
  return Object.freeze(value);
}
