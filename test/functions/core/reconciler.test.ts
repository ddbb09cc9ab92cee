import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import { checkPlan } from '../../../functions/core/plan.ts';
import { checkReconcilers, clusterRole, defineReconciler } from '../../../functions/core/reconciler.ts';
import { SETTINGS } from '../../../functions/core/settings.ts';
import { boardReconciler, ticketOwner, ticketReconciler, tickets } from './tickets.ts';

const reconcile = () => Promise.resolve({ status: { phase: 'Open' } });

describe('defineReconciler', () => {
  it('fills in revision 1 and nothing owned, read or granted', () => {
    const { revision, owns, reads, grants } = defineReconciler({ resource: tickets, reconcile });
    assert.deepEqual([revision, owns, reads, grants], [1, [], [], []]);
    assert.deepEqual(defineReconciler({ resource: tickets, reconcile, grants: [clusterRole('edit')] }).grants, [
      { kind: 'ClusterRole', name: 'edit' },
    ]);
  });

  it('keeps the columns that an owned kind names, and lets a Plan apply such a kind', () => {
    const reconciler = defineReconciler({ resource: tickets, owns: [namespaces, configMaps.wakeOn('Data')], reconcile });
    assert.deepEqual(
      reconciler.owns.map(({ kind, wakeOnColumns }) => [kind, wakeOnColumns]),
      [
        ['Namespace', undefined],
        ['ConfigMap', ['Data']],
      ],
    );
    const apply = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team', name: 'a' } }];
    assert.equal(checkPlan(reconciler, ticketOwner, { apply, status: { phase: 'Open' } }).children.length, 1);
  });

  it('lets a kind be tried as long as the configuration could, in every respect, and no longer', () => {
    for (const field of ['retryBaseSeconds', 'maxAgeSeconds', 'maxAttempts', 'overtakenMaxAttempts'] as const) {
      const [least, most] = SETTINGS[field].bounds;
      for (const value of [least, most]) {
        assert.deepEqual(defineReconciler({ resource: tickets, reconcile, retry: { [field]: value } }).retry, { [field]: value });
      }
      for (const value of [least - 1, most + 1]) {
        assert.throws(() => defineReconciler({ resource: tickets, reconcile, retry: { [field]: value } }), ConfigError);
      }
    }
  });

  it('keeps a finalizer together with what it waits for', () => {
    const finalize = () => Promise.resolve({ done: true } as const);
    const { finalization } = defineReconciler({ resource: tickets, reconcile, finalizer: 'lab.example/ticket', finalize });
    assert.deepEqual(finalization, { name: 'lab.example/ticket', finalize });
    assert.equal(ticketReconciler.finalization, undefined);
  });

  const refused: { name: string; change: object; code: string }[] = [
    { name: 'a field it does not know', change: { finalise: reconcile }, code: 'unknown-field' },
    { name: 'revision 0', change: { revision: 0 }, code: 'bad-revision' },
    { name: 'a revision that is no integer', change: { revision: 1.5 }, code: 'bad-revision' },
    { name: 'a retry that it does not know', change: { retry: { attempts: 3 } }, code: 'bad-retry' },
    { name: 'a retry without bound', change: { retry: { maxAttempts: Number.POSITIVE_INFINITY } }, code: 'bad-retry' },
    { name: 'a retry out of bounds', change: { retry: { retryBaseSeconds: 901 } }, code: 'bad-retry' },
    { name: 'a retry that is no number', change: { retry: { maxAgeSeconds: '60' } }, code: 'bad-retry' },
    { name: 'no reconcile', change: { reconcile: undefined }, code: 'no-reconcile' },
    { name: 'the name of a kind in owns', change: { owns: ['ConfigMap'] }, code: 'owned-no-kind' },
    { name: 'nothing in owns', change: { owns: [configMaps, undefined] }, code: 'owned-no-kind' },
    { name: 'the name of a kind in reads', change: { reads: ['Secret'] }, code: 'read-no-kind' },
    { name: 'a kind owned with columns and without', change: { owns: [configMaps, configMaps.wakeOn('Data')] }, code: 'owned-twice' },
    { name: 'a kind owned in two versions', change: { owns: [configMaps, { ...configMaps, version: 'v2' }] }, code: 'owned-twice' },
    { name: 'a finalizer without finalize', change: { finalizer: 'lab.example/ticket' }, code: 'half-finalizer' },
    { name: 'finalize without a finalizer', change: { finalize: reconcile }, code: 'half-finalizer' },
    { name: 'a finalizer without a domain', change: { finalizer: 'ticket', finalize: reconcile }, code: 'bad-finalizer' },
    { name: 'a finalizer that Kubernetes refuses', change: { finalizer: 'lab.example/a b', finalize: reconcile }, code: 'bad-finalizer' },
  ];
  for (const { name, change, code } of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => defineReconciler({ resource: tickets, reconcile, ...change }),
        (error) => error instanceof ConfigError && error.code === code && error.message.includes('Ticket'),
      );
    });
  }
});

describe('checkReconcilers', () => {
  it('returns the list that it was given', () => {
    const list = [ticketReconciler, boardReconciler];
    assert.equal(checkReconcilers(list), list);
  });

  it('refuses two reconcilers of one kind', () => {
    assert.throws(
      () => checkReconcilers([ticketReconciler, boardReconciler, ticketReconciler]),
      (error) => error instanceof ConfigError && error.code === 'kind-twice' && error.message.startsWith('Ticket.lab.example'),
    );
  });
});
