/**
 * An API server in virtual time: the fake cluster, behind calls that take time, may fail and may answer from a cache that lags;
 * with watches that tell late, end and expire, and with a garbage collector.
 */
import { OWNER_LABEL } from '../../events/labels.ts';
import { groupKind, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import type { KubernetesClient } from '../../functions/adapters/kubernetes/port.ts';
import { TransientError } from '../../functions/core/errors.ts';
import { configMaps } from '../../functions/core/kinds.ts';
import { columnsOf, type FakeWatch, matches, projectRow } from '../fakes/fake-watch.ts';
import { FakeCluster } from '../fakes/kubernetes-client.ts';
import type { Change } from '../fakes/object-store.ts';
import { objectAt, objectsAt } from './history.ts';
import type { SimulatedProcess } from './process.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How the API server behaves where it has a choice. Times in milliseconds. */
export interface ApiBehaviour {
  /** No cache is further behind than this. */
  readonly cacheLagMaxMs: number;
  /** How late a watch of a kind tells of a change. */
  watchLagMs(kind: string): number;
  /** How long after its cause the garbage collector works. */
  collectMs(): number;
  /** Which position from `oldest` to `newest` a cached read shows. */
  cachePosition(oldest: number, newest: number): number;
  /** How a watch that has opened ends before its time; undefined: it does not. */
  watchEnd(): { readonly afterMs: number; readonly how: 'end' | 'break' | 'expire' } | undefined;
}

type Columns = Parameters<FakeCluster['serve']>[1];

export class ApiServer {
  readonly cluster: FakeCluster;
  behaviour: ApiBehaviour;
  /** Told of every change, with the process that made it; undefined for one by somebody else. */
  onChange: (change: Change, by: SimulatedProcess | undefined) => void = () => {};
  readonly #primary: ResourceType;
  readonly #columns: Columns;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  /** Newest position at a time: how far behind a cache may be. */
  #positions: { readonly atMs: number; readonly resourceVersion: number }[] = [];
  #writer: SimulatedProcess | undefined;
  /** Collections that are due, and tellings. */
  #collectionCount = 0;
  #untoldCount = 0;
  readonly #dead = new WeakSet<FakeWatch>();

  constructor(primary: ResourceType, columns: Columns, behaviour: ApiBehaviour, time: VirtualTime, trace: Trace) {
    this.behaviour = behaviour;
    this.#primary = primary;
    this.#columns = columns;
    this.#time = time;
    this.#trace = trace;
    this.cluster = new FakeCluster({ name: 'east', now: () => new Date(time.nowMs) });
    this.cluster.serve(primary, columns);
    this.cluster.serve(configMaps, []);
    const offer = this.cluster.store.onChange;
    this.cluster.store.onChange = (change) => {
      this.#positions.push({ atMs: time.nowMs, resourceVersion: change.resourceVersion });
      this.onChange(change, this.#writer);
      offer(change);
      for (const watch of this.cluster.watches) if (watch.kind === change.kind) this.#tellLater(watch);
      this.#collectLater(change);
    };
  }

  /** True where every watch has told all that its reader is to know, and the garbage collector has nothing to do. */
  get isQuiet(): boolean {
    return this.#collectionCount === 0 && this.#untoldCount === 0;
  }

  /** etcd goes back to what it was when this was called; watches are told nothing. */
  snapshot(): () => void {
    const restore = this.cluster.store.snapshot();
    const { resourceVersion } = this.cluster.store;
    return () => {
      restore();
      this.cluster.store.compactedAt = Math.min(this.cluster.store.compactedAt, resourceVersion);
      this.#positions = [{ atMs: this.#time.nowMs, resourceVersion }];
      this.#trace.add('etcd', `is restored to RV ${resourceVersion}`);
      for (const child of this.cluster.objects(configMaps)) this.#collectIfOrphan(child.metadata);
    };
  }

  /** The server starts anew: positions so far are void. */
  restart(): void {
    this.#trace.add('api', 'restarts: open watches end, and their positions have expired');
    this.cluster.restart();
  }

  /** The client of one process. */
  clientOf(process: SimulatedProcess): KubernetesClient {
    const { store, client } = this.cluster;
    const columns = (type: ResourceType) => (groupKind(type) === groupKind(this.#primary) ? this.#columns : []);
    const ask = <Result>(
      verb: string,
      type: Pick<ResourceType, 'kind'>,
      at: Partial<ObjectAddress>,
      { signal, resourceVersion }: { readonly signal?: AbortSignal | undefined; readonly resourceVersion?: string | undefined },
      effect: () => Result | Promise<Result>,
    ): Promise<Result> => {
      const position = resourceVersion === undefined ? '' : ` at RV ${resourceVersion}`;
      const writing = async (): Promise<Result> => {
        this.#writer = process;
        try {
          return await effect();
        } finally {
          this.#writer = undefined;
          this.cluster.requests.length = 0;
        }
      };
      return process.call('api', verb, `${type.kind} ${at.name ?? ''}${position}`, writing, signal);
    };
    const cachedAt = (resourceVersion: string): number => {
      if (Number(resourceVersion) > store.resourceVersion) {
        throw new TransientError('resource-version-too-large', 'the server has not reached the resourceVersion', { retryAfterSeconds: 1 });
      }
      const horizonMs = this.#time.nowMs - this.behaviour.cacheLagMaxMs;
      const known = this.#positions.findLast(({ atMs }) => atMs <= horizonMs)?.resourceVersion ?? 0;
      const oldest = Math.max(Number(resourceVersion), Math.min(known, store.resourceVersion));
      return this.behaviour.cachePosition(oldest, store.resourceVersion);
    };
    return {
      cluster: this.cluster.name,
      requestCount: 0,
      close() {},
      get: (type, at, options = {}) =>
        ask('GET', type, at, options, () => {
          const { resourceVersion } = options;
          if (resourceVersion === undefined) return client.get(type, at);
          return objectAt(store.history, type, at, cachedAt(resourceVersion));
        }),
      getMetadata: (type, at, options = {}) =>
        ask('GET metadata', type, at, options, () => {
          const { resourceVersion } = options;
          if (resourceVersion === undefined) return client.getMetadata(type, at);
          return objectAt(store.history, type, at, cachedAt(resourceVersion))?.metadata;
        }),
      list: (type, { signal, ...options }) =>
        ask('LIST', type, {}, { ...options, signal }, () => {
          const { resourceVersion } = options;
          if (resourceVersion === undefined || options.continue !== undefined) return client.list(type, options);
          const position = cachedAt(resourceVersion);
          const rows = objectsAt(store.history, type, position).filter((object) => matches(object, options));
          return {
            rows: rows.map((object) => projectRow(object, options, columns(type))),
            columns: columnsOf(options.form, columns(type)),
            resourceVersion: String(position),
            continue: undefined,
          };
        }),
      watch: (type, options) =>
        ask('WATCH', type, {}, options, async () => {
          const watch = (await client.watch(type, options)) as FakeWatch;
          this.#tend(watch, process, options.timeoutSeconds);
          return watch;
        }),
      apply: (type, body, { signal, ...options } = {}) =>
        ask('APPLY', type, body.metadata, { signal }, () => client.apply(type, body, options)),
      applyStatus: (type, body, options = {}) => ask('APPLY status', type, body.metadata, options, () => client.applyStatus(type, body)),
      patchFinalizers: (type, at, guard, finalizers, options = {}) =>
        ask('PATCH finalizers', type, at, options, () => client.patchFinalizers(type, at, guard, finalizers)),
      delete: (type, at, uid, options = {}) => ask('DELETE', type, at, options, () => client.delete(type, at, uid)),
      createEvent: async () => {},
      servedKind: (type, options = {}) => ask('GET CRD of', type, {}, options, () => client.servedKind(type)),
    };
  }

  /** Frames are held back and told in order, late; the stream ends at its time or before. */
  #tend(watch: FakeWatch, process: SimulatedProcess, timeoutSeconds: number): void {
    const { watches } = this.cluster;
    const leave = (): void => {
      this.#dead.add(watch);
      watch.end();
      const at = watches.indexOf(watch);
      if (at >= 0) watches.splice(at, 1);
    };
    process.onDeath(leave);
    for (const gone of watches.filter(({ open }) => !open)) watches.splice(watches.indexOf(gone), 1);
    watch.paused = true;
    void this.#time.sleep(timeoutSeconds * 1000, this).then(() => {
      watch.resume();
      leave();
    });
    const end = this.behaviour.watchEnd();
    if (end === undefined) return;
    void this.#time.sleep(end.afterMs, this).then(() => {
      if (!watch.open) return;
      this.#trace.add('api', `a watch of ${watch.kind} ends: ${end.how}`);
      if (end.how === 'break') watch.fail(new TransientError('unreachable', 'the connection was reset'));
      if (end.how === 'expire') {
        watch.push({ type: 'ERROR', code: 410, reason: 'Expired', message: 'too old resource version', retryAfterSeconds: undefined });
      }
      leave();
    });
  }

  #tellLater(watch: FakeWatch): void {
    this.#untoldCount += 1;
    void this.#time.sleep(this.behaviour.watchLagMs(watch.kind), this).then(() => {
      this.#untoldCount -= 1;
      if (this.#dead.has(watch)) return;
      watch.resume();
      watch.paused = true;
    });
  }

  #collectLater(change: Change): void {
    const { metadata } = change.object;
    if (change.kind === groupKind(this.#primary) && change.type === 'DELETED') {
      for (const child of this.cluster.objects(configMaps)) {
        if (child.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) this.#collectIfOrphan(child.metadata);
      }
    } else if (change.kind === groupKind(configMaps) && change.type !== 'DELETED') {
      this.#collectIfOrphan(metadata);
    }
  }

  #collectIfOrphan({ uid, namespace, name, ownerReferences = [] }: Change['object']['metadata']): void {
    const isOrphan = (): boolean =>
      ownerReferences.length > 0 &&
      this.cluster.objects(this.#primary).every((owner) => ownerReferences.every((reference) => reference.uid !== owner.metadata.uid));
    if (!isOrphan()) return;
    this.#collectionCount += 1;
    void this.#time.sleep(this.behaviour.collectMs(), this).then(() => {
      this.#collectionCount -= 1;
      const at = namespace === undefined ? { name } : { namespace, name };
      const now = this.cluster.object(configMaps, at);
      if (now?.metadata.uid !== uid || !isOrphan()) return;
      // It goes by what the child says by now.
      if (now.metadata.ownerReferences?.some((reference) => !ownerReferences.some((one) => one.uid === reference.uid))) {
        this.#collectIfOrphan(now.metadata);
        return;
      }
      this.#trace.add('collector', `deletes ConfigMap ${name} of a dead owner ${now.metadata.labels?.[OWNER_LABEL]?.slice(-3) ?? ''}`);
      this.cluster.delete(configMaps, at);
    });
  }
}
