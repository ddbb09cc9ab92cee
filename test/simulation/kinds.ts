/**
 * The reconcilers of a simulation, and what their objects want.
 *
 * - A: children, no finalizer
 * - B: an effect outside the cluster for each uid, and a finalizer
 * - C: as A, and asks to be run again after a time
 */
import * as z from 'zod';
import { customResourceDefinition } from '../../functions/core/custom-resource-definition.ts';
import { configMaps } from '../../functions/core/kinds.ts';
import type { KubernetesObject, Plan } from '../../functions/core/reconciler.ts';
import { defineReconciler, type Reconciler } from '../../functions/core/reconciler.ts';
import { defineResource } from '../../functions/core/resource-definition.ts';
import { type SimulatedProcess, shortUid } from './process.ts';

export type KindName = 'A' | 'B' | 'C';

export interface WidgetSpec {
  readonly value: number;
  readonly children: readonly string[];
  /** Kind C: how long after a run the next one is wanted. */
  readonly everySeconds?: number | undefined;
}

interface WidgetStatus {
  readonly uid: string;
  readonly value: number;
}

export const NAMESPACE = 'default';
export const FINALIZER = 'platform.example/effect';

export const widgets = defineResource<WidgetSpec, WidgetStatus>({
  group: 'platform.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  spec: z.object({ value: z.number(), children: z.array(z.string()), everySeconds: z.number().optional() }),
  status: z.object({ uid: z.string(), value: z.number() }),
});

/** The printer columns of its CRD, as a cluster serves them. */
export function widgetColumns(): readonly { readonly name: string; readonly jsonPath: string }[] {
  const { versions } = customResourceDefinition(widgets).spec as {
    versions: { additionalPrinterColumns: { name: string; jsonPath: string }[] }[];
  };
  return versions[0]?.additionalPrinterColumns ?? [];
}

/** What is outside of the cluster: one value for each uid that has one. */
export class World {
  readonly effects = new Map<string, number>();
  /** Whose effect is about to go: half of them take a while. */
  readonly closing = new Set<string>();

  set(uid: string, value: number): void {
    this.closing.delete(uid);
    this.effects.set(uid, value);
  }

  /** True once there is no effect. */
  clear(uid: string): boolean {
    const isSlow = Number(uid.slice(-1)) % 2 === 0;
    if (this.effects.has(uid) && isSlow && !this.closing.has(uid)) {
      this.closing.add(uid);
      return false;
    }
    this.closing.delete(uid);
    this.effects.delete(uid);
    return true;
  }
}

/** The names and values of the ConfigMaps that a Widget wants. */
export function wantedChildren({
  metadata,
  spec,
}: {
  readonly metadata: { readonly name: string };
  readonly spec: WidgetSpec;
}): Map<string, string> {
  return new Map(spec.children.map((child) => [`${metadata.name}-${child}`, String(spec.value)]));
}

export function specOf(object: KubernetesObject): WidgetSpec {
  return object['spec'] as WidgetSpec;
}

/** The reconciler as it runs in one process. */
export function createReconciler(kind: KindName, world: World, process: SimulatedProcess): Reconciler {
  const reconciler = defineReconciler<WidgetSpec, WidgetStatus>({
    resource: widgets,
    owns: kind === 'B' ? [] : [configMaps],
    async reconcile({ object, signal }) {
      const { uid, generation } = object.metadata;
      const act = (): void => {
        if (kind === 'B') world.set(uid, object.spec.value);
      };
      await process.call('world', 'reconcile', `uid ${shortUid(uid)} generation ${generation}`, act, signal);
      const { everySeconds } = object.spec;
      return {
        apply: kind === 'B' ? [] : [...wantedChildren(object)].map(([name, value]) => child(name, value)),
        status: { uid, value: object.spec.value },
        ...(kind === 'C' && everySeconds !== undefined ? { requeueAfterSeconds: everySeconds } : {}),
      } as Plan<WidgetStatus>;
    },
    ...(kind === 'B'
      ? {
          finalizer: FINALIZER,
          async finalize({ uid, signal }) {
            const done = await process.call('world', 'finalize', `uid ${shortUid(uid)}`, () => world.clear(uid), signal);
            return done ? { done } : { done, requeueAfterSeconds: 5 };
          },
        }
      : {}),
  });
  return reconciler as unknown as Reconciler;
}

function child(name: string, value: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: { value } };
}
