import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findKind, fullNameOf, type NamedKind } from '../../../functions/core/kind-names.ts';

const tenants: NamedKind = {
  group: 'platform.example',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  scope: 'Cluster',
  singular: 'tenant',
  shortNames: ['tn'],
};
const claims: NamedKind = { group: 'platform.example', version: 'v1', kind: 'QueueClaim', plural: 'queueclaims', scope: 'Namespaced' };
const configMaps: NamedKind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' };
const otherTenants: NamedKind = { ...tenants, group: 'other.example', shortNames: [] };
const kinds = [tenants, claims, configMaps];

describe('findKind', () => {
  const names: [string, NamedKind][] = [
    ...['Tenant', 'tenant', 'TENANTS', 'tn', 'tenants.platform.example', 'tenant.v1.platform.example'].map(
      (name) => [name, tenants] as [string, NamedKind],
    ),
    ...['queueclaim', 'QueueClaims', 'queueclaims.platform.example'].map((name) => [name, claims] as [string, NamedKind]),
    ...['configmap', 'configmaps', 'configmaps.v1'].map((name) => [name, configMaps] as [string, NamedKind]),
  ];
  for (const [name, type] of names) {
    it(`knows ${name}`, () => assert.deepEqual(findKind(name, kinds), { kind: 'found', type }));
  }

  it('names the nearest where it knows none, if one is near', () => {
    assert.deepEqual(findKind('tenent', kinds), { kind: 'unknown', nearest: 'tenant' });
    assert.deepEqual(findKind('tenants.platform.exampel', kinds), { kind: 'unknown', nearest: 'tenants.platform.example' });
    assert.deepEqual(findKind('deployments', kinds), { kind: 'unknown', nearest: undefined });
    assert.deepEqual(findKind('', []), { kind: 'unknown', nearest: undefined });
  });

  it('guesses nothing where two kinds have the name, and takes the full one', () => {
    const both = [tenants, otherTenants];
    assert.deepEqual(findKind('tenant', both), { kind: 'ambiguous', names: ['tenants.platform.example', 'tenants.other.example'] });
    assert.deepEqual(findKind('tenants.other.example', both), { kind: 'found', type: otherTenants });
    assert.deepEqual(both.map(fullNameOf), ['tenants.platform.example', 'tenants.other.example']);
  });
});
