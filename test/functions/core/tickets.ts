/** A small namespaced and a cluster-scoped kind for tests of core, with builders that take overrides. */
import * as z from 'zod';
import type { ObjectMetadata } from '../../../events/observed-object.ts';
import { clusterName } from '../../../events/resource.ts';
import { configMaps, namespaces, roleBindings } from '../../../functions/core/kinds.ts';
import type { PlanOwner } from '../../../functions/core/plan.ts';
import { defineReconciler, type KubernetesObject } from '../../../functions/core/reconciler.ts';
import { defineResource, type ResourceDeclaration } from '../../../functions/core/resource-definition.ts';

interface TicketSpec {
  readonly title: string;
  readonly size: number;
}

interface TicketStatus {
  readonly phase: string;
  readonly count?: number | undefined;
}

export const declaration: ResourceDeclaration<TicketSpec, TicketStatus> = {
  group: 'lab.example',
  version: 'v1',
  kind: 'Ticket',
  plural: 'tickets',
  scope: 'Namespaced',
  spec: z.object({ title: z.string().min(2), size: z.int().default(1) }),
  status: z.object({ phase: z.string(), count: z.int().optional() }),
};

export const tickets = defineResource(declaration);
export const boards = defineResource({ ...declaration, kind: 'Board', plural: 'boards', scope: 'Cluster' });

const reconcile = () => Promise.resolve({ status: { phase: 'Open' } });
export const ticketReconciler = defineReconciler({ resource: tickets, owns: [namespaces, configMaps, roleBindings], reconcile });
export const boardReconciler = defineReconciler({
  resource: boards,
  owns: [namespaces, configMaps, roleBindings, tickets, boards],
  reconcile,
});

const cluster = clusterName('east');
export const ticketOwner: PlanOwner = {
  key: { cluster, group: 'lab.example', kind: 'Ticket', namespace: 'team', name: 'one' },
  metadata: { uid: 'uid-1' },
};
export const boardOwner: PlanOwner = { key: { cluster, group: 'lab.example', kind: 'Board', name: 'one' }, metadata: { uid: 'uid-1' } };

export function metadataOf(overrides: Partial<ObjectMetadata> = {}): ObjectMetadata {
  return { name: 'one', namespace: 'team', uid: 'uid-1', resourceVersion: '7', generation: 2, ...overrides };
}

export function ticketOf(overrides: Partial<KubernetesObject> = {}): KubernetesObject {
  return { apiVersion: 'lab.example/v1', kind: 'Ticket', metadata: metadataOf(), spec: { title: 'leak' }, ...overrides };
}
