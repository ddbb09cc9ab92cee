import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupMetrics, type Metric } from '../../../functions/core/metric.ts';

const metric = (name: string, value: number, dimensions: Metric['dimensions'] = { cluster: 'east' }): Metric => ({
  name,
  unit: 'Count',
  value,
  dimensions,
});
const shown = (metrics: readonly Metric[]): unknown[] =>
  groupMetrics(metrics).map(({ dimensions, metrics: members }) => [dimensions, members.map(({ name, value }) => `${name} ${value}`)]);

describe('groupMetrics', () => {
  it('puts together what has the same dimensions, in whatever order they were named', () => {
    const metrics = [
      metric('A', 1, { cluster: 'east', branch: 'gone' }),
      metric('B', 2),
      metric('A', 3, { branch: 'gone', cluster: 'east' }),
      metric('B', 4, { cluster: 'west' }),
    ];
    assert.deepEqual(shown(metrics), [
      [{ cluster: 'east', branch: 'gone' }, ['A 1', 'A 3']],
      [{ cluster: 'east' }, ['B 2']],
      [{ cluster: 'west' }, ['B 4']],
    ]);
  });

  it('begins anew before CloudWatch would drop values, and loses none', () => {
    const metrics = Array.from({ length: 250 }, (_, at) => metric('A', at));
    const groups = groupMetrics(metrics);
    assert.deepEqual(
      groups.map(({ metrics: members }) => members.length),
      [99, 99, 52],
    );
    assert.deepEqual(
      groups.flatMap(({ metrics: members }) => members),
      metrics,
    );
  });

  it('is empty where nothing was told', () => {
    assert.deepEqual(groupMetrics([]), []);
  });
});
