/** The objects of the story: Tenants and a QueueClaim, the kinds of the samples. */
import type { ResourceType } from '../../../../events/resource.ts';
import { namespaces, resourceQuotas } from '../../../../functions/core/kinds.ts';
import type { Spec, StageObject } from './story-step.ts';

const group = { group: 'platform.example', version: 'v1' } as const;
const tenants: ResourceType = { ...group, kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };
const queueClaims: ResourceType = { ...group, kind: 'QueueClaim', plural: 'queueclaims', scope: 'Namespaced' };

export interface StoryTenant extends StageObject {
  readonly namespace: StageObject;
  readonly quota: StageObject;
  /** With two members. */
  spec(pods: number): Spec;
}

export function storyTenant(name: string): StoryTenant {
  const namespace = `tenant-${name}`;
  return {
    type: tenants,
    at: { name },
    namespace: { type: namespaces, at: { name: namespace } },
    quota: { type: resourceQuotas, at: { namespace, name: 'tenant' } },
    spec: (pods) => ({
      owner: `olga@${name}.example`,
      quota: { cpu: '4', memory: '8Gi', pods },
      members: [`ada@${name}.example`, `grace@${name}.example`],
    }),
  };
}

export function storyClaim(name: string): StageObject {
  return { type: queueClaims, at: { namespace: 'default', name } };
}

/** The name of the SQS queue that a claim makes (functions/reconcilers/queue-claim.ts). */
export function queueNameOf(claim: { readonly metadata: { readonly uid: string } }): string {
  return `queueclaim-${claim.metadata.uid}`;
}

/** `spec.hard.pods` of a ResourceQuota, as it stands in a cluster. */
export function podsOf(quota: { readonly [field: string]: unknown } | undefined): string | undefined {
  const { hard } = (quota?.['spec'] ?? {}) as { readonly hard?: Readonly<Record<string, string>> };
  return hard?.['pods'];
}
