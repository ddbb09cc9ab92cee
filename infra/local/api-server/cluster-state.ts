/** What one run of the server holds: its store, the kinds it serves, its writer, and what follows from writes. A restart makes another. */
import { resourceName } from './api-object.ts';
import { NAMESPACES } from './built-in-kinds.ts';
import { DueWork } from './due-work.ts';
import { Emptying } from './emptying.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { KindRegistry } from './kind-registry.ts';
import { type ObjectId, ObjectStore, type Snapshot } from './object-store.ts';
import { ObjectWriter, type WriteOptions } from './object-writer.ts';
import type { ServedWrite } from './served-write.ts';
import type { WatchStream } from './watch-stream.ts';

export interface ClusterStateOptions {
  readonly now: () => Date;
  readonly uid: () => string;
  readonly suffix: () => string;
  readonly collectsGarbage: boolean;
  readonly onError: (error: unknown) => void;
  /** Told of each write that a request asked for. */
  readonly onWrite?: ((write: ServedWrite) => void) | undefined;
  readonly from?: Snapshot;
}

const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export class ClusterState {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
  readonly writer: ObjectWriter;
  readonly watches = new Set<WatchStream>();
  readonly options: ClusterStateOptions;
  readonly #due: DueWork;

  constructor(options: ClusterStateOptions) {
    this.options = options;
    this.store = new ObjectStore(options.from);
    this.kinds = new KindRegistry(this.store);
    this.writer = new ObjectWriter(this.store, this.kinds);
    this.#due = new DueWork(options.onError);
    const remove = (id: ObjectId): void => this.#remove(id);
    if (options.collectsGarbage) new GarbageCollector(this.store, this.kinds, this.#due, remove);
    new Emptying(this.store, this.kinds, this.#due, remove);
    this.#boot();
    this.store.onCacheMove(() => this.#pump());
    this.store.onChange(({ resource }) => this.#moved.add(resource));
    this.kinds.onChange((resource) => this.#voidWatches(resource));
  }

  /** Kinds with changes that their watches have not been told. */
  readonly #moved = new Set<string>();

  writeOptions(given: Partial<WriteOptions>): WriteOptions {
    const { now, uid, suffix } = this.options;
    return {
      now: now(),
      uid,
      suffix,
      manager: 'unknown',
      fieldValidation: 'Warn',
      subresource: '',
      namespace: '',
      force: false,
      warnings: [],
      isDryRun: false,
      ...given,
    };
  }

  stop(): void {
    this.#due.stop();
  }

  /** True while work that follows a write is yet to be done. */
  get isBusy(): boolean {
    return this.#due.isPending;
  }

  /** What a real server writes when it starts: so that positions from before are behind it. */
  #boot(): void {
    const namespaces = this.kinds.byResource(NAMESPACES);
    const leases = this.kinds.find('coordination.k8s.io', 'v1', 'leases');
    if (namespaces === undefined || leases === undefined) return;
    const manager = 'kube-apiserver';
    for (const name of FIRST_NAMESPACES) {
      if (this.store.get({ resource: NAMESPACES, key: name }) !== undefined) continue;
      this.writer.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, this.writeOptions({ manager }));
    }
    const namespace = 'kube-system';
    const name = `apiserver-${this.options.suffix()}`;
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec: { holderIdentity: name } };
    for (const key of this.store.stateAt(resourceName(leases))?.keys() ?? []) {
      if (key.startsWith(`${namespace}/apiserver-`)) this.store.remove({ resource: resourceName(leases), key });
    }
    this.writer.create(leases, lease, this.writeOptions({ manager, namespace }));
    this.store.expireWatches();
  }

  #pump(): void {
    const moved = new Set(this.#moved);
    const isHeld = this.store.cacheRevision < this.store.revision;
    if (!isHeld) this.#moved.clear();
    for (const watch of this.watches) if (moved.has(watch.resource)) watch.pump();
  }

  /** A changed definition ends the watches of its kind, and their positions are void. */
  #voidWatches(resource: string): void {
    for (const watch of [...this.watches]) {
      if (watch.resource !== resource) continue;
      watch.pump();
      watch.end();
    }
    this.store.expireWatches(resource);
  }

  #remove({ resource, key }: ObjectId): void {
    const kind = this.kinds.byResource(resource);
    if (kind === undefined) return;
    const [namespace, name] = kind.namespaced ? (key.split('/') as [string, string]) : ['', key];
    this.writer.delete(kind, namespace, name, { now: this.options.now(), isDryRun: false, propagation: 'Background' });
  }
}
