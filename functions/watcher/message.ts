/** From a dirty mark to the message that SQS gets. */

import type { Mark } from '../../events/dirty-marks.ts';
import { buildEnvelope, type EnvelopeData, encodeEnvelope } from '../../events/envelope.ts';
import type { ClusterName, ResourceType } from '../../events/resource.ts';
import { isPosition } from '../../events/resource-version.ts';
import { type Clock, dateOf } from '../adapters/clock.ts';
import type { OutgoingMessage } from '../adapters/queue-port.ts';

/**
 * What a first attempt carries. `resourceVersion` is left out where it is no position: the function could not read at it.
 *
 * `heldSeconds` is the time that the mark waited for the queue, where that is a second or more: an object must not use up its
 * age budget while SQS cannot be reached. It makes up for `firstSeenAt`, also where the wall clock was set in between.
 */
export function envelopeDataOf(cluster: ClusterName, type: ResourceType, mark: Mark, clock: Pick<Clock, 'now' | 'steadyMs'>): EnvelopeData {
  const heldSeconds = Math.floor((clock.steadyMs() - mark.firstSeenAtMs) / 1000);
  return {
    cluster,
    group: type.group,
    version: type.version,
    plural: type.plural,
    kind: type.kind,
    ...(mark.namespace === undefined ? {} : { namespace: mark.namespace }),
    name: mark.name,
    uid: mark.uid,
    ...(isPosition(mark.resourceVersion) ? { resourceVersion: mark.resourceVersion } : {}),
    ...(mark.generation === undefined ? {} : { generation: mark.generation }),
    reason: mark.reason,
    mustRun: mark.mustRun,
    attempt: 1,
    firstSeenAt: dateOf(mark.firstSeenAtMs, clock).toISOString(),
    ...(heldSeconds >= 1 ? { heldSeconds } : {}),
  };
}

/**
 * The message for a mark, with an id and a trace context of its own; the cluster is its fair queue group.
 *
 * @throws RangeError where the envelope is too large, which no name that the API server accepts can make it
 */
export function messageOf(cluster: ClusterName, type: ResourceType, mark: Mark, clock: Clock): OutgoingMessage {
  const data = envelopeDataOf(cluster, type, mark, clock);
  const envelope = buildEnvelope(data, { id: clock.uuid(), now: clock.now(), traceparent: clock.traceparent() });
  return { body: encodeEnvelope(envelope), delaySeconds: mark.delaySeconds ?? 0, groupId: cluster };
}
