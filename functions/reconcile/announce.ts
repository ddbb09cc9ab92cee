/**
 * Kubernetes Events: one when Ready changes, one when a message of the object is dead-lettered, nothing else; where the kind is
 * not ours and has no Ready, one for the first failure of a message. Best effort.
 */
import { apiVersionOf } from '../../events/resource.ts';
import { cutText } from '../core/errors.ts';
import { type Failure, failureOf } from '../core/outcome.ts';
import { type OwnStatus, reasonOf } from '../core/status.ts';
import { observedOf, readyOf } from './observed.ts';
import type { ObjectContext } from './run-context.ts';

/** Where Events about cluster-scoped objects live: the API server takes them in `default` only. */
const CLUSTER_EVENTS_NAMESPACE = 'default';
/** Longest reason of an Event (events.k8s.io/v1 validation), in characters. */
const REASON_MAX = 128;
/** Longest note in UTF-16 units, so that its UTF-8 stays within the 1,024 bytes that an Event takes. */
const NOTE_MAX = 340;
/** Leaves room for the suffix in the 253 characters of a name. */
const NAME_MAX = 200;

interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/**
 * Tells of what changed on the object, if anything did.
 *
 * @param written  the status that this run wrote; undefined where it wrote none
 * @param letter   the failure of a dead letter
 */
export async function announce(context: ObjectContext, written: OwnStatus | undefined, letter: Failure | undefined): Promise<void> {
  const ready = readyOf(written);
  if (ready !== undefined && ready.status !== observedOf(context.object).ready) {
    const type = ready.status === 'True' ? 'Normal' : 'Warning';
    await createEvent(context, { type, reason: ready.reason, note: ready.message });
  }
  if (letter === undefined) return;
  await createEvent(context, { type: 'Warning', reason: 'DeadLettered', note: `${reasonOf(letter.code)}: ${letter.message}` });
}

/** Tells of a failure where no status can. */
export async function announceFailure(context: ObjectContext, { code, message }: Failure): Promise<void> {
  await createEvent(context, { type: 'Warning', reason: reasonOf(code), note: message });
}

async function createEvent(context: ObjectContext, { type, reason, note }: Announcement): Promise<void> {
  const { object, client, clock, log, signal } = context;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const place = namespace ?? CLUSTER_EVENTS_NAMESPACE;
  const suffix = clock.uuid().replaceAll('-', '').slice(0, 16);
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, NAME_MAX).replace(/[-.]+$/, '')}.${suffix}`, namespace: place },
    // A MicroTime has exactly six digits after the point.
    eventTime: clock.now().toISOString().replace('Z', '000Z'),
    reportingController: 'dogwatch',
    reportingInstance: 'dogwatch-reconcile',
    action: 'Reconcile',
    type,
    reason: reason.slice(0, REASON_MAX) || 'Unknown',
    note: cutText(note, NOTE_MAX),
    regarding: {
      apiVersion: apiVersionOf(context.reconciler.resource),
      kind: context.reconciler.resource.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
    },
  };
  try {
    await client.createEvent(event, place);
  } catch (error) {
    if (!signal.aborted) log.debug('Event not created', { key: context.run.key, code: failureOf(error).code });
  }
}
