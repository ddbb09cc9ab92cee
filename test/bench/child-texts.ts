/** The children of the Tenants of `tenant-texts.ts`: of each owned kind one a Tenant, as its reconciler would have applied it. */
import { FIELD_MANAGER, OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../events/labels.ts';
import { apiVersionOf, clusterName, formatResourceKey, type ResourceType } from '../../events/resource.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import type { ObjectState } from './scripted-collection.ts';
import { CREATED, type Form, nameOf, uidOf } from './tenant-texts.ts';

/** Our part of each kind, as managedFields name it. */
const APPLIED: Readonly<Record<string, object>> = {
  ResourceQuota: { 'f:spec': { 'f:hard': { 'f:pods': {}, 'f:requests.cpu': {}, 'f:requests.memory': {} } } },
  RoleBinding: { 'f:roleRef': {}, 'f:subjects': {} },
};

/** What an object of the kind looks like in a list; whole objects are not served. */
export function childText(type: ResourceType, { index, resourceVersion }: ObjectState, form: Form): string {
  if (form === 'full') throw new Error('children are served as metadata only');
  const { group, kind } = tenant.resource;
  const owner = { apiVersion: apiVersionOf(tenant.resource), kind, name: nameOf(index), uid: uidOf('tenant', index) };
  const ownerRef = formatResourceKey({ cluster: clusterName('east'), group, kind, name: owner.name });
  const namespace = `tenant-${owner.name}`;
  const metadata = {
    name: type.scope === 'Cluster' ? namespace : type.kind.toLowerCase(),
    ...(type.scope === 'Cluster' ? {} : { namespace }),
    uid: uidOf(type.kind, index),
    resourceVersion: String(resourceVersion),
    creationTimestamp: CREATED,
    labels: { [OWNER_LABEL]: owner.uid },
    annotations: { [OWNER_REF_ANNOTATION]: ownerRef },
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    managedFields: [
      {
        manager: FIELD_MANAGER,
        operation: 'Apply',
        apiVersion: apiVersionOf(type),
        time: CREATED,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': {
            'f:annotations': { [`f:${OWNER_REF_ANNOTATION}`]: {} },
            'f:labels': { [`f:${OWNER_LABEL}`]: {} },
            'f:ownerReferences': { [`k:${JSON.stringify({ uid: owner.uid })}`]: {} },
          },
          ...APPLIED[type.kind],
        },
      },
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        apiVersion: apiVersionOf(type),
        time: CREATED,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:hard': { '.': {}, 'f:pods': {} }, 'f:used': { '.': {}, 'f:pods': {} } } },
        subresource: 'status',
      },
    ],
  };
  const partial = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)}}`;
  return form === 'table' ? `{"cells":["${metadata.name}"],"object":${partial}}` : partial;
}
