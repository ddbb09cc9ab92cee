import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResourceType } from '../../../../events/resource.ts';
import { acceptOf, collectionPath, objectPath } from '../../../../functions/adapters/kubernetes/paths.ts';
import { configMaps, namespaces, roleBindings } from '../../../../functions/core/kinds.ts';

const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };

describe('paths', () => {
  const rows: [what: string, path: string, expected: string][] = [
    ['a core kind', collectionPath(configMaps), '/api/v1/configmaps'],
    ['a core kind in a namespace', collectionPath(configMaps, 'lab'), '/api/v1/namespaces/lab/configmaps'],
    ['a named group', collectionPath(tenants), '/apis/platform.example/v1/tenants'],
    ['a namespace itself', objectPath(namespaces, { name: 'lab' }), '/api/v1/namespaces/lab'],
    [
      'an object of a named group in a namespace',
      objectPath(roleBindings, { namespace: 'lab', name: 'system:admins' }),
      '/apis/rbac.authorization.k8s.io/v1/namespaces/lab/rolebindings/system%3Aadmins',
    ],
    [
      'a subresource',
      objectPath(tenants, { name: 'a' }, { force: true }, 'status'),
      '/apis/platform.example/v1/tenants/a/status?force=true',
    ],
    [
      'a query, without what is not set',
      collectionPath(tenants, undefined, { limit: 500, continue: undefined, labelSelector: 'a=b,c' }),
      '/apis/platform.example/v1/tenants?limit=500&labelSelector=a%3Db%2Cc',
    ],
    ['a name that holds a slash', objectPath(tenants, { name: 'a/status' }), '/apis/platform.example/v1/tenants/a%2Fstatus'],
  ];
  for (const [what, path, expected] of rows) it(`has ${what}`, () => assert.equal(path, expected));

  for (const name of ['', '.', '..']) {
    it(`refuses the name ${JSON.stringify(name)}, which would reach something else`, () => {
      assert.throws(() => objectPath(tenants, { name }), { name: 'TerminalError', code: 'bad-request' });
    });
  }

  it('refuses a namespaced kind without namespace and a cluster-scoped one with it', () => {
    assert.throws(() => objectPath(configMaps, { name: 'a' }), { code: 'bad-request' });
    assert.throws(() => objectPath(tenants, { namespace: 'lab', name: 'a' }), { code: 'bad-request' });
  });
});

describe('acceptOf', () => {
  it('asks a list for the list form and a watch for the singular one', () => {
    assert.match(acceptOf('metadata', 'list'), /as=PartialObjectMetadataList;/);
    assert.match(acceptOf('metadata', 'watch'), /as=PartialObjectMetadata;/);
    assert.match(acceptOf('table', 'list'), /as=Table;/);
    assert.match(acceptOf('table', 'watch'), /as=Table;/);
  });
});
