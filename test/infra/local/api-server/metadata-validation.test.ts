import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, KindInfo } from '../../../../infra/local/api-server/api-object.ts';
import { validateMetadata, validateMetadataUpdate } from '../../../../infra/local/api-server/metadata-validation.ts';
import { builtIn, namespaceKind, widget } from './lab-kinds.ts';

const roleBinding = builtIn('RoleBinding', 'rolebindings', { group: 'rbac.authorization.k8s.io' });
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

describe('validateMetadata', () => {
  const rows: readonly (readonly [string, KindInfo, JsonObject, ...RegExp[]])[] = [
    ['a subdomain', widget, { name: 'a.b-c' }],
    [
      'a name in upper case',
      widget,
      { name: 'Bad' },
      /^metadata.name: Invalid value: "Bad": a lowercase RFC 1123 subdomain must consist of .* \(e\.g\. 'example\.com', regex used for validation is '/,
    ],
    ['a name that is too long', widget, { name: 'a'.repeat(254) }, /must be no more than 253 bytes$/],
    ['a prefix that ends in a dash', widget, { name: 'a-x7k2p', generateName: 'a-' }],
    ['a namespace with a dot', namespaceKind, { name: 'a.b' }, /^metadata.name: Invalid value: "a.b": must not contain dots$/],
    ['a binding with a colon', roleBinding, { name: 'system:a' }],
    ['a binding with a slash', roleBinding, { name: 'a/b' }, /may not contain '\/'$/],
    [
      'a label key with two slashes',
      widget,
      { name: 'x', labels: { 'a/b/c': 'v' } },
      /^metadata.labels: Invalid value: "a\/b\/c": a valid label key must consist of/,
    ],
    [
      'a label value with a space',
      widget,
      { name: 'x', labels: { a: 'b c' } },
      /^metadata.labels: Invalid value: "b c": a valid label must be/,
    ],
    ['an annotation key in upper case', widget, { name: 'x', annotations: { 'Example.com/Key': 'any value' } }],
    [
      'annotations that are too long',
      widget,
      { name: 'x', annotations: { a: 'b'.repeat(262_144) } },
      /^metadata.annotations: Too long: may not be more than 262144 bytes$/,
    ],
    [
      'a finalizer with a space',
      widget,
      { name: 'x', finalizers: ['a b'] },
      /^metadata.finalizers: Invalid value: "a b": name part must consist of/,
    ],
    ['both policies of deletion', widget, { name: 'x', finalizers: ['orphan', 'foregroundDeletion'] }, /cannot be both set$/],
    ['an owner', widget, { name: 'x', ownerReferences: [owner] }],
    [
      'an owner without uid',
      widget,
      { name: 'x', ownerReferences: [{ ...owner, uid: '' }] },
      /^metadata.ownerReferences.uid: Invalid value: "": must not be empty$/,
    ],
    [
      'two controllers',
      widget,
      {
        name: 'x',
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'p', controller: true },
        ],
      },
      /Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/o and ConfigMap\/p$/,
    ],
  ];
  for (const [name, kind, metadata, ...faults] of rows) {
    it(`${faults.length === 0 ? 'takes' : 'refuses'} ${name}`, () => {
      const found = validateMetadata(kind, { ...(kind.namespaced ? { namespace: 'lab' } : {}), ...metadata });
      assert.equal(found.length, faults.length, JSON.stringify(found));
      for (const [i, fault] of faults.entries()) assert.match(`${found[i]?.field}: ${found[i]?.message}`, fault);
    });
  }
});

describe('validateMetadataUpdate', () => {
  const old = { name: 'x', namespace: 'lab', uid: 'u', creationTimestamp: 't' };

  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp']) {
    it(`does not let ${field} change`, () => {
      const found = validateMetadataUpdate(widget, { ...old, [field]: 'other' }, old);
      assert.deepEqual(
        found.map((error) => `${error.field}: ${error.message}`),
        Array(2).fill(`metadata.${field}: Invalid value: "other": field is immutable`),
      );
    });
  }

  it('lets finalizers go and not come while the object is being deleted', () => {
    const deleting = { ...old, deletionTimestamp: 't', finalizers: ['a.b/c', 'a.b/d'] };
    assert.deepEqual(validateMetadataUpdate(widget, { ...deleting, finalizers: ['a.b/c'] }, deleting), []);
    assert.equal(validateMetadataUpdate(widget, { ...deleting, finalizers: ['a.b/e'] }, deleting).length, 2);
  });
});
