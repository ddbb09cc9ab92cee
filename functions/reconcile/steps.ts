/** The steps of a run, in the order of ARCHITECTURE.md: read, settled, plan, act, confirm. */
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
import { endsHere } from './decide.ts';
import { readObject } from './read.ts';
import type { ObjectContext, RunContext } from './run-context.ts';
import type { StepsResult } from './run-report.ts';
import { toBeWoken, wakeOf } from './wake.ts';

/** What the run comes to; keeps `context.progress` up. Throws whatever a step throws. */
export async function runSteps(context: RunContext): Promise<StepsResult> {
  const { run, reconciler, progress } = context;
  const { object, isPositionLost } = await readObject(context);
  progress.isPositionLost = isPositionLost;
  if (object !== undefined) progress.seen = { ...context, object };
  const branch = endsHere(run, object, reconciler);
  if (progress.seen === undefined || branch !== undefined) return { outcome: { kind: 'finished', branch: branch ?? 'gone' } };
  return reconcile(progress.seen);
}

/** From the author to the confirm. */
async function reconcile(context: ObjectContext): Promise<StepsResult> {
  const { run, reconciler, object, now, progress } = context;
  const { resource } = reconciler;
  if (!resource.isDescribed && hasAtomicConditions(object)) {
    // Nothing may be shown on this object either: an apply of our conditions is what would do the harm.
    progress.seen = undefined;
    throw conditionsNotMergeable();
  }
  // The checks of a schema are the author's code as well.
  progress.stage = 'author';
  const custom = resource.isDescribed ? parseDescribed(resource, object) : parseObject(resource, object);
  const readAt = isOnlyGenerationNew(context) ? object.metadata.resourceVersion : undefined;
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
  const { outcome, confirmed, rereadCount } = await confirm(context, status);
  if (confirmed === undefined) return { outcome, rereadCount };
  return { outcome: wake?.isSent ? toBeWoken(wake.at, confirmed) : outcome, rereadCount, status };
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
