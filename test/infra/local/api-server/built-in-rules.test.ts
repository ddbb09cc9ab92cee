import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createObject } from '../../../../infra/local/api-server/write-object.ts';
import { bodyOf, builtIn, configMap, contextOf, namespaceKind, shortRefusal, Written } from './lab-kinds.ts';

const secret = builtIn('Secret', 'secrets');
const quota = builtIn('ResourceQuota', 'resourcequotas', { hasStatus: true });
const roleBinding = builtIn('RoleBinding', 'rolebindings', { group: 'rbac.authorization.k8s.io' });

describe('built-in kinds', () => {
  it('encode stringData of a Secret and call it Opaque', () => {
    const s = Written.create(secret, 's', { data: { a: 'eA==' }, stringData: { b: 'y' } });
    const { data, type, stringData } = s.object;
    assert.deepEqual([data, type, stringData], [{ a: 'eA==', b: 'eQ==' }, 'Opaque', undefined]);
    assert.deepEqual(s.fieldsOf('unknown'), { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} }, 'f:type': {} });
  });

  it('begin a Namespace active, with its finalizer and its name as a label', () => {
    const { object } = Written.create(namespaceKind, 'lab', { spec: {} });
    assert.deepEqual([object['spec'], object['status']], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }]);
    assert.deepEqual([object.metadata.labels, object.metadata.namespace], [{ 'kubernetes.io/metadata.name': 'lab' }, undefined]);
  });

  it('fill in the group of roles and users in a binding, and never change the role', () => {
    const roleRef = { kind: 'ClusterRole', name: 'view' };
    const b = Written.create(roleBinding, 'b', {
      roleRef,
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    });
    const apiGroup = 'rbac.authorization.k8s.io';
    assert.deepEqual(b.object['roleRef'], { ...roleRef, apiGroup });
    assert.deepEqual(b.object['subjects'], [
      { kind: 'User', name: 'u', apiGroup },
      { kind: 'ServiceAccount', name: 's' },
    ]);
    const [code, , message] = shortRefusal(() => b.merge({ roleRef: { name: 'edit' } }));
    assert.equal(code, 422);
    assert.match(
      String(message),
      /^RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: \{.*\}: cannot change roleRef$/,
    );
  });

  it('freeze what is immutable', () => {
    const c = Written.create(configMap, 'c', { data: { a: '1' }, immutable: true });
    assert.equal(
      shortRefusal(() => c.merge({ data: { a: '2' } }))[2],
      'ConfigMap "c" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    );
    assert.equal(c.merge({ metadata: { labels: { a: 'b' } } }), true);
  });

  it('refuse values of another type before anything else', () => {
    assert.deepEqual(
      shortRefusal(() => createObject(configMap, bodyOf(configMap, 'c', { data: { a: 1 } }), contextOf())),
      [
        400,
        'BadRequest',
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      ],
    );
  });

  it('take kind and version from the URL where the body has none', () => {
    assert.equal(createObject(configMap, { metadata: { name: 'c' } }, contextOf()).kind, 'ConfigMap');
  });

  it('take labels through the status of a quota, and no spec', () => {
    const q = Written.create(quota, 'q', { spec: { hard: { pods: '1' } }, status: { used: { pods: '9' } } });
    assert.deepEqual(q.status, {});
    q.merge(
      { metadata: { labels: { a: 'b' } }, spec: { hard: { pods: '2' } }, status: { used: { pods: '1' } } },
      { subresource: 'status' },
    );
    assert.deepEqual(
      [q.object['spec'], q.status, q.object.metadata.labels],
      [{ hard: { pods: '1' } }, { used: { pods: '1' } }, { a: 'b' }],
    );
  });
});
