import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cellsOf } from '../../../../infra/local/dev/cell-levels.ts';

const line = (role: string, unsettled: number): string =>
  `${JSON.stringify({ cluster: 'east', kind: 'Tenant.platform.example', role, phase: 'streaming', since: 'x', lastEvent: null, objects: 3, unsettled })}\n`;
const METRICS = [
  '# TYPE dogwatch_oldest_unsettled_seconds gauge',
  'dogwatch_oldest_unsettled_seconds{cluster="east",kind="Tenant.platform.example",role="primary"} 12.5',
  'dogwatch_oldest_unsettled_seconds{cluster="east",kind="Tenant.platform.example",role="child"} 7',
  'dogwatch_known_objects{cluster="east",kind="Tenant.platform.example",role="primary"} 3',
].join('\n');
const CELL = { cluster: 'east', kind: 'Tenant.platform.example', phase: 'streaming', objects: 3 };

describe('cellsOf', () => {
  it('takes each cell from /readyz and its age from /metrics', () => {
    assert.deepEqual(cellsOf(line('primary', 2) + line('child', 1), METRICS), [
      { ...CELL, role: 'primary', unsettled: 2, oldestUnsettledSeconds: 12.5 },
      { ...CELL, role: 'child', unsettled: 1, oldestUnsettledSeconds: 7 },
    ]);
  });

  it('gives no age where nothing is unsettled, or none is told', () => {
    assert.deepEqual(cellsOf(line('primary', 0), METRICS), [{ ...CELL, role: 'primary', unsettled: 0 }]);
    assert.deepEqual(cellsOf(line('primary', 1), ''), [{ ...CELL, role: 'primary', unsettled: 1 }]);
  });
});
