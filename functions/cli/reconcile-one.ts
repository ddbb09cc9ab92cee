/** One object is to be run: it is looked at first, so that whoever asks learns what the run will find. */
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import type { ObjectAddress } from '../../events/resource.ts';
import { TransientError } from '../core/errors.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import type { ExitCode } from './main.ts';
import { describeObject, type Manual, manualMessage } from './manual.ts';

/**
 * Sends `manual` for the object with its uid, resourceVersion and generation; 1 where there is none.
 *
 * @throws TransientError `not-sent` where SQS does not take the message, and what the API server says
 */
export async function reconcileOne(manual: Manual, at: ObjectAddress): Promise<ExitCode> {
  const { client, reconciler, queue, queueUrl, clock, json, print, say } = manual;
  const { resource } = reconciler;
  const whose = describeObject(client.cluster, resource, at);
  const told = { cluster: client.cluster, kind: resource.kind, group: resource.group, ...at };
  const object = await client.get(resource, at);
  if (object === undefined) {
    const hint = at.namespace === undefined ? '' : '; --namespace NAME looks elsewhere';
    if (json) print(JSON.stringify({ ...told, found: false, sent: false }));
    else say(`${whose} does not exist${hint}`);
    return 1;
  }
  const [result] = await queue.send(queueUrl, [manualMessage(client.cluster, resource, object.metadata, clock)]);
  if (result?.kind !== 'sent') {
    throw new TransientError('not-sent', 'SQS did not take the message; look at DOGWATCH_BULK_QUEUE_URL and the credentials', {
      facts: { code: result?.code ?? 'no-result', ...(result?.kind === 'refused' ? { why: result.message } : {}) },
    });
  }
  const note = noteOn(object, reconciler);
  const { uid, generation, resourceVersion } = object.metadata;
  if (json)
    print(JSON.stringify({ ...told, found: true, sent: true, uid, generation, resourceVersion, ...(note === undefined ? {} : { note }) }));
  else print(`${whose} is to be run${note === undefined ? '' : `; ${note}`}`);
  return 0;
}

/** Why the run will not do what one would expect, if that can be seen from here. */
function noteOn(object: KubernetesObject, reconciler: Reconciler): string | undefined {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  if (Object.hasOwn(annotations, PAUSED_ANNOTATION))
    return `it is paused: nothing is done until the annotation ${PAUSED_ANNOTATION} is taken off`;
  // What must run is finalized once more where our finalizer is off, and others hold the object.
  if (deletionTimestamp !== undefined)
    return `it is being deleted: ${reconciler.finalization === undefined ? 'nothing is done' : 'the run finalizes it'}`;
  return reconciler.watch.selects(object) ? undefined : 'its reconciler does not select it: nothing is done';
}
