/** What is read from an object as the API server has it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { objectFactsOf } from '../../../../functions/cli/explain/object-facts.ts';
import type { ObjectFacts } from '../../../../functions/core/explain/facts.ts';
import { hasLabel } from '../../../../functions/core/predicates.ts';
import { defineReconciler, type KubernetesObject, type Reconciler } from '../../../../functions/core/reconciler.ts';
import { defineResource } from '../../../../functions/core/resource-definition.ts';
import type { WatchDeclaration } from '../../../../functions/core/watch-rules.ts';
import { described } from '../../core/explain/facts.ts';

const resource = defineResource({
  ...{ group: 'platform.example', version: 'v1', kind: 'Claim', plural: 'claims', scope: 'Namespaced' },
  ...{ spec: z.object({}), status: z.object({}) },
});

function reconciler(watch: WatchDeclaration = {}, finalizer?: string): Reconciler {
  const finalization = finalizer === undefined ? {} : { finalizer, finalize: async () => ({ done: true }) as const };
  return defineReconciler({ resource, watch, ...finalization, reconcile: async () => ({ status: {} }) }) as unknown as Reconciler;
}

function claim(metadata: object = {}, status?: object): KubernetesObject {
  const at = { name: 'jobs', namespace: 'team', uid: 'u', resourceVersion: '7', generation: 2, creationTimestamp: '2026-03-01T11:00:00Z' };
  const own = { apiVersion: 'platform.example/v1', kind: 'Claim', metadata: { ...at, ...metadata }, spec: { size: 1 } };
  return status === undefined ? own : { ...own, status };
}

const facts = (object: KubernetesObject, by = reconciler()): ObjectFacts => objectFactsOf(object, by);
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Reconciled',
  message: '',
  observedGeneration: 2,
  lastTransitionTime: '2026-03-01T11:00:00Z',
};
const ours = (fields: object): object => ({
  manager: 'dogwatch',
  operation: 'Apply',
  subresource: 'status',
  fieldsV1: { 'f:status': fields },
});

describe('the facts of an object', () => {
  it('take the last write of its spec for when it changed, and its creation where there was none', () => {
    const wrote = (time: string, more: object): object => ({ manager: 'kubectl', operation: 'Update', time, ...more });
    const managedFields = [
      wrote('2026-03-01T11:20:00Z', { fieldsV1: { 'f:spec': { 'f:size': {} } } }),
      wrote('2026-03-01T11:30:00Z', { fieldsV1: { 'f:metadata': { 'f:labels': {} } } }),
      wrote('2026-03-01T11:40:00Z', { subresource: 'status', fieldsV1: { 'f:spec': { 'f:size': {} } } }),
    ];
    assert.equal(facts(claim({ managedFields })).changedMs, Date.UTC(2026, 2, 1, 11, 20));
    assert.equal(facts(claim()).changedMs, Date.UTC(2026, 2, 1, 11));
    assert.equal(facts(claim({ creationTimestamp: undefined })).changedMs, undefined);
  });

  const outside: readonly [name: string, watch: WatchDeclaration, says: RegExp][] = [
    ['a label selector', { labelSelector: { tier: 'gold' } }, /labels do not meet the selector of its reconciler, tier=gold/],
    ['a field selector', { fieldSelector: 'metadata.namespace=other' }, /field selector of its reconciler, metadata\.namespace=other/],
    ['a predicate', { predicate: hasLabel('managed') }, /the predicate of its reconciler does not admit/],
  ];
  for (const [name, watch, says] of outside) {
    it(`name ${name} that leaves it out`, () => assert.match(facts(claim(), reconciler(watch)).outside ?? '', says));
  }

  it('name nothing where every rule selects it', () => {
    const all = { labelSelector: 'tier=gold', fieldSelector: 'metadata.namespace=team', predicate: hasLabel('managed') };
    assert.equal(facts(claim({ labels: { tier: 'gold', managed: '' } }), reconciler(all)).outside, undefined);
  });

  it('tell finalizers apart: ours, those of others, and those that we have put there and have no more', () => {
    const managedFields = [
      {
        manager: 'dogwatch-finalizer',
        operation: 'Apply',
        fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"x.example/old"': {}, 'v:"x.example/now"': {} } } },
      },
    ];
    const finalizers = ['x.example/now', 'x.example/old', 'theirs.example/y'];
    const { isHeld, otherFinalizers, formerFinalizers } = facts(claim({ finalizers, managedFields }), reconciler({}, 'x.example/now'));
    assert.deepEqual([isHeld, otherFinalizers, formerFinalizers], [true, ['x.example/old', 'theirs.example/y'], ['x.example/old']]);
  });

  it('see a status that cannot say that the work was done', () => {
    const dropped = claim({ managedFields: [ours({ 'f:conditions': { 'k:{"type":"Ready"}': {} } })] }, { conditions: [ready] });
    assert.match(facts(dropped).statusFault ?? '', /dropped the status\.observedGeneration/);
    const atomic = claim({ managedFields: [ours({ 'f:conditions': {} })] }, { conditions: [ready], observedGeneration: 2 });
    assert.match(facts(atomic).statusFault ?? '', /no list by type/);
    const well = claim(
      { managedFields: [ours({ 'f:observedGeneration': {}, 'f:conditions': { 'k:{"type":"Ready"}': {} } })] },
      { conditions: [ready], observedGeneration: 2 },
    );
    assert.equal(facts(well).statusFault, undefined);
  });

  it('say when it wants to run again only where a run of ours has said so', () => {
    const status = { observedGeneration: 2, nextReconcileTime: '2026-03-01T13:00:00Z' };
    assert.equal(facts(claim({}, status)).nextMs, Date.UTC(2026, 2, 1, 13));
    assert.equal(facts(claim({ managedFields: [ours({ 'f:observedGeneration': {} })] }, status)).nextMs, undefined);
  });

  it('say what a watcher makes of it that starts', () => {
    assert.equal(facts(claim()).atStart, 'sent');
    assert.equal(facts(claim({}, { observedGeneration: 2 })).atStart, 'settled');
    assert.equal(facts(claim({ annotations: { 'dogwatch.dev/paused': '' } })).atStart, 'paused');
    assert.equal(facts(claim({}, { conditions: [{ ...ready, type: 'Stalled' }] })).atStart, 'stalled');
    assert.equal(facts(claim(), reconciler({ predicate: hasLabel('managed') })).atStart, 'filtered');
  });

  it('read nothing from the status of a kind that is not ours', () => {
    const status = { observedGeneration: 2, nextReconcileTime: '2026-03-01T13:00:00Z', conditions: [ready] };
    const { isSettled, nextMs, statusFault, atStart } = facts(
      claim({ managedFields: [ours({ 'f:conditions': {} })] }, status),
      described as unknown as Reconciler,
    );
    assert.deepEqual([isSettled, nextMs, statusFault, atStart], [false, undefined, undefined, 'sent']);
  });
});
