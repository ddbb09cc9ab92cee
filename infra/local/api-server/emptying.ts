/** What has to be empty before it goes: a namespace of its objects, a definition of the objects of its kind. */
import { resourceName } from './api-object.ts';
import { CRD_RESOURCE, NAMESPACES } from './built-in-kinds.ts';
import { CRD_FINALIZER } from './custom-kinds.ts';
import type { DueWork } from './due-work.ts';
import type { KindRegistry } from './kind-registry.ts';
import { type Change, freeze, type ObjectId, type ObjectStore } from './object-store.ts';

export class Emptying {
  readonly #store: ObjectStore;
  readonly #kinds: KindRegistry;
  readonly #due: DueWork;
  readonly #remove: (id: ObjectId) => void;

  /** `remove` deletes an object in the background, as a DELETE would. */
  constructor(store: ObjectStore, kinds: KindRegistry, due: DueWork, remove: (id: ObjectId) => void) {
    this.#store = store;
    this.#kinds = kinds;
    this.#due = due;
    this.#remove = remove;
    for (const resource of [NAMESPACES, CRD_RESOURCE]) for (const key of store.stateAt(resource)?.keys() ?? []) this.#look(resource, key);
    store.onChange((change) => this.#follow(change));
  }

  #follow({ resource, key, after, before }: Change): void {
    if (resource === NAMESPACES || resource === CRD_RESOURCE) this.#look(resource, key);
    if (after !== undefined) return;
    // The last object of a namespace or kind may have been this one.
    const namespace = before?.metadata.namespace;
    if (namespace !== undefined) this.#look(NAMESPACES, namespace);
    this.#look(CRD_RESOURCE, resource);
  }

  #look(resource: string, key: string): void {
    const object = this.#store.get({ resource, key });
    if (object?.metadata.deletionTimestamp === undefined) return;
    this.#due.add(`empty ${resource} ${key}`, () => this.#empty({ resource, key }));
  }

  #empty(id: ObjectId): void {
    const object = this.#store.get(id);
    if (object?.metadata.deletionTimestamp === undefined) return;
    const content = id.resource === NAMESPACES ? this.#contentOf(id.key) : this.#objectsOf(id.key);
    for (const each of content) if (this.#store.get(each)?.metadata.deletionTimestamp === undefined) this.#remove(each);
    if (content.some((each) => this.#store.get(each) !== undefined)) return;
    const { finalizers = [], ...metadata } = object.metadata;
    const others = finalizers.filter((name) => name !== CRD_FINALIZER);
    if (others.length === 0) this.#store.remove(id);
    else if (others.length < finalizers.length) this.#store.put(id, freeze({ ...object, metadata: { ...metadata, finalizers: others } }));
  }

  #contentOf(namespace: string): ObjectId[] {
    const namespaced = new Set(this.#kinds.all().flatMap((kind) => (kind.namespaced ? [resourceName(kind)] : [])));
    return this.#store
      .resources()
      .filter((resource) => namespaced.has(resource))
      .flatMap((resource) => this.#objectsOf(resource).filter(({ key }) => key.startsWith(`${namespace}/`)));
  }

  #objectsOf(resource: string): ObjectId[] {
    return [...(this.#store.stateAt(resource)?.keys() ?? [])].map((key) => ({ resource, key }));
  }
}
