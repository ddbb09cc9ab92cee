/** What somebody has who wants objects run, and the message for each. */
import { REASONS } from '../../events/envelope.ts';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { type ClusterName, groupKind, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { OutgoingMessage, Queue } from '../adapters/queue-port.ts';
import type { Reconciler } from '../core/reconciler.ts';
import { messageOf } from '../watcher/message.ts';

/** What both forms of the command work with. */
export interface Manual {
  readonly client: KubernetesClient;
  readonly reconciler: Reconciler;
  readonly queue: Queue;
  /** The bulk queue: what somebody asks for is not to delay what changes. */
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly json: boolean;
  /** A line for the reader of the result, and one for whoever waits for it. */
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}

/** What is needed of an object to have it run. */
export type Seen = Pick<ObjectMetadata, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'generation'>;

/** A first attempt with reason `manual`, which must run although the object is settled. */
export function manualMessage(cluster: ClusterName, type: ResourceType, seen: Seen, clock: Clock): OutgoingMessage {
  const { namespace, name, uid, resourceVersion, generation } = seen;
  const place = namespace === undefined ? { name } : { namespace, name };
  return messageOf(
    cluster,
    type,
    { ...place, uid, resourceVersion, generation, reason: 'manual', ...REASONS.manual, firstSeenAtMs: clock.steadyMs() },
    clock,
  );
}

/** How an object is named to a reader. */
export function describeObject(cluster: ClusterName, type: ResourceType, at: ObjectAddress): string {
  return `${cluster}: ${groupKind(type)} ${at.namespace === undefined ? '' : `${at.namespace}/`}${at.name}`;
}
