/** A run for an object that is being deleted: undo what it did outside, then let it go. */
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { parseDescribed } from '../core/described-resource.ts';
import { ConflictError, TerminalError } from '../core/errors.ts';
import { failureOf } from '../core/outcome.ts';
import { hasAtomicConditions } from '../core/owned-fields.ts';
import type { CustomObject, Finalization, KubernetesObject } from '../core/reconciler.ts';
import { parseObject } from '../core/resource-definition.ts';
import { ownStatusOf, withNextReconcileTime } from '../core/status.ts';
import { pauseBriefly, READ_AGAIN_MAX } from './again.ts';
import { statusBody } from './confirm.ts';
import { isPaused } from './decide.ts';
import { askToFinalize } from './finalize.ts';
import { hasFinalizer } from './finalizer.ts';
import type { ObjectRun } from './fold.ts';
import { waitingOf } from './observed.ts';
import { overtaken } from './overtaken.ts';
import type { ObjectContext } from './run-context.ts';
import type { StepsResult } from './run-report.ts';
import { sendDeleted } from './send-deleted.ts';
import { isBesideDeletion, toBeWoken, wakeOf } from './wake.ts';

/**
 * Finalize; once that is done, a message that looks again when every run of before is over; once SQS has it, the finalizer comes off.
 * The object stays for as long as any of it fails.
 *
 * Where our finalizer is off already, others hold the object: nothing of ours is left, unless the message says that a run
 * may have acted since. Then finalize is called again.
 */
export async function finalizeDeleting(context: ObjectContext, finalization: Finalization): Promise<StepsResult> {
  const { run, object, progress, reconciler } = context;
  const isHeld = hasFinalizer(object, finalization);
  if (isHeld ? isNoticeOnly(run) : !run.data.mustRun && !run.reasons.has('deleted')) return DELETING;
  // Nothing may be shown on such an object: an apply of our conditions would take out those of others.
  if (!reconciler.resource.isDescribed && hasAtomicConditions(object)) progress.seen = undefined;
  // Another run may have: until finalize has succeeded, whatever follows this one must not leave it at that.
  if (!isHeld) progress.mayHaveActed = true;
  const answer = await askToFinalize(context, finalization, { uid: object.metadata.uid, object: asAuthorSeesIt(context) });
  progress.stage = 'write';
  if (!answer.done) return waitFor(context, answer.requeueAfterSeconds);
  if (!isHeld) return DELETING;
  await sendDeleted(context);
  return removeFinalizer(context, finalization);
}

/**
 * True where nothing asked for the run but the message that is sent before the finalizer comes off. If the finalizer is on, it failed
 * to come off: that run is tried again and sends anew. Were it tried by both, they would double with every failure.
 */
function isNoticeOnly({ reasons }: ObjectRun): boolean {
  return [...reasons].every((reason) => reason === 'deleted');
}

const DELETING: StepsResult = { outcome: { kind: 'finished', branch: 'deleting' } };
const FINALIZED: StepsResult = { outcome: { kind: 'finished', branch: 'finalized' } };

/** Undefined for an object that does not fit its schema, whatever the schema does about it: that must not keep it from going. */
function asAuthorSeesIt({ reconciler: { resource }, object, log, run }: ObjectContext): CustomObject<unknown, unknown> | undefined {
  try {
    return resource.isDescribed ? (parseDescribed(resource, object) as CustomObject<unknown, unknown>) : parseObject(resource, object);
  } catch (error) {
    log.debug('object does not fit its schema, and is finalized without', { key: run.key, code: failureOf(error).code });
    return undefined;
  }
}

/** Wakes the object later, and says so in its status, which keeps it at one chain of wake-ups. */
async function waitFor(context: ObjectContext, seconds: number): Promise<StepsResult> {
  const wake = wakeOf(context, seconds);
  if (wake === undefined || !wake.isSent) return DELETING;
  const waiting = await storeWakeUp(context, wake.at);
  if (waiting === undefined && isBesideDeletion(context.run)) return DELETING;
  return { outcome: toBeWoken(wake.at, waiting ?? context.object.metadata) };
}

/**
 * The metadata of the object that waits until `at`; undefined for one that stores no time: it is not ours, may not be written, or its
 * CRD does not know the field. One that has moved is woken all the same: another chain costs a run, none would keep it for ever.
 */
async function storeWakeUp(context: ObjectContext, at: Date): Promise<ObjectMetadata | undefined> {
  const { client, reconciler, object, progress } = context;
  const { metadata } = object;
  if (reconciler.resource.isDescribed || progress.seen === undefined) return undefined;
  if (waitingOf(object).until === at.getTime()) return metadata;
  try {
    progress.storing = at;
    const status = withNextReconcileTime(ownStatusOf(object), at);
    const answer = await client.applyStatus(reconciler.resource, statusBody(context, metadata.resourceVersion, status));
    // Another time is another version, unless the field was dropped.
    return answer?.resourceVersion === metadata.resourceVersion ? undefined : answer;
  } catch (error) {
    if (error instanceof ConflictError) return metadata;
    if (error instanceof TerminalError) return undefined;
    throw error;
  }
}

/**
 * The list of finalizers just read, less ours, at that very resourceVersion: those of others are neither taken off nor brought back.
 * A conflict costs one more read, after which it is decided again.
 */
async function removeFinalizer(context: ObjectContext, finalization: Finalization): Promise<StepsResult> {
  const { client, reconciler, run, progress } = context;
  const { resource } = reconciler;
  let current: KubernetesObject = context.object;
  for (;;) {
    const { uid, resourceVersion, finalizers = [] } = current.metadata;
    const rest = finalizers.filter((name) => name !== finalization.name);
    try {
      // Undefined is gone; and so is the object where another one has its name.
      await client.patchFinalizers(resource, run.key, { uid, resourceVersion }, rest);
      return FINALIZED;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.code === 'uid-conflict') return FINALIZED;
    }
    if (progress.rereadCount === READ_AGAIN_MAX) return { outcome: overtaken('foreign-fields', current) };
    const found = await client.get(resource, run.key);
    progress.rereadCount += 1;
    if (found === undefined || found.metadata.uid !== uid || !hasFinalizer(found, finalization)) return FINALIZED;
    if (progress.seen !== undefined) progress.seen = { ...context, object: found };
    if (isPaused(found)) return { outcome: { kind: 'finished', branch: 'paused' } };
    // Only an etcd that was restored brings an object back from its deletion.
    if (found.metadata.deletionTimestamp === undefined) return { outcome: overtaken('newer-spec', found) };
    current = found;
    await pauseBriefly(context);
  }
}
