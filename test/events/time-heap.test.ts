import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TimeHeap } from '../../events/time-heap.ts';

describe('TimeHeap', () => {
  it('gives its items in the order of their times, whatever the order in which they came and went', () => {
    const step = fc.oneof(fc.nat(20), fc.constantFrom('take' as const, 'retain' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const heap = new TimeHeap<{ notBeforeMs: number }>();
        let model: number[] = [];
        for (const one of steps) {
          if (one === 'take') {
            heap.removeFirst();
            model.shift();
          } else if (one === 'retain') {
            heap.retain(({ notBeforeMs }) => notBeforeMs % 3 > 0);
            model = model.filter((notBeforeMs) => notBeforeMs % 3 > 0);
          } else {
            heap.add({ notBeforeMs: one });
            model = [...model, one].sort((a, b) => a - b);
          }
          assert.deepEqual([heap.size, heap.first?.notBeforeMs], [model.length, model[0]]);
        }
      }),
    );
  });
});
