import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameProblem } from '../../../functions/core/object-names.ts';

const configMap = { group: '', kind: 'ConfigMap' };
const namespace = { group: '', kind: 'Namespace' };
const role = { group: 'rbac.authorization.k8s.io', kind: 'RoleBinding' };

describe('nameProblem', () => {
  const rows = [
    { type: configMap, name: 'a.b-c.9', isValid: true },
    { type: configMap, name: 'a'.repeat(253), isValid: true },
    { type: configMap, name: 'a'.repeat(254), isValid: false },
    { type: configMap, name: 'A', isValid: false },
    { type: configMap, name: 'a..b', isValid: false },
    { type: configMap, name: '-a', isValid: false },
    { type: configMap, name: 'system:a', isValid: false },
    { type: configMap, name: '', isValid: false },
    { type: configMap, name: undefined, isValid: false },
    { type: configMap, name: 7, isValid: false },
    { type: namespace, name: 'a'.repeat(63), isValid: true },
    { type: namespace, name: 'a'.repeat(64), isValid: false },
    { type: namespace, name: 'a.b', isValid: false },
    { type: { group: 'other.example', kind: 'Namespace' }, name: 'a.b', isValid: true },
    { type: role, name: 'system:Admin', isValid: true },
    { type: role, name: 'a/b', isValid: false },
    { type: role, name: 'a%2f', isValid: false },
    { type: role, name: '..', isValid: false },
  ];
  for (const { type, name, isValid } of rows) {
    it(`${isValid ? 'takes' : 'refuses'} ${String(name).slice(0, 12)} for ${type.kind}.${type.group}`, () => {
      assert.equal(nameProblem(type, name) === undefined, isValid);
    });
  }
});
