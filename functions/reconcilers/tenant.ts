/**
 * Tenant: a namespace with a quota, and the right to work in it for each member.
 *
 * Read it as the example of a reconciler. It says what a Tenant looks like, which kinds it makes and which rights it hands on;
 * `reconcile` computes from the spec what should exist. Every write, owner references, the removal of what is no longer planned,
 * conditions, retries and dead letters are the framework's. Deletion needs no code: the garbage collector takes the children.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isDnsLabel } from '../../events/resource.ts';
import { namespaces, resourceQuotas, roleBindings } from '../core/kinds.ts';
import { invalidPlan } from '../core/plan.ts';
import { clusterRole, defineReconciler, type PlannedObject } from '../core/reconciler.ts';
import { defineResource } from '../core/resource-definition.ts';

const quantity = z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$/, 'must be a quantity such as 500m or 2Gi');

const tenantResource = defineResource({
  group: 'platform.example',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  scope: 'Cluster',
  spec: z.object({
    owner: z.email().describe('Who answers for the tenant.'),
    quota: z
      .object({
        cpu: quantity.describe('Sum of all CPU requests, e.g. 4 or 500m.'),
        memory: quantity.describe('Sum of all memory requests, e.g. 8Gi.'),
        pods: z.int().min(0).describe('Pods at one time.'),
      })
      .describe('What all workloads of the tenant may request together.'),
    members: z
      .array(z.email())
      .refine((members) => new Set(members).size === members.length, 'must not name anyone twice')
      .default([])
      .meta({ description: 'Users who may work in the namespace.', 'x-kubernetes-list-type': 'set' }),
  }),
  status: z.object({
    namespace: z.string().describe('The namespace made for the tenant.'),
    members: z.int().describe('How many members have been let in.'),
  }),
  columns: [
    { name: 'Namespace', type: 'string', jsonPath: '.status.namespace' },
    { name: 'Members', type: 'integer', jsonPath: '.status.members' },
  ],
});

/** The right each member gets, in the tenant's namespace alone. */
const MEMBER_ROLE = 'edit';

/** Makes Namespace `tenant-<name>`, ResourceQuota `tenant` in it, and a RoleBinding for each member. */
export const tenant = defineReconciler({
  resource: tenantResource,
  owns: [namespaces, resourceQuotas, roleBindings],
  grants: [clusterRole(MEMBER_ROLE)],
  async reconcile({ object }) {
    const { quota, members } = object.spec;
    const namespace = `tenant-${object.metadata.name}`;
    if (!isDnsLabel(namespace)) {
      throw invalidPlan('A Tenant needs a name without dots, of at most 56 characters: it becomes the namespace tenant-<name>');
    }
    return {
      apply: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { namespace, name: 'tenant' },
          spec: { hard: { 'requests.cpu': quota.cpu, 'requests.memory': quota.memory, pods: String(quota.pods) } },
        },
        ...members.map((email) => memberBinding(namespace, email)),
      ],
      status: { namespace, members: members.length },
    };
  },
});

/** An address may hold what a name may not, so the name is made from its hash: the same member, the same name, always. */
function memberBinding(namespace: string, email: string): PlannedObject {
  const id = createHash('sha256').update(email).digest('hex').slice(0, 16);
  const rbac = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace, name: `member-${id}` },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: MEMBER_ROLE },
    subjects: [{ apiGroup: rbac, kind: 'User', name: email }],
  };
}
