import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { groupOf, rbacManifests, rulesOf, WATCHER_ACCOUNT } from '../../../functions/core/rbac.ts';
import { rbacWarnings } from '../../../functions/core/rbac-warnings.ts';
import { clusterRole, defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';
import type { Right, Verb } from '../../../functions/core/rights.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { tickets } from './tickets.ts';

const samples = [tenant, queueClaim] as unknown as readonly Reconciler[];

describe('rulesOf', () => {
  const verbs: Verb[] = ['get', 'list', 'bind'];
  const right = fc.record({
    group: fc.constantFrom('', 'a.example', 'b.example'),
    resource: fc.constantFrom('xs', 'ys', 'xs/status'),
    verb: fc.constantFrom(...verbs),
    name: fc.constantFrom(undefined, 'one', 'two'),
    because: fc.constant([]),
  });
  const text = (group: string, resource: string, verb: string, name: string | undefined): string =>
    [group, resource, verb, name ?? '*'].join(' ');

  it('says exactly the rights that it is given, and each once', () => {
    const rights = fc.uniqueArray(right, { selector: ({ group, resource, verb, name }) => text(group, resource, verb, name) });
    fc.assert(
      fc.property(rights, (given: Right[]) => {
        const allowed = rulesOf(given).flatMap(({ apiGroups, resources, verbs: all, resourceNames = [undefined] }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) => all.flatMap((verb) => resourceNames.map((name) => text(group, resource, verb, name)))),
          ),
        );
        assert.deepEqual(allowed.sort(), given.map(({ group, resource, verb, name }) => text(group, resource, verb, name)).sort());
      }),
    );
  });

  it('puts together what has the same verbs', () => {
    const [{ rules }] = rbacManifests('watcher', samples, WATCHER_ACCOUNT) as unknown as [{ rules: unknown[] }];
    assert.deepEqual(rules[0], { apiGroups: [''], resources: ['namespaces', 'resourcequotas'], verbs: ['list', 'watch'] });
    assert.deepEqual(rules[1], {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: ['queueclaims.platform.example', 'tenants.platform.example'],
      verbs: ['get'],
    });
  });
});

describe('rbacManifests', () => {
  it('binds the role to who is given', () => {
    const subjectsOf = (manifests: readonly object[]): unknown => (manifests[1] as { subjects: unknown }).subjects;
    assert.deepEqual(subjectsOf(rbacManifests('watcher', samples, WATCHER_ACCOUNT)), [
      { kind: 'ServiceAccount', namespace: 'dogwatch', name: 'dogwatch-watcher' },
    ]);
    assert.deepEqual(subjectsOf(rbacManifests('reconcile', samples, groupOf('reconcile'))), [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dogwatch-reconcile' },
    ]);
  });
});

describe('rbacWarnings', () => {
  const reconcile = () => Promise.resolve({ status: { phase: 'Open' } });
  const kind = (group: string, name: string, plural: string) =>
    ({ group, version: 'v1', kind: name, plural, scope: 'Namespaced' }) as const;
  const of = (declared: object): readonly Reconciler[] => [
    defineReconciler({ resource: tickets, reconcile, ...declared }) as unknown as Reconciler,
  ];
  const rbac = 'rbac.authorization.k8s.io';

  const rows: { name: string; declared: object; watcher: RegExp[]; reconcile: RegExp[] }[] = [
    { name: 'nothing much', declared: { owns: [kind('', 'ConfigMap', 'configmaps')] }, watcher: [], reconcile: [] },
    {
      name: 'owned Secrets',
      declared: { owns: [kind('', 'Secret', 'secrets')] },
      watcher: [/^Ticket: list, watch on all secrets: .*reads every one/],
      reconcile: [/^Ticket: get, list on all secrets: /],
    },
    {
      name: 'read Secrets',
      declared: { reads: [kind('', 'Secret', 'secrets')] },
      watcher: [],
      reconcile: [/^Ticket: get on all secrets: /],
    },
    {
      name: 'workloads',
      declared: { owns: [kind('apps', 'Deployment', 'deployments'), kind('batch', 'Job', 'jobs')] },
      watcher: [],
      reconcile: [/create, patch on all deployments: .*service account/, /create, patch on all jobs: /],
    },
    {
      name: 'cluster-admin',
      declared: { owns: [kind(rbac, 'RoleBinding', 'rolebindings')], grants: [clusterRole('cluster-admin')] },
      watcher: [],
      reconcile: [/bind on the ClusterRole cluster-admin: .*himself all that it allows/],
    },
    {
      name: 'roles and bindings without grants',
      declared: { owns: [kind(rbac, 'Role', 'roles'), kind(rbac, 'RoleBinding', 'rolebindings')] },
      watcher: [],
      reconcile: [/owns Roles: .*escalate/, /owns RoleBindings and names no role in grants/],
    },
  ];
  for (const row of rows) {
    it(`are as many as there are reasons: ${row.name}`, () => {
      for (const unit of ['watcher', 'reconcile'] as const) {
        const found = rbacWarnings(unit, of(row.declared));
        assert.equal(found.length, row[unit].length, found.join('\n'));
        for (const [at, pattern] of row[unit].entries()) assert.match(found[at] ?? '', pattern);
      }
    });
  }
});
