/**
 * A cluster at the port: `FakeCluster.client` is a KubernetesClient over an in-memory store; everything else on it is the
 * test's hand on the cluster. No HTTP, no schema, no admission: an apply that a real server would refuse has to be scripted.
 */
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { type ClusterName, clusterName, groupKind, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import type { KubernetesClient, ServedKind } from '../../functions/adapters/kubernetes/port.ts';
import { ConflictError, TerminalError, TransientError } from '../../functions/core/errors.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import { columnsOf, FakeWatch, matches, projectRow } from './fake-watch.ts';
import { ObjectStore } from './object-store.ts';
import type { Json } from './server-side-apply.ts';

export type Verb = Exclude<keyof KubernetesClient, 'cluster' | 'requestCount' | 'close'>;

/** One call as it arrived, for assertions. */
export interface FakeRequest {
  readonly verb: Verb;
  /** `Tenant.platform.example`, `Namespace`; `Event` for createEvent. */
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Body, options or guard of the call. */
  readonly detail: Json;
}

/** Which calls a fault is for; a field left out matches all. */
export interface FaultMatch {
  readonly verb?: Verb;
  readonly kind?: string;
  readonly name?: string;
}

/**
 * What happens to a call.
 * - `throw`: it fails and changes nothing
 * - `lose`: it takes effect, then its answer is lost and this is thrown
 * - `hang`: it takes no effect and never answers; the caller's signal ends it
 * - `first`: the cluster does this, then the call goes on
 */
export type Fault =
  | { readonly throw: Error }
  | { readonly lose: Error }
  | { readonly hang: true }
  | { readonly first: () => void | Promise<void> };

export class FakeCluster {
  readonly name: ClusterName;
  readonly store: ObjectStore;
  /** Every call, in order. */
  readonly requests: FakeRequest[] = [];
  /** Bodies of createEvent. */
  readonly events: Json[] = [];
  /** Watches ever opened, in order; `open` says which still are. */
  readonly watches: FakeWatch[] = [];
  readonly client: KubernetesClient;
  readonly #faults: { match: FaultMatch; fault: Fault; left: number }[] = [];
  readonly #served = new Map<string, ServedKind | 'gone'>();
  readonly #pages = new Map<string, { objects: KubernetesObject[]; resourceVersion: string }>();

  constructor(options: { readonly name?: string; readonly now?: () => Date } = {}) {
    this.name = clusterName(options.name ?? 'east');
    this.store = new ObjectStore(options.now ?? (() => new Date('2026-01-01T00:00:00.000Z')));
    this.store.onChange = (change) => {
      for (const watch of this.watches) watch.offer(change);
    };
    this.client = this.#client();
  }

  /** The kind's CRD: its printer columns become cells of the table form. Kinds need not be served by hand to be written. */
  serve(type: ResourceType, columns: ServedKind['printerColumns'], hasStatusSubresource = true): void {
    this.#served.set(groupKind(type), { printerColumns: columns, hasStatusSubresource });
  }

  /** As if the CRD were deleted: every call is `not-served`. */
  unserve(type: ResourceType): void {
    this.#served.set(groupKind(type), 'gone');
  }

  /** Puts a fault on the next `times` matching calls. Faults set earlier go first. */
  fault(match: FaultMatch, fault: Fault, times = 1): void {
    this.#faults.push({ match, fault, left: times });
  }

  create(type: ResourceType, at: ObjectAddress, fields: Json = {}): KubernetesObject {
    return this.store.create(type, at, fields);
  }

  edit(type: ResourceType, at: ObjectAddress, change: (draft: Json) => void): KubernetesObject {
    return this.store.edit(type, at, change);
  }

  delete(type: ResourceType, at: ObjectAddress): void {
    this.store.delete(type, at);
  }

  object(type: ResourceType, at: ObjectAddress): KubernetesObject | undefined {
    return this.store.get(type, at);
  }

  objects(type: ResourceType): KubernetesObject[] {
    return this.store.all(type);
  }

  /** Voids every position so far, as a restart of the API server does, and ends the open watches. */
  restart(): void {
    this.store.resourceVersion += 1;
    this.store.compactedAt = this.store.resourceVersion;
    this.#pages.clear();
    for (const watch of this.watches) watch.end();
  }

  openWatches(type?: ResourceType): FakeWatch[] {
    return this.watches.filter((watch) => watch.open && (type === undefined || watch.kind === groupKind(type)));
  }

  /** The calls of one verb, or of one verb and kind. */
  requestsOf(verb: Verb, kind?: string): FakeRequest[] {
    return this.requests.filter((request) => request.verb === verb && (kind === undefined || request.kind === kind));
  }

  async #call<T>(
    verb: Verb,
    type: Pick<ResourceType, 'group' | 'kind'>,
    at: Partial<ObjectAddress>,
    detail: object,
    signal: AbortSignal | undefined,
    work: () => T,
  ): Promise<T> {
    const kind = groupKind(type);
    this.requests.push({ verb, kind, namespace: at.namespace, name: at.name, detail: { ...detail } });
    await Promise.resolve();
    signal?.throwIfAborted();
    const entry = this.#faults.find(
      ({ match, left }) =>
        left > 0 &&
        (match.verb === undefined || match.verb === verb) &&
        (match.kind === undefined || match.kind === kind) &&
        (match.name === undefined || match.name === at.name),
    );
    if (entry !== undefined) {
      entry.left -= 1;
      const { fault } = entry;
      if ('throw' in fault) throw fault.throw;
      if ('hang' in fault) await aborted(signal);
      if ('first' in fault) await fault.first();
      if ('lose' in fault) {
        work();
        throw fault.lose;
      }
    }
    if (this.#served.get(kind) === 'gone') throw new TransientError('not-served', 'the cluster does not serve this kind');
    return work();
  }

  #client(): KubernetesClient {
    const { store } = this;
    const cluster = this;
    const reached = (resourceVersion: string | undefined): void => {
      if (resourceVersion === undefined) return;
      if (!/^[0-9]+$/.test(resourceVersion)) throw new TerminalError('bad-request', 'resourceVersion is not decimal digits');
      if (BigInt(resourceVersion) > BigInt(store.resourceVersion)) {
        throw new TransientError('resource-version-too-large', 'the server has not reached the resourceVersion');
      }
    };
    const guard = (object: KubernetesObject, wanted: { resourceVersion?: string | undefined; uid?: string | undefined }): void => {
      if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== object.metadata.resourceVersion) {
        throw new ConflictError('resource-version-conflict', 'the object has been modified; read it again');
      }
      if (wanted.uid !== undefined && wanted.uid !== object.metadata.uid) throw uidConflict();
    };
    const columns = (type: ResourceType): ServedKind['printerColumns'] => {
      const served = cluster.#served.get(groupKind(type));
      return served === undefined || served === 'gone' ? [] : served.printerColumns;
    };
    return {
      cluster: cluster.name,
      get requestCount() {
        return cluster.requests.length;
      },
      close() {},
      get: (type, at, options = {}) =>
        cluster.#call('get', type, at, options, options.signal, () => {
          reached(options.resourceVersion);
          return store.get(type, at);
        }),
      getMetadata: (type, at, options = {}) =>
        cluster.#call('getMetadata', type, at, options, options.signal, () => {
          reached(options.resourceVersion);
          return store.get(type, at)?.metadata;
        }),
      list: (type, options) =>
        cluster.#call('list', type, {}, options, options.signal, () => {
          reached(options.resourceVersion);
          const first = {
            objects: store.all(type).filter((object) => isAt(object, options.at) && matches(object, options)),
            resourceVersion: String(store.resourceVersion),
          };
          const page = options.continue === undefined ? first : cluster.#pages.get(options.continue);
          if (page === undefined) throw new TransientError('expired', 'the list token is too old; begin the list anew');
          const limit = options.limit ?? 500;
          const rest = page.objects.slice(limit);
          const token = rest.length > 0 ? `page-${cluster.#pages.size + 1}` : undefined;
          if (token !== undefined) cluster.#pages.set(token, { objects: rest, resourceVersion: page.resourceVersion });
          return {
            rows: page.objects.slice(0, limit).map((object) => projectRow(object, options, columns(type))),
            columns: columnsOf(options.form, columns(type)),
            resourceVersion: page.resourceVersion,
            continue: token,
          };
        }),
      watch: (type, options) =>
        cluster.#call('watch', type, {}, options, options.signal, () => {
          const watch = new FakeWatch(groupKind(type), options, columns(type), store);
          cluster.watches.push(watch);
          return watch;
        }),
      apply: (type, body, options = {}) =>
        cluster.#call('apply', type, body.metadata, body, options.signal, () => {
          const existing = store.get(type, addressOf(body));
          if (existing !== undefined) guard(existing, body.metadata);
          else if (body.metadata.uid !== undefined) throw uidConflict();
          const { finalizers: applied = [] } = body.metadata;
          if (existing !== undefined) refuseLate(existing, applied);
          const part = options.fieldManager === undefined ? 'main' : 'finalizer';
          return answered(store.apply(type, addressOf(body), body as unknown as Json, part));
        }),
      applyStatus: (type, body, options = {}) =>
        cluster.#call('applyStatus', type, body.metadata, body, options.signal, () => {
          const existing = store.get(type, addressOf(body));
          const served = cluster.#served.get(groupKind(type));
          if (existing === undefined || (served !== undefined && served !== 'gone' && !served.hasStatusSubresource)) return undefined;
          guard(existing, { resourceVersion: body.metadata.resourceVersion });
          return answered(store.apply(type, addressOf(body), body as unknown as Json, 'status'));
        }),
      patchFinalizers: (type, at, wanted, finalizers, options = {}) =>
        cluster.#call('patchFinalizers', type, at, { ...wanted, finalizers }, options.signal, () => {
          const existing = store.get(type, at);
          if (existing === undefined) return undefined;
          guard(existing, wanted);
          refuseLate(existing, finalizers);
          const written = store.edit(type, at, (draft) => {
            const { finalizers: _, ...rest } = draft['metadata'] as Json;
            draft['metadata'] = finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
          });
          return answered(written);
        }),
      delete: (type, at, uid, options = {}) =>
        cluster.#call('delete', type, at, { uid }, options.signal, () => {
          const existing = store.get(type, at);
          if (existing === undefined) return 'absent' as const;
          guard(existing, { uid });
          store.delete(type, at);
          return 'deleted' as const;
        }),
      createEvent: (event, namespace, options = {}) =>
        cluster.#call('createEvent', { group: '', kind: 'Event' }, { namespace }, event, options.signal, () => {
          cluster.events.push({ ...event });
        }),
      servedKind: (type, options = {}) =>
        cluster.#call(
          'servedKind',
          { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
          { name: `${type.plural}.${type.group}` },
          {},
          options.signal,
          () => {
            const served = cluster.#served.get(groupKind(type));
            return served === 'gone' ? undefined : served;
          },
        ),
    };
  }
}

/** What a write answers with: metadata without managedFields, as the client reads it. */
function answered({ metadata: { managedFields: _, ...metadata } }: KubernetesObject): ObjectMetadata {
  return metadata;
}

/** An object that is being deleted takes no new finalizer. */
function refuseLate({ metadata }: KubernetesObject, finalizers: readonly string[]): void {
  const isNew = finalizers.some((name) => !metadata.finalizers?.includes(name));
  if (metadata.deletionTimestamp !== undefined && isNew) {
    throw new TerminalError('invalid', 'metadata.finalizers: no new finalizers can be added if the object is being deleted');
  }
}

function uidConflict(): ConflictError {
  return new ConflictError('uid-conflict', 'another object has the name, or none');
}

function isAt({ metadata }: KubernetesObject, at: ObjectAddress | undefined): boolean {
  return at === undefined || (metadata.name === at.name && metadata.namespace === at.namespace);
}

function addressOf(body: { readonly metadata: ObjectAddress }): ObjectAddress {
  const { namespace, name } = body.metadata;
  return namespace === undefined ? { name } : { namespace, name };
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
