/** The steps of a run, in the order of ARCHITECTURE.md: read, gone or deleting, settled, finalizer, plan, act, confirm. */
import { parseDescribed } from '../core/described-resource.ts';
import { TerminalError } from '../core/errors.ts';
import { RUN_AGAIN } from '../core/outcome.ts';
import { hasAtomicConditions } from '../core/owned-fields.ts';
import { checkPlan } from '../core/plan.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { parseObject } from '../core/resource-definition.ts';
import { mergeStatus, ownStatusOf } from '../core/status.ts';
import { act, isOnlyGenerationNew } from './act.ts';
import { askAuthor } from './author.ts';
import { confirm, confirmDescribed } from './confirm.ts';
import { endsHere, isPaused } from './decide.ts';
import { finalizeDeleting } from './deleting.ts';
import { finalizeAbsent, finalizeLost } from './finalize.ts';
import { ensureFinalizer } from './finalizer.ts';
import { readObject } from './read.ts';
import type { ObjectContext, RunContext } from './run-context.ts';
import type { StepsResult } from './run-report.ts';
import { toBeWoken, wakeOf } from './wake.ts';

/** What the run comes to; keeps `context.progress` up. Throws whatever a step throws. */
export async function runSteps(context: RunContext): Promise<StepsResult> {
  const { run, reconciler, progress } = context;
  const { object: found, isPositionLost } = await readObject(context);
  progress.isPositionLost = isPositionLost;
  const { finalization } = reconciler;
  // A message without a uid is about whatever has the name.
  const uid = run.data.uid ?? found?.metadata.uid;
  if (finalization !== undefined && uid !== undefined && found?.metadata.uid !== uid) {
    return finalizeAbsent(context, finalization, { uid, found });
  }
  if (found === undefined) return { outcome: { kind: 'finished', branch: 'gone' } };
  const seen = { ...context, object: found };
  progress.seen = seen;
  if (finalization !== undefined && found.metadata.deletionTimestamp !== undefined && !isPaused(found)) {
    return finalizeDeleting(seen, finalization);
  }
  const branch = endsHere(run, found, reconciler);
  if (branch !== undefined) return { outcome: { kind: 'finished', branch } };
  if (!reconciler.resource.isDescribed && hasAtomicConditions(found)) {
    // Nothing may be shown on this object either: an apply of our conditions is what would do the harm.
    progress.seen = undefined;
    throw conditionsNotMergeable();
  }
  if (finalization === undefined) return reconcile(seen);
  const held = await ensureFinalizer(seen, finalization);
  if (held.kind === 'ended') return held.result;
  const acting = { ...context, object: held.object };
  progress.seen = acting;
  return finalizeLost(acting, finalization, await reconcile(acting));
}

/** From the author to the confirm. */
async function reconcile(context: ObjectContext): Promise<StepsResult> {
  const { run, reconciler, object, now, progress } = context;
  const { resource } = reconciler;
  // The checks of a schema are the author's code as well.
  progress.stage = 'author';
  const custom = resource.isDescribed ? parseDescribed(resource, object) : parseObject(resource, object);
  const readAt = isOnlyGenerationNew(context) ? object.metadata.resourceVersion : undefined;
  // From here on something outside may depend on the uid, and nothing but the author knows.
  if (reconciler.finalization !== undefined) progress.mayHaveActed = true;
  const answer = await askAuthor(context, custom, readAt);
  const plan = checkPlan(reconciler, { key: run.key, metadata: object.metadata }, answer);
  progress.stage = 'write';
  await act(context, plan);
  if (resource.isDescribed) return confirmDescribed(context);
  const wake = wakeOf(context, plan.requeueAfterSeconds);
  const status = mergeStatus({
    previous: ownStatusOf(object),
    status: plan.status,
    conditions: plan.conditions,
    digest: plan.digest,
    generation: generationOf(object),
    revision: reconciler.revision,
    nextReconcileTime: wake?.at,
    now,
  });
  progress.storing = wake?.isSent ? wake.at : undefined;
  const { outcome, confirmed } = await confirm(context, status);
  if (confirmed === undefined) return { outcome };
  return { outcome: wake?.isSent ? toBeWoken(wake.at, confirmed) : outcome, status };
}

/** Every kind with a status of ours is a custom resource, and those have a generation from 1 on. */
function generationOf(object: KubernetesObject): number {
  return object.metadata.generation ?? 0;
}

function conditionsNotMergeable(): TerminalError {
  return new TerminalError(
    'conditions-not-mergeable',
    `status.conditions is one value in this CRD, so ours would erase those of others: make it a list map keyed by type (dogwatch crds), ${RUN_AGAIN}`,
  );
}
