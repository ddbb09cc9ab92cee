/** Our finalizer on a living object, before anything outside can come of it. */
import { FINALIZER_MANAGER } from '../../events/labels.ts';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { apiVersionOf } from '../../events/resource.ts';
import { ConflictError } from '../core/errors.ts';
import type { Finalization, KubernetesObject } from '../core/reconciler.ts';
import { pauseBriefly, READ_AGAIN_MAX } from './again.ts';
import { endsHere } from './decide.ts';
import { finalizeAbsent } from './finalize.ts';
import { overtaken } from './overtaken.ts';
import type { ObjectContext } from './run-context.ts';
import type { StepsResult } from './run-report.ts';

/** True where our finalizer is on the object. */
export function hasFinalizer({ metadata }: Pick<KubernetesObject, 'metadata'>, { name }: Finalization): boolean {
  return metadata.finalizers?.includes(name) === true;
}

/** The object with our finalizer on it, as it is then; or what the run came to instead. */
export type Held = { readonly kind: 'held'; readonly object: KubernetesObject } | { readonly kind: 'ended'; readonly result: StepsResult };

/**
 * Adds the finalizer where it is missing, to the very object that was read: its uid and resourceVersion are in the body, so an object
 * that is gone is not created and one that is being deleted not touched. A foreign write in between costs one read.
 */
export async function ensureFinalizer(context: ObjectContext, finalization: Finalization): Promise<Held> {
  const { client, reconciler, run, progress } = context;
  const { uid } = context.object.metadata;
  progress.stage = 'write';
  let current = context.object;
  while (!hasFinalizer(current, finalization)) {
    try {
      const answer = await client.apply(reconciler.resource, bodyOf(context, current.metadata, finalization), {
        fieldManager: FINALIZER_MANAGER,
      });
      return { kind: 'held', object: withMetadata(current, answer) };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
    if (progress.rereadCount === READ_AGAIN_MAX) return { kind: 'ended', result: { outcome: overtaken('foreign-fields', current) } };
    const found = await client.get(reconciler.resource, run.key);
    progress.rereadCount += 1;
    if (found?.metadata.uid !== uid) return { kind: 'ended', result: await finalizeAbsent(context, finalization, { uid, found }) };
    progress.seen = { ...context, object: found };
    const { generation, deletionTimestamp } = found.metadata;
    if (generation !== current.metadata.generation || deletionTimestamp !== undefined) {
      return { kind: 'ended', result: { outcome: overtaken('newer-spec', found) } };
    }
    const branch = endsHere(run, found, reconciler);
    if (branch !== undefined) return { kind: 'ended', result: { outcome: { kind: 'finished', branch } } };
    current = found;
    await pauseBriefly(context);
  }
  return { kind: 'held', object: current };
}

/** The answer comes without managedFields; those that were read still say which part of status is ours. */
function withMetadata(object: KubernetesObject, answer: ObjectMetadata): KubernetesObject {
  const { managedFields } = object.metadata;
  return { ...object, metadata: { ...answer, ...(managedFields === undefined ? {} : { managedFields }) } };
}

function bodyOf({ run, reconciler: { resource } }: ObjectContext, { uid, resourceVersion }: ObjectMetadata, { name }: Finalization) {
  const { namespace, name: objectName } = run.key;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: objectName, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, finalizers: [name] },
  };
}
