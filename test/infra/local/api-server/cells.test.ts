import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../infra/local/api-server/api-object.ts';
import { builtInCell } from '../../../../infra/local/api-server/built-in-cells.ts';
import { BUILT_IN_KINDS } from '../../../../infra/local/api-server/built-in-kinds.ts';
import { ageOf } from '../../../../infra/local/api-server/human-age.ts';
import { findAll } from '../../../../infra/local/api-server/json-path.ts';

describe('JSON paths', () => {
  const value = {
    spec: {
      list: [
        { type: 'A', n: 1 },
        { type: 'B', n: 2 },
      ],
      'a.b': 3,
      map: { x: 1, y: 2 },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
  const PATHS: readonly (readonly [path: string, found: readonly unknown[]])[] = [
    ['.spec.list[0].type', ['A']],
    ['.spec.list[-1].n', [2]],
    ['.spec.list[*].n', [1, 2]],
    ['.spec.map.*', [1, 2]],
    ['.spec.a\\.b', [3]],
    [".spec['a.b']", [3]],
    ['spec.list[1].n', [2]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Ready')].status", ['True']],
    ['.status.conditions[?(@.type=="Other")].status', []],
    ['.spec.list[?(@.type!="A")].n', [2]],
    ['.spec.none.deeper', []],
    ['.spec.list[9]', []],
    ['.spec.list[?(@.type ~ "A")]', []],
  ];
  for (const [path, found] of PATHS) it(`${path} finds ${JSON.stringify(found)}`, () => assert.deepEqual(findAll(path, value), found));
});

describe('ages', () => {
  const AGES: readonly (readonly [seconds: number, age: string])[] = [
    [0, '0s'],
    [-5, '0s'],
    [119, '119s'],
    [120, '2m'],
    [200, '3m20s'],
    [599, '9m59s'],
    [600, '10m'],
    [10_799, '179m'],
    [10_800, '3h'],
    [12_000, '3h20m'],
    [28_800, '8h'],
    [172_799, '47h'],
    [172_800, '2d'],
    [190_800, '2d5h'],
    [691_200, '8d'],
    [63_072_000, '2y'],
    [66_096_000, '2y35d'],
    [252_288_000, '8y'],
  ];
  const now = new Date('2026-01-01T00:00:00Z');
  for (const [seconds, age] of AGES) {
    it(`${seconds} seconds are ${age}`, () => {
      assert.equal(ageOf(new Date(now.getTime() - seconds * 1000).toISOString(), now), age);
    });
  }
  it('no time is an unknown age', () => assert.deepEqual([ageOf(undefined, now), ageOf('x', now)], ['<unknown>', '<unknown>']));
});

describe('cells of built-in kinds', () => {
  const object = (fields: Record<string, unknown>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...fields,
  });
  const subjects = [
    { kind: 'User', name: 'ann' },
    { kind: 'User', name: 'bob' },
    { kind: 'Group', name: 'all' },
    { kind: 'ServiceAccount', namespace: 'n', name: 'sa' },
  ];
  const hard = { 'limits.cpu': '4', pods: '2', 'requests.cpu': '1' };
  const CELLS: readonly (readonly [cell: string, fields: Record<string, unknown>, value: unknown])[] = [
    ['dataCount', { data: { a: 1 }, binaryData: { b: 1 } }, 2],
    ['dataCount', {}, 0],
    ['role', { roleRef: { kind: 'ClusterRole', name: 'x' } }, 'ClusterRole/x'],
    ['users', { subjects }, 'ann, bob'],
    ['groups', { subjects }, 'all'],
    ['serviceAccounts', { subjects }, 'n/sa'],
    ['requests', { status: { hard, used: { pods: '1' } } }, 'pods: 1/2, requests.cpu: 0/1'],
    ['limits', { status: { hard } }, 'limits.cpu: 0/4'],
    ['involved', { involvedObject: { kind: 'Pod', name: 'p' } }, 'pod/p'],
    ['involved', { regarding: { kind: 'Thing', name: 't' } }, 'thing/t'],
    ['source', { source: { component: 'c', host: 'h' } }, 'c, h'],
    ['source', { reportingController: 'r' }, 'r'],
    ['count', { series: { count: 3 } }, 3],
    ['count', {}, 1],
    ['lastSeen', { eventTime: '2026-01-01T00:00:10Z' }, '50s'],
    ['firstSeen', {}, '60s'],
    ['age', {}, '60s'],
    ['nonsense', {}, null],
  ];
  for (const [cell, fields, value] of CELLS) {
    it(`${cell} of ${JSON.stringify(fields)} is ${JSON.stringify(value)}`, () => {
      assert.equal(builtInCell(cell, object(fields), new Date('2026-01-01T00:01:00Z')), value);
    });
  }
  it('each one that a column names is known', () => {
    for (const { jsonPath } of BUILT_IN_KINDS.flatMap(({ columns }) => columns)) {
      if (jsonPath.startsWith('=')) assert.notEqual(builtInCell(jsonPath.slice(1), object({}), new Date()), null, jsonPath);
    }
  });
});
