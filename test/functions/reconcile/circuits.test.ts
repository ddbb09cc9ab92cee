import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { type Circuits, createCircuits } from '../../../functions/reconcile/circuits.ts';
import { FakeClock } from '../../fakes/clock.ts';

const east = clusterName('east');
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const make = (): Circuits => createCircuits({ openSeconds: 10, openMaxSeconds: 300 }, new FakeClock(), silent);

describe('createCircuits', () => {
  it('hears nothing of a run that has left', () => {
    const circuits = make();
    for (let run = 0; run < 5; run += 1) {
      const visit = circuits.visit(east);
      assert.equal(visit.enter(), undefined);
      const call = visit.begin();
      visit.leave();
      call.ended(new TransientError('timeout', 'late'));
    }
    assert.equal(circuits.visit(east).enter(), undefined);
  });

  it('hears nothing of a run that was not let in, whose leaving frees no probe', () => {
    const circuits = make();
    const begun = Array.from({ length: 5 }, () => circuits.visit(east));
    for (const visit of begun) assert.equal(visit.enter(), undefined);
    for (const visit of begun) visit.begin().ended(new TransientError('timeout', 'down'));
    const outside = circuits.visit(east);
    assert.equal(outside.enter(), 10);
    outside.begin().ended();
    outside.leave();
    assert.equal(circuits.visit(east).enter(), 10);
    assert.equal(circuits.visit(clusterName('west')).enter(), undefined);
  });
});
