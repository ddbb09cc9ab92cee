import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeResource } from '../../../functions/core/described-resource.ts';
import { configMaps, deployments, namespaces, roleBindings } from '../../../functions/core/kinds.ts';
import { clusterRole, defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';
import { type Right, rightsOf } from '../../../functions/core/rights.ts';
import type { Unit } from '../../../functions/core/settings.ts';
import { tickets } from './tickets.ts';

const reconcile = () => Promise.resolve({ status: { phase: 'Open' } });
const reconcileDescribed = () => Promise.resolve({});
const finalize = () => Promise.resolve({ done: true } as const);
const secrets = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' } as const;

/** `verb group/resource name`. */
function text({ group, resource, verb, name }: Right): string {
  return `${verb} ${group === '' ? '' : `${group}/`}${resource}${name === undefined ? '' : ` ${name}`}`;
}

function rights(unit: Unit, reconcilers: readonly unknown[]): string[] {
  return rightsOf(unit, reconcilers as readonly Reconciler[]).map(text);
}

const EVENTS = 'create events.k8s.io/events';

describe('rightsOf the function', () => {
  const rows: { name: string; reconcilers: unknown[]; expected: string[] }[] = [
    { name: 'no reconciler: Events only', reconcilers: [], expected: [EVENTS] },
    {
      name: 'a kind of ours: read it, write its status',
      reconcilers: [defineReconciler({ resource: tickets, reconcile })],
      expected: [EVENTS, 'get lab.example/tickets', 'patch lab.example/tickets/status'],
    },
    {
      name: 'a finalizer: patch the object',
      reconcilers: [defineReconciler({ resource: tickets, reconcile, finalizer: 'lab.example/ticket', finalize })],
      expected: [EVENTS, 'get lab.example/tickets', 'patch lab.example/tickets', 'patch lab.example/tickets/status'],
    },
    {
      name: 'a kind that is not ours: no status',
      reconcilers: [
        defineReconciler({
          resource: describeResource(configMaps),
          reconcile: reconcileDescribed,
          finalizer: 'lab.example/map',
          finalize,
        }),
      ],
      expected: ['get configmaps', 'patch configmaps', EVENTS],
    },
    {
      name: 'an owned kind: its objects, and to block the deletion of their owner',
      reconcilers: [defineReconciler({ resource: tickets, reconcile, owns: [deployments.wakeOn('Available')] })],
      expected: [
        'get apps/deployments',
        'list apps/deployments',
        'create apps/deployments',
        'patch apps/deployments',
        'delete apps/deployments',
        EVENTS,
        'get lab.example/tickets',
        'update lab.example/tickets/finalizers',
        'patch lab.example/tickets/status',
      ],
    },
    {
      name: 'a kind that is read: nothing but that',
      reconcilers: [defineReconciler({ resource: tickets, reconcile, reads: [secrets] })],
      expected: ['get secrets', EVENTS, 'get lab.example/tickets', 'patch lab.example/tickets/status'],
    },
    {
      name: 'grants: bind on these roles by name',
      reconcilers: [defineReconciler({ resource: tickets, reconcile, grants: [clusterRole('edit'), { kind: 'Role', name: 'operator' }] })],
      expected: [
        EVENTS,
        'get lab.example/tickets',
        'patch lab.example/tickets/status',
        'bind rbac.authorization.k8s.io/clusterroles edit',
        'bind rbac.authorization.k8s.io/roles operator',
      ],
    },
    {
      name: 'a selection by name: that object only',
      reconcilers: [
        defineReconciler({
          resource: describeResource(configMaps),
          reconcile: reconcileDescribed,
          watch: { fieldSelector: 'metadata.name=settings,metadata.namespace!=kube-system' },
        }),
      ],
      expected: ['get configmaps settings', EVENTS],
    },
    {
      name: 'a selection by name of a kind that is owned too: all of them',
      reconcilers: [
        defineReconciler({
          resource: describeResource(configMaps),
          reconcile: reconcileDescribed,
          watch: { fieldSelector: { 'metadata.name': 'settings' } },
        }),
        defineReconciler({ resource: tickets, reconcile, owns: [configMaps] }),
      ],
      expected: [
        'get configmaps',
        'list configmaps',
        'create configmaps',
        'patch configmaps',
        'delete configmaps',
        EVENTS,
        'get lab.example/tickets',
        'update lab.example/tickets/finalizers',
        'patch lab.example/tickets/status',
      ],
    },
  ];
  for (const { name, reconcilers, expected } of rows) {
    it(name, () => assert.deepEqual(rights('reconcile', reconcilers), expected));
  }

  it('tells of each right which kinds need it', () => {
    const boards = { ...tickets, kind: 'Board', plural: 'boards' };
    const both = [
      defineReconciler({ resource: tickets, reconcile, owns: [namespaces] }),
      defineReconciler({ resource: boards, reconcile, owns: [namespaces] }),
    ] as unknown as Reconciler[];
    const found = rightsOf('reconcile', both);
    assert.deepEqual(found.find(({ resource, verb }) => resource === 'namespaces' && verb === 'delete')?.because, ['Ticket', 'Board']);
    assert.deepEqual(found.find(({ resource }) => resource === 'events')?.because, []);
  });
});

describe('rightsOf the watcher', () => {
  it('is to see its kinds and owned ones, and the CRDs of ours by name; nothing of what the function reads or grants', () => {
    const reconcilers = [
      defineReconciler({ resource: tickets, reconcile, owns: [roleBindings], reads: [secrets], grants: [clusterRole('edit')] }),
      defineReconciler({ resource: describeResource(deployments), reconcile: reconcileDescribed, finalizer: 'lab.example/x', finalize }),
    ];
    assert.deepEqual(rights('watcher', reconcilers), [
      'get apiextensions.k8s.io/customresourcedefinitions tickets.lab.example',
      'list apps/deployments',
      'watch apps/deployments',
      'list lab.example/tickets',
      'watch lab.example/tickets',
      'list rbac.authorization.k8s.io/rolebindings',
      'watch rbac.authorization.k8s.io/rolebindings',
    ]);
  });

  it('is for one object where the selection is by its name', () => {
    const reconcilers = [
      defineReconciler({
        resource: describeResource(configMaps),
        reconcile: reconcileDescribed,
        watch: { fieldSelector: 'metadata.name=settings' },
      }),
    ];
    assert.deepEqual(rights('watcher', reconcilers), ['list configmaps settings', 'watch configmaps settings']);
  });
});
