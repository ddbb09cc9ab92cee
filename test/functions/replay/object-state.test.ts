import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject, Reconciler } from '../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { readySinceMs, stateOf } from '../../../functions/replay/object-state.ts';

const TENANT = tenant as unknown as Reconciler;
const CLAIM = queueClaim as unknown as Reconciler;
const object = (metadata: object = {}, status?: unknown): KubernetesObject =>
  ({
    ...{ apiVersion: 'platform.example/v1', kind: 'Tenant' },
    metadata: { name: 't', uid: 'u', resourceVersion: '5', generation: 2, ...metadata },
    ...(status === undefined ? {} : { status }),
  }) as KubernetesObject;
const stalled = (observedGeneration: number, status = 'True'): object => ({
  conditions: [{ type: 'Stalled', status, observedGeneration }],
});

describe('stateOf', () => {
  const rows: readonly [name: string, object: KubernetesObject, reconciler: Reconciler, wanted: object][] = [
    ['without a status', object(), TENANT, { isSettled: false, isStalled: false, observedGeneration: undefined }],
    ['settled', object({}, { observedGeneration: 2 }), TENANT, { isSettled: true }],
    ['settled for an older generation', object({}, { observedGeneration: 1 }), TENANT, { isSettled: false }],
    ['ahead of its generation, as after a restore', object({}, { observedGeneration: 3 }), TENANT, { isSettled: false }],
    ['settled by another revision', object({}, { observedGeneration: 2, observedRevision: 2 }), TENANT, { isSettled: false }],
    [
      'with a status that is none',
      object({}, { observedGeneration: 'two', conditions: 'none' }),
      TENANT,
      { isSettled: false, conditions: [] },
    ],
    ['with a status that is a text', object({}, 'broken'), TENANT, { isSettled: false, conditions: [] }],
    ['given up', object({}, stalled(2)), TENANT, { isStalled: true }],
    ['given up for an older generation', object({}, stalled(1)), TENANT, { isStalled: false }],
    ['not given up any more', object({}, stalled(2, 'False')), TENANT, { isStalled: false }],
    [
      'being deleted and held by us',
      object({ deletionTimestamp: 'x', finalizers: ['a/b', 'platform.example/queue'] }),
      CLAIM,
      { isDeleting: true, isHeld: true },
    ],
    [
      'being deleted and held by others',
      object({ deletionTimestamp: 'x', finalizers: ['a/b'] }),
      CLAIM,
      { isDeleting: true, isHeld: false },
    ],
    ['paused', object({ annotations: { 'dogwatch.dev/paused': '' } }), TENANT, { isPaused: true }],
  ];
  for (const [name, given, reconciler, wanted] of rows) {
    it(`tells of an object ${name}`, () => {
      const state = stateOf(given, reconciler) as unknown as Record<string, unknown>;
      assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((key) => [key, state[key]])), wanted);
    });
  }

  it('cuts what conditions say, keeps their known fields only, and no spec', () => {
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'R',
        message: 'm'.repeat(5000),
        lastTransitionTime: '2026-03-01T12:00:00Z',
        secret: 'hunter2',
      },
    ];
    const state = stateOf({ ...object({}, { conditions }), spec: { password: 'hunter2' } }, TENANT);
    assert.equal(state.conditions[0]?.message?.length, 256);
    assert.doesNotMatch(JSON.stringify(state), /hunter2/);
    assert.equal(readySinceMs(state), Date.parse('2026-03-01T12:00:00Z'));
  });

  it('is ready since no time where it is not ready, or nobody says since when', () => {
    for (const ready of [
      { status: 'False', lastTransitionTime: '2026-03-01T12:00:00Z' },
      { status: 'True' },
      { status: 'True', lastTransitionTime: 'then' },
    ]) {
      assert.equal(readySinceMs(stateOf(object({}, { conditions: [{ type: 'Ready', ...ready }] }), TENANT)), undefined);
    }
  });
});
