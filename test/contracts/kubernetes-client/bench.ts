/** What every case of the contract is given, and the objects that it is about. */
import type { ObjectAddress, ResourceType } from '../../../events/resource.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';

/** A client, and somebody else's hand on the same cluster. */
export interface Bench {
  readonly client: KubernetesClient;
  create(type: ResourceType, at: ObjectAddress, fields?: Record<string, unknown>): Promise<void>;
  /** A merge patch by another field manager; null takes a field out. */
  edit(type: ResourceType, at: ObjectAddress, patch: Record<string, unknown>, subresource?: 'status'): Promise<void>;
  delete(type: ResourceType, at: ObjectAddress): Promise<void>;
  close(): Promise<void>;
}

let names = 0;
/** A new address in the namespace `default`. */
export function fresh(): { readonly namespace: string; readonly name: string } {
  names += 1;
  return { namespace: 'default', name: `contract-${names}` };
}

/** A Thing as it is applied. */
export function thing(at: ObjectAddress, fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) {
  return { apiVersion: 'contract.example/v1', kind: 'Thing', metadata: { ...at, ...metadata }, ...fields };
}
