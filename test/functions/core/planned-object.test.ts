import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps, namespaces, roleBindings } from '../../../functions/core/kinds.ts';
import { checkPlannedObject } from '../../../functions/core/planned-object.ts';

const owns = [namespaces, configMaps, roleBindings];
const metadata = { name: 'a', namespace: 'team' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } };
const withMetadata = (change: object) => ({ ...configMap, metadata: { ...metadata, ...change } });

describe('checkPlannedObject', () => {
  it('passes a copy of what was planned, with its kind and its name for messages', () => {
    const checked = checkPlannedObject(configMap, owns);
    assert.deepEqual(checked, { kind: 'checked', type: configMaps, body: configMap, name: 'ConfigMap team/a' });
    assert.notEqual(checked.kind === 'checked' && checked.body.metadata, metadata);
  });

  it('passes labels and annotations, a namespace-less Namespace and the wide names of RBAC', () => {
    const labelled = withMetadata({ labels: { 'app.kubernetes.io/name': 'x', empty: '' }, annotations: { note: 'any text: é' } });
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'system:A', namespace: 'team' } };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
    for (const planned of [labelled, binding, namespace]) assert.equal(checkPlannedObject(planned, owns).kind, 'checked');
  });

  it('drops properties that are undefined', () => {
    const checked = checkPlannedObject({ ...configMap, data: { key: undefined } }, owns);
    assert.deepEqual(checked.kind === 'checked' && checked.body['data'], {});
  });

  const refused: { name: string; planned: unknown; field: string; says: RegExp; child?: string }[] = [
    { name: 'undefined', planned: undefined, field: 'the entry', says: /not an object/ },
    { name: 'a list', planned: [configMap], field: 'the entry', says: /not an object/ },
    { name: 'no kind', planned: { apiVersion: 'v1', metadata }, field: 'kind', says: /missing/ },
    { name: 'no apiVersion', planned: { kind: 'ConfigMap', metadata }, field: 'kind', says: /missing/ },
    { name: 'a kind that is not owned', planned: { ...configMap, kind: 'Secret' }, field: 'kind', says: /owns/ },
    { name: 'the kind in another group', planned: { ...configMap, apiVersion: 'x.example/v1' }, field: 'kind', says: /owns/ },
    { name: 'another version', planned: { ...configMap, apiVersion: 'v2' }, field: 'kind', says: /owned as v1, not as v2/ },
    { name: 'a status', planned: { ...configMap, status: {} }, field: 'status', says: /leave it out/ },
    { name: 'no metadata', planned: { apiVersion: 'v1', kind: 'ConfigMap' }, field: 'metadata', says: /missing/ },
    { name: 'no name', planned: withMetadata({ name: undefined }), field: 'metadata.name', says: /missing/ },
    { name: 'a name with capitals', planned: withMetadata({ name: 'A' }), field: 'metadata.name', says: /DNS subdomain/ },
    {
      name: 'a Namespace with a dot',
      planned: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } },
      field: 'metadata.name',
      says: /DNS label/,
      child: 'Namespace a.b',
    },
    { name: 'no namespace', planned: withMetadata({ namespace: undefined }), field: 'metadata.namespace', says: /missing/ },
    {
      name: 'a bad namespace',
      planned: withMetadata({ namespace: 'a.b' }),
      field: 'metadata.namespace',
      says: /DNS label/,
      child: 'ConfigMap a.b/a',
    },
    {
      name: 'a namespace for a Namespace',
      planned: { apiVersion: 'v1', kind: 'Namespace', metadata },
      field: 'metadata.namespace',
      says: /cluster-scoped/,
      child: 'Namespace team/a',
    },
    ...['uid', 'resourceVersion', 'generateName', 'ownerReferences', 'finalizers', 'managedFields', 'creationTimestamp'].map((field) => ({
      name: field,
      planned: withMetadata({ [field]: 'x' }),
      field: `metadata.${field}`,
      says: /cannot be planned/,
    })),
    {
      name: 'our label',
      planned: withMetadata({ labels: { 'dogwatch.dev/owner': 'x' } }),
      field: 'metadata.labels[dogwatch.dev/owner]',
      says: /reserved/,
    },
    {
      name: 'our annotation',
      planned: withMetadata({ annotations: { 'dogwatch.dev/paused': '' } }),
      field: 'metadata.annotations[dogwatch.dev/paused]',
      says: /reserved/,
    },
    { name: 'labels that are a list', planned: withMetadata({ labels: [] }), field: 'metadata.labels', says: /not an object/ },
    { name: 'a label with a bad key', planned: withMetadata({ labels: { 'a b': 'x' } }), field: 'metadata.labels[a b]', says: /key/ },
    {
      name: 'a label with a long value',
      planned: withMetadata({ labels: { a: 'x'.repeat(64) } }),
      field: 'metadata.labels[a]',
      says: /63/,
    },
    {
      name: 'an annotation that is a number',
      planned: withMetadata({ annotations: { a: 1 } }),
      field: 'metadata.annotations[a]',
      says: /string/,
    },
    {
      name: 'annotations over the limit',
      planned: withMetadata({ annotations: { a: 'x'.repeat(250_000) } }),
      field: 'metadata.annotations',
      says: /250,000 bytes/,
    },
    {
      name: 'annotations over the limit in bytes only',
      planned: withMetadata({ annotations: { a: '€'.repeat(90_000) } }),
      field: 'metadata.annotations',
      says: /250,000 bytes/,
    },
    {
      name: 'NaN deep inside',
      planned: { ...configMap, spec: { ports: [{ port: Number.NaN }] } },
      field: 'spec.ports[0].port',
      says: /NaN/,
    },
    { name: 'a Date', planned: { ...configMap, data: { at: new Date(0) } }, field: 'data.at', says: /Date/ },
  ];
  for (const { name, planned, field, says, child } of refused) {
    it(`refuses ${name} and names the field`, () => {
      const checked = checkPlannedObject(planned, owns);
      assert.ok(checked.kind === 'refused');
      assert.equal(checked.field, field);
      assert.match(checked.problem, says);
      if (child !== undefined) assert.equal(checked.name, child);
    });
  }
});
