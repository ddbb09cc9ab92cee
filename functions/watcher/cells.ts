/** All cells of one cluster: one for each kind with a reconciler, and one for each kind that any of them owns. */
import type { DirtyMarks } from '../../events/dirty-marks.ts';
import { groupKind } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Log } from '../adapters/telemetry.ts';
import type { OwnedKind } from '../core/owned-kind.ts';
import type { Reconciler } from '../core/reconciler.ts';
import { type Cell, type CellSettings, createCell } from './cell.ts';
import { ChildObserver } from './child-observer.ts';
import { Observer, type ObserverSettings } from './observer.ts';
import type { OutboxSource } from './outbox.ts';
import { Owners } from './owners.ts';

/** What the watcher has to know of a reconciler. */
export type WatchedReconciler = Pick<Reconciler, 'resource' | 'revision'> & Partial<Pick<Reconciler, 'owns' | 'watch' | 'finalization'>>;

export interface ClusterCellsOptions {
  readonly client: KubernetesClient;
  readonly reconcilers: readonly WatchedReconciler[];
  /** Called once for each kind with a reconciler. */
  readonly createMarks: () => DirtyMarks;
  readonly settings: CellSettings & ObserverSettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ClusterCells {
  /** None is running yet. Kinds with a reconciler first. */
  readonly cells: readonly Cell[];
  /** What they mark, for the outbox: one for each kind with a reconciler. */
  readonly sources: readonly OutboxSource[];
}

interface Primary {
  readonly reconciler: WatchedReconciler;
  readonly observer: Observer;
  readonly marks: DirtyMarks;
}

/** The cells of a cluster. A kind that several reconcilers own has one cell, whose children wake owners of each. */
export function createClusterCells(options: ClusterCellsOptions): ClusterCells {
  const { client, reconcilers, createMarks, settings, clock, log } = options;
  const now = (): number => clock.steadyMs();
  const primaries = reconcilers.map((reconciler): Primary => {
    const marks = createMarks();
    const { resource, ...declared } = reconciler;
    return { reconciler, marks, observer: new Observer({ ...declared, type: resource, marks, settings, clock }) };
  });
  const children = ownedKinds(reconcilers).map((type) => ({ type, owners: new Owners(ownersOf(type, primaries), now) }));
  const shared = { client, settings, clock, log };
  return {
    cells: [
      ...primaries.map(({ reconciler, observer }) => {
        const onListed = (): void => {
          for (const { owners } of children) owners.listed();
        };
        return createCell({ ...shared, type: reconciler.resource, role: 'primary', observer, onListed });
      }),
      ...children.map(({ type, owners }) => createCell({ ...shared, type, role: 'child', observer: new ChildObserver(owners) })),
    ],
    sources: primaries.map(({ reconciler, observer, marks }) => ({
      cluster: client.cluster,
      type: reconciler.resource,
      marks,
      hasListed: () => observer.hasListed,
      resyncsPerSecond: () => observer.size / settings.resyncSeconds,
    })),
  };
}

/** Each kind once, in the order of the reconcilers. Of several versions one is enough: they show the same objects. */
function ownedKinds(reconcilers: readonly WatchedReconciler[]): readonly OwnedKind[] {
  const kinds = reconcilers.flatMap(({ owns = [] }) => owns);
  return [...new Map(kinds.map((kind) => [groupKind(kind), kind])).values()];
}

function ownersOf(type: OwnedKind, primaries: readonly Primary[]) {
  return primaries.flatMap(({ reconciler, observer, marks }) => {
    const owned = reconciler.owns?.find((kind) => groupKind(kind) === groupKind(type));
    if (owned === undefined) return [];
    return [
      {
        wakeOnColumns: owned.wakeOnColumns ?? [],
        marks,
        hasListed: () => observer.hasListed,
        find: (uid: string) => observer.find(uid),
      },
    ];
  });
}
