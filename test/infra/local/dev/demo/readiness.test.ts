import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '../../../../../functions/core/reconciler.ts';
import { isReady, isStalled, readyText } from '../../../../../infra/local/dev/demo/readiness.ts';

const tenant = (generation: number, status?: unknown): KubernetesObject => ({
  ...{ apiVersion: 'platform.example/v1', kind: 'Tenant', status },
  metadata: { name: 'harbor', uid: 'u', resourceVersion: '1', generation },
});
const condition = (type: string, status: string, observedGeneration: number, reason = 'Because') => ({
  ...{ type, status, observedGeneration, reason },
});

describe('an object of the story', () => {
  const cases: readonly (readonly [name: string, object: KubernetesObject, expected: { ready: boolean; stalled: boolean }])[] = [
    ['is nothing yet without a status', tenant(1), { ready: false, stalled: false }],
    ['is Ready', tenant(2, { observedGeneration: 2, conditions: [condition('Ready', 'True', 2)] }), { ready: true, stalled: false }],
    [
      'is not Ready for a generation before its newest',
      tenant(3, { observedGeneration: 2, conditions: [condition('Ready', 'True', 2)] }),
      { ready: false, stalled: false },
    ],
    ['is not Ready where it failed', tenant(2, { conditions: [condition('Ready', 'False', 2)] }), { ready: false, stalled: false }],
    ['is Stalled', tenant(2, { conditions: [condition('Stalled', 'True', 2)] }), { ready: false, stalled: true }],
    [
      'is not Stalled once its spec has changed',
      tenant(3, { conditions: [condition('Stalled', 'True', 2)] }),
      { ready: false, stalled: false },
    ],
  ];
  for (const [name, object, { ready, stalled }] of cases)
    it(name, () => assert.deepEqual({ ready: isReady(object), stalled: isStalled(object) }, { ready, stalled }));
});

describe('readyText', () => {
  it('says what there is instead, with the end of the last run', () => {
    const failed = tenant(2, { observedGeneration: 1, conditions: [condition('Ready', 'False', 2, 'ChildNotOwned')] });
    const line = { branch: 'refused', disposition: 'dead-letter', code: 'child-not-owned', error: 'it is not ours' };
    assert.equal(
      readyText(failed, line),
      'it has Ready=False (ChildNotOwned) for generation 1 of 2; its last run: refused, dead letter, child-not-owned: it is not ours',
    );
    assert.equal(readyText(tenant(1), undefined), 'it has no condition Ready for generation none of 1; no run in this step');
    assert.equal(readyText(undefined, undefined), 'it does not exist');
  });
});
