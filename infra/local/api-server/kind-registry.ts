/** The kinds that the server serves at the moment: the built-in ones, and those of the CustomResourceDefinitions that it stores. */
import { apiVersionOf, type KindInfo, type KubeObject, resourceName } from './api-object.ts';
import { BUILT_IN_KINDS, CRD_RESOURCE } from './built-in-kinds.ts';
import { kindsOf } from './custom-kinds.ts';
import type { Change, ObjectStore } from './object-store.ts';

export class KindRegistry {
  /** By `group/version/plural`. */
  readonly #served = new Map<string, KindInfo>();
  readonly #terminating = new Set<string>();
  readonly #listeners = new Set<(resource: string) => void>();

  constructor(store: ObjectStore) {
    for (const kind of BUILT_IN_KINDS) this.#served.set(pathOf(kind), kind);
    for (const crd of store.stateAt(CRD_RESOURCE)?.values() ?? []) this.#serve(crd);
    store.onChange((change) => this.#follow(change));
  }

  find(group: string, version: string, plural: string): KindInfo | undefined {
    return this.#served.get(pathOf({ group, version, plural }));
  }

  /** Any served version of `widgets.lab.example.com`. */
  byResource(resource: string): KindInfo | undefined {
    return this.all().find((kind) => resourceName(kind) === resource);
  }

  byKind(apiVersion: string, kind: string): KindInfo | undefined {
    return this.all().find((served) => served.kind === kind && apiVersionOf(served) === apiVersion);
  }

  all(): readonly KindInfo[] {
    return [...this.#served.values()];
  }

  /** True while the definition of this kind waits for its objects to go. */
  isTerminating(kind: KindInfo): boolean {
    return this.#terminating.has(resourceName(kind));
  }

  /** Called with the name of a resource whose definition changed or went. */
  onChange(listener: (resource: string) => void): void {
    this.#listeners.add(listener);
  }

  #follow({ resource, before, after }: Change): void {
    if (resource !== CRD_RESOURCE) return;
    const definition = after ?? before;
    if (definition === undefined) return;
    const { name } = definition.metadata;
    if (after?.metadata.deletionTimestamp === undefined) this.#terminating.delete(name);
    else this.#terminating.add(name);
    const isSame = before !== undefined && after !== undefined && JSON.stringify(before['spec']) === JSON.stringify(after['spec']);
    if (isSame) return;
    for (const [path, kind] of this.#served) if (kind.isCustom && resourceName(kind) === name) this.#served.delete(path);
    if (after !== undefined) this.#serve(after);
    if (before !== undefined) for (const listener of this.#listeners) listener(name);
  }

  #serve(crd: KubeObject): void {
    for (const kind of kindsOf(crd)) this.#served.set(pathOf(kind), kind);
  }
}

const pathOf = ({ group, version, plural }: { group: string; version: string; plural: string }): string => `${group}/${version}/${plural}`;
