/** Writing: every change of an object is one step from the stored object to the next, or a refusal. Nothing here waits. */
import { ApiFault } from './api-fault.ts';
import {
  isJsonObject,
  type KindInfo,
  type KubeObject,
  type PatchType,
  resourceName,
  type WriteContext,
  type Written,
} from './api-object.ts';
import { CRD_RESOURCE, NAMESPACES } from './built-in-kinds.ts';
import { completeCrd } from './custom-kinds.ts';
import { type DeleteOptions, type Deletion, decideDeletion } from './deletion.ts';
import { inVersion } from './forms.ts';
import type { KindRegistry } from './kind-registry.ts';
import { freeze, type ObjectStore } from './object-store.ts';
import { keyOf, notFound } from './reads.ts';
import { applyObject, createObject, patchObject, updateObject } from './write-object.ts';

/** A write's context, and whether it is only tried. */
export interface WriteOptions extends WriteContext {
  readonly isDryRun: boolean;
}

/** What etcd takes in one request, in bytes. */
const ETCD_LIMIT_BYTES = 1.5 * 1024 * 1024;
/** What the API server sends to etcd, in bytes. */
const CLIENT_LIMIT_BYTES = 2 * 1024 * 1024;

export class ObjectWriter {
  readonly #store: ObjectStore;
  readonly #kinds: KindRegistry;

  constructor(store: ObjectStore, kinds: KindRegistry) {
    this.#store = store;
    this.#kinds = kinds;
  }

  /** @throws ApiFault 403, 404 for its namespace; 405 where the kind is going; 409 for a taken name; what the rules refuse */
  create(kind: KindInfo, body: unknown, options: WriteOptions): KubeObject {
    this.#admit(kind, options.namespace, nameIn(body));
    const object = createObject(kind, body, options);
    const key = keyOf(kind, options.namespace, object.metadata.name);
    if (this.#store.get({ resource: resourceName(kind), key }) !== undefined) throw alreadyExists(kind, object.metadata.name);
    return this.#put(kind, key, object, options);
  }

  update(kind: KindInfo, name: string, body: unknown, options: WriteOptions): KubeObject {
    const current = this.#current(kind, name, options);
    return this.#replace(kind, current, updateObject(kind, current, body, options), options);
  }

  patch(kind: KindInfo, name: string, patch: unknown, type: PatchType, options: WriteOptions): KubeObject {
    const current = this.#current(kind, name, options);
    return this.#replace(kind, current, patchObject(kind, current, patch, type, options), options);
  }

  /** The object, and whether it is new. */
  apply(kind: KindInfo, name: string, body: unknown, options: WriteOptions): { object: KubeObject; isNew: boolean } {
    const isMain = options.subresource === '';
    const current = isMain ? this.#find(kind, name, options) : this.#current(kind, name, options);
    if (current !== undefined) {
      return { object: this.#replace(kind, current, applyObject(kind, current, body, options), options), isNew: false };
    }
    this.#admit(kind, options.namespace, name);
    const { object } = applyObject(kind, undefined, body, options);
    return { object: this.#put(kind, keyOf(kind, options.namespace, name), object, options), isNew: true };
  }

  /** What became of the object: gone, or waiting for its finalizers. @throws ApiFault 403, 404, 409 */
  delete(kind: KindInfo, namespace: string, name: string, options: DeleteOptions): Deletion {
    const id = { resource: resourceName(kind), key: keyOf(kind, namespace, name) };
    const current = this.#store.get(id);
    if (current === undefined) throw notFound(kind, name);
    const deletion = decideDeletion(kind, current, options);
    if (options.isDryRun) return deletion;
    switch (deletion.kind) {
      case 'gone':
        this.#store.remove(id);
        return deletion;
      case 'pending':
        return { kind: 'pending', object: this.#store.put(id, freeze(deletion.object)) };
      case 'unchanged':
        return deletion;
    }
  }

  #find(kind: KindInfo, name: string, { namespace }: WriteOptions): KubeObject | undefined {
    const object = this.#store.get({ resource: resourceName(kind), key: keyOf(kind, namespace, name) });
    return object === undefined ? undefined : inVersion(object, kind);
  }

  #current(kind: KindInfo, name: string, options: WriteOptions): KubeObject {
    const current = this.#find(kind, name, options);
    if (current === undefined) throw notFound(kind, name);
    return current;
  }

  /** A changed object takes the place of the current one; without its last finalizer, one that is being deleted goes. */
  #replace(kind: KindInfo, current: KubeObject, { object, changed }: Written, options: WriteOptions): KubeObject {
    if (!changed) return current;
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const key = keyOf(kind, options.namespace, current.metadata.name);
    const isReleased = deletionTimestamp !== undefined && finalizers.length === 0 && options.subresource === '';
    if (!isReleased || resourceName(kind) === NAMESPACES) return this.#put(kind, key, object, options);
    if (!options.isDryRun) this.#store.remove({ resource: resourceName(kind), key });
    return { ...object, metadata: { ...object.metadata, resourceVersion: current.metadata.resourceVersion } };
  }

  #put(kind: KindInfo, key: string, object: KubeObject, options: WriteOptions): KubeObject {
    const resource = resourceName(kind);
    const complete = resource === CRD_RESOURCE ? completeCrd(object, options.now) : object;
    refuseTooLarge(complete);
    if (!options.isDryRun) return this.#store.put({ resource, key }, freeze(complete));
    const { resourceVersion, ...metadata } = complete.metadata;
    // What is not stored has no version yet.
    return resourceVersion === '' ? ({ ...complete, metadata } as KubeObject) : complete;
  }

  /** New objects need a namespace that stays, and a kind that stays. */
  #admit(kind: KindInfo, namespace: string, name: string): void {
    if (this.#kinds.isTerminating(kind)) {
      throw new ApiFault(405, 'create not allowed while custom resource definition is terminating', {
        reason: 'MethodNotAllowed',
        details: { ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural },
      });
    }
    if (!kind.namespaced) return;
    const found = this.#store.get({ resource: NAMESPACES, key: namespace });
    if (found === undefined) {
      const details = { name: namespace, kind: NAMESPACES };
      throw new ApiFault(404, `namespaces ${JSON.stringify(namespace)} not found`, { reason: 'NotFound', details });
    }
    if (found.metadata.deletionTimestamp !== undefined) throw terminating(kind, namespace, name);
  }
}

function terminating(kind: KindInfo, namespace: string, name: string): ApiFault {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return new ApiFault(403, `${resourceName(kind)} ${JSON.stringify(name)} is forbidden: ${why}`, {
    reason: 'Forbidden',
    details: {
      name,
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.plural,
      causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }],
    },
  });
}

function alreadyExists(kind: KindInfo, name: string): ApiFault {
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural };
  return new ApiFault(409, `${resourceName(kind)} ${JSON.stringify(name)} already exists`, { reason: 'AlreadyExists', details });
}

function refuseTooLarge(object: KubeObject): void {
  const bytes = Buffer.byteLength(JSON.stringify(object));
  if (bytes > CLIENT_LIMIT_BYTES) {
    const text = `trying to send message larger than max (${bytes} vs. ${CLIENT_LIMIT_BYTES})`;
    throw new ApiFault(500, `rpc error: code = ResourceExhausted desc = ${text}`);
  }
  if (bytes > ETCD_LIMIT_BYTES) throw new ApiFault(500, 'etcdserver: request is too large');
}

function nameIn(body: unknown): string {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  return isJsonObject(metadata) ? String(metadata['name'] ?? '') : '';
}
