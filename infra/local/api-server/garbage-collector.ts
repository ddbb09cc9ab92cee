/** Owner references at work: what is owned by nothing that exists is deleted; foreground and orphan deletions get what they wait for. */
import { type KubeObject, type OwnerReference, resourceName } from './api-object.ts';
import { FOREGROUND, ORPHAN } from './deletion.ts';
import type { DueWork } from './due-work.ts';
import type { KindRegistry } from './kind-registry.ts';
import { type Change, freeze, type ObjectId, type ObjectStore } from './object-store.ts';
import { keyOf } from './reads.ts';

export class GarbageCollector {
  readonly #store: ObjectStore;
  readonly #kinds: KindRegistry;
  readonly #due: DueWork;
  readonly #remove: (id: ObjectId) => void;
  /** Objects that name an owner, by its uid. */
  readonly #dependents = new Map<string, Map<string, ObjectId>>();

  /** `remove` deletes an object in the background, as a DELETE would. */
  constructor(store: ObjectStore, kinds: KindRegistry, due: DueWork, remove: (id: ObjectId) => void) {
    this.#store = store;
    this.#kinds = kinds;
    this.#due = due;
    this.#remove = remove;
    for (const resource of store.resources()) {
      for (const [key, object] of store.stateAt(resource) ?? []) this.#index({ resource, key }, object);
    }
    store.onChange((change) => this.#follow(change));
  }

  #follow({ resource, key, before, after }: Change): void {
    const id = { resource, key };
    for (const { uid } of ownersOf(before)) if (!ownersOf(after).some((owner) => owner.uid === uid)) this.#forget(uid, id);
    if (after === undefined) {
      for (const { uid } of ownersOf(before)) this.#forget(uid, id);
      for (const owner of ownersOf(before)) this.#lookAtOwner(owner, before?.metadata.namespace);
      for (const dependent of this.#dependentsOf(before?.metadata.uid)) this.#lookAt(dependent);
      return;
    }
    this.#index(id, after);
    if (ownersOf(after).length > 0) this.#lookAt(id);
    if (after.metadata.deletionTimestamp !== undefined) this.#later(id, () => this.#finish(id));
  }

  #index(id: ObjectId, object: KubeObject): void {
    for (const { uid } of ownersOf(object)) {
      const known = this.#dependents.get(uid) ?? new Map<string, ObjectId>();
      known.set(textOf(id), id);
      this.#dependents.set(uid, known);
    }
  }

  #forget(uid: string, id: ObjectId): void {
    const known = this.#dependents.get(uid);
    known?.delete(textOf(id));
    if (known?.size === 0) this.#dependents.delete(uid);
  }

  #dependentsOf(uid: string | undefined): ObjectId[] {
    return [...(this.#dependents.get(uid ?? '')?.values() ?? [])];
  }

  #later(id: ObjectId, work: () => void): void {
    this.#due.add(`gc ${textOf(id)}`, work);
  }

  #lookAt(id: ObjectId): void {
    this.#later(id, () => {
      const object = this.#store.get(id);
      if (object?.metadata.deletionTimestamp !== undefined) this.#finish(id);
      else if (object !== undefined && this.#isAbandoned(object)) this.#remove(id);
    });
  }

  /** An owner that waits for its dependents may be done. */
  #lookAtOwner(reference: OwnerReference, namespace: string | undefined): void {
    const kind = this.#kinds.byKind(reference.apiVersion, reference.kind);
    if (kind === undefined) return;
    const id = { resource: resourceName(kind), key: keyOf(kind, namespace ?? '', reference.name) };
    if (this.#store.get(id)?.metadata.deletionTimestamp !== undefined) this.#later(id, () => this.#finish(id));
  }

  #isAbandoned(object: KubeObject): boolean {
    const owners = ownersOf(object);
    return owners.length > 0 && owners.every((owner) => this.#ownerOf(owner, object) === undefined);
  }

  /** A namespaced owner in another namespace counts as absent. A kind that is not served cannot be judged: its owner counts as there. */
  #ownerOf(reference: OwnerReference, dependent: KubeObject): KubeObject | 'unknown' | undefined {
    const kind = this.#kinds.byKind(reference.apiVersion, reference.kind);
    if (kind === undefined) return 'unknown';
    const { namespace } = dependent.metadata;
    if (kind.namespaced && namespace === undefined) return 'unknown';
    const owner = this.#store.get({ resource: resourceName(kind), key: keyOf(kind, namespace ?? '', reference.name) });
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  }

  /** Brings a foreground or orphan deletion on. */
  #finish(id: ObjectId): void {
    const object = this.#store.get(id);
    if (object === undefined || object.metadata.deletionTimestamp === undefined) return;
    const { uid, finalizers = [] } = object.metadata;
    if (finalizers.includes(ORPHAN)) {
      for (const dependent of this.#dependentsOf(uid)) this.#disown(dependent, uid);
      this.#release(id, ORPHAN);
    } else if (finalizers.includes(FOREGROUND)) {
      const dependents = this.#dependentsOf(uid).filter((dependent) => this.#store.get(dependent) !== undefined);
      for (const dependent of dependents) this.#removeForeground(dependent, uid);
      if (!this.#dependentsOf(uid).some((dependent) => isBlocking(this.#store.get(dependent), uid))) this.#release(id, FOREGROUND);
    }
  }

  #removeForeground(id: ObjectId, ownerUid: string): void {
    const object = this.#store.get(id);
    const hasOthers = ownersOf(object).some((owner) => owner.uid !== ownerUid);
    if (object?.metadata.deletionTimestamp === undefined && !hasOthers) this.#remove(id);
  }

  #disown(id: ObjectId, ownerUid: string): void {
    const object = this.#store.get(id);
    if (object === undefined) return;
    const { ownerReferences: _, ...rest } = object.metadata;
    const others = ownersOf(object).filter(({ uid }) => uid !== ownerUid);
    const metadata = others.length === 0 ? rest : { ...rest, ownerReferences: others };
    this.#store.put(id, freeze({ ...object, metadata }));
  }

  #release(id: ObjectId, finalizer: string): void {
    const object = this.#store.get(id);
    if (object === undefined) return;
    const { finalizers = [], ...rest } = object.metadata;
    const others = finalizers.filter((name) => name !== finalizer);
    if (others.length === 0) this.#store.remove(id);
    else this.#store.put(id, freeze({ ...object, metadata: { ...rest, finalizers: others } }));
  }
}

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] => object?.metadata.ownerReferences ?? [];
const textOf = ({ resource, key }: ObjectId): string => `${resource} ${key}`;
const isBlocking = (object: KubeObject | undefined, uid: string): boolean =>
  ownersOf(object).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
