/** All cells of one cluster with a Tenant kind that owns quotas and deployments, in virtual time. */
import { DirtyMarks, type Mark } from '../../../events/dirty-marks.ts';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../../events/labels.ts';
import type { ResourceType } from '../../../events/resource.ts';
import { deployments, resourceQuotas } from '../../../functions/core/kinds.ts';
import type { Cell } from '../../../functions/watcher/cell.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { createClusterCells, type WatchedReconciler } from '../../../functions/watcher/cells.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { COLUMNS, FakeLog, tenants, UPKEEP } from './scene.ts';

type Fields = Record<string, unknown>;

/** A reconciler of `type` as far as the watcher looks. */
export function watched(type: ResourceType, owns: NonNullable<WatchedReconciler['owns']> = []): WatchedReconciler {
  return { resource: type as never, revision: 1, owns };
}

export const QUOTA = { namespace: 'team', name: 'quota' };
export const APP = { namespace: 'team', name: 'app' };

export class Family {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster({ now: () => this.clock.now() });
  readonly log = new FakeLog();
  readonly marks: DirtyMarks[] = [];
  readonly cells: readonly Cell[];
  readonly #stop = new AbortController();
  #runs: Promise<void>[] = [];

  constructor(reconcilers = [watched(tenants, [resourceQuotas, deployments.wakeOn('Available')])]) {
    for (const { resource } of reconcilers) this.cluster.serve(resource, COLUMNS);
    this.cluster.serve(deployments, [{ name: 'Available', jsonPath: '.status.available' }]);
    const { cells } = createClusterCells({
      client: this.cluster.client,
      reconcilers,
      createMarks: () => {
        const marks = new DirtyMarks();
        this.marks.push(marks);
        return marks;
      },
      settings: { watchTimeoutSeconds: 300, watchGraceSeconds: 15, probeSeconds: 300, ...UPKEEP },
      clock: this.clock,
      log: this.log,
    });
    this.cells = cells;
  }

  async start(): Promise<void> {
    this.#runs = this.cells.map((cell) => cell.run(this.#stop.signal));
    await this.clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
  }

  /** A settled owner; its uid. */
  owner(name: string, type = tenants): string {
    return this.cluster.create(type, { name }, { spec: {}, status: { observedGeneration: 1 } }).metadata.uid;
  }

  /** What a run does: applies a child with our field manager, owner label and annotation. */
  async apply(type: ResourceType, at: { namespace: string; name: string }, ownerUid: string, fields: Fields): Promise<void> {
    const labels = { [OWNER_LABEL]: ownerUid };
    const annotations = { [OWNER_REF_ANNOTATION]: 'east/platform.example/Tenant//a' };
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    await this.cluster.client.apply(type, { apiVersion, kind: type.kind, metadata: { ...at, labels, annotations }, ...fields });
    await this.clock.settle();
  }

  /** Somebody else's write to a child. */
  async edit(type: ResourceType, at: { namespace: string; name: string }, fields: Fields): Promise<void> {
    this.cluster.edit(type, at, (draft) => Object.assign(draft, fields));
    await this.clock.settle();
  }

  status(kind: string, role: CellStatus['role']): CellStatus | undefined {
    return this.cells.map((cell) => cell.status()).find((status) => status.kind === kind && status.role === role);
  }

  /** What may be sent now, as `reason name`; counted as sent. */
  due(): string[] {
    return this.dueMarks().map((mark) => `${mark.reason} ${mark.name}`);
  }

  dueMarks(): Mark[] {
    return this.marks.flatMap((marks) => {
      const taken = marks.take(10_000, this.clock.now().getTime());
      for (const mark of taken) marks.accepted(mark);
      return taken;
    });
  }

  /** The same once the hold is over. */
  async later(): Promise<string[]> {
    await this.clock.advance(1_000);
    return this.due();
  }
}
