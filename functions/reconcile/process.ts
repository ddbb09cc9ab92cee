/**
 * One object's run, the steps of ARCHITECTURE.md's protocol in order: due, target, read, settled, plan, act, confirm. Every
 * way it can end is an {@link Outcome}; what follows from that is decided elsewhere, so nothing here sends, retries or
 * writes a failure.
 */
import { type ClusterName, groupKind } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { parseDescribed } from '../core/described-resource.ts';
import { stackOf, TerminalError, TransientError } from '../core/errors.ts';
import { lateAuthorFailure, type Outcome, outcomeOf, RUN_AGAIN, type Stage } from '../core/outcome.ts';
import { hasAtomicConditions } from '../core/owned-fields.ts';
import { checkPlan } from '../core/plan.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import { parseObject } from '../core/resource-definition.ts';
import { mergeStatus, type OwnStatus, ownStatusOf } from '../core/status.ts';
import { untilAborted } from './abort.ts';
import { act, isOnlyGenerationNew } from './act.ts';
import { askAuthor } from './author.ts';
import { confirm, confirmDescribed } from './confirm.ts';
import { endsHere } from './decide.ts';
import { notBeforeOf, type ObjectRun } from './fold.ts';
import { readObject } from './read.ts';
import { createRunClient, type RunClient } from './run-client.ts';
import type { ObjectContext, RunContext } from './run-context.ts';

/** What every run of this process shares. */
export interface RunDependencies {
  readonly clusters: ReadonlyMap<ClusterName, KubernetesClient>;
  readonly reconcilers: readonly Reconciler[];
  readonly clock: Clock;
  readonly log: Log;
}

/** What a run came to, and what it saw on the way: enough to decide on it, to show it on the object, and to send it again. */
export interface RunReport {
  readonly outcome: Outcome;
  readonly stage: Stage;
  /** The error behind the outcome came from the API server, not from the author's code; so did a deadline that cut a call short. */
  readonly isApiServerError: boolean;
  /** Undefined where the run ended before its object was read, or there was none. */
  readonly context: ObjectContext | undefined;
  readonly client: RunClient | undefined;
  /** The run had sent a write when it ended, whatever became of it; what is written afterwards to show a failure does not count. */
  readonly wrote: boolean;
  /** No server has reached the resourceVersion of the message: etcd was restored, and the object was read as it is instead. */
  readonly isPositionLost: boolean;
  /** Where the error behind the outcome was thrown; for the log alone. */
  readonly stack?: string | undefined;
  /** The status that was confirmed; undefined where none was. */
  readonly status: OwnStatus | undefined;
  /** Reads that conflicts at the confirm have cost. */
  readonly rereadCount: number;
}

/**
 * Runs the object of `run` once. Never throws: whatever is thrown on the way is an outcome, and so is the end of its time,
 * at which it answers whatever still goes on. What then goes on can read and write no more.
 */
export async function processRun(run: ObjectRun, dependencies: RunDependencies, signal: AbortSignal): Promise<RunReport> {
  const { clock, log } = dependencies;
  const now = clock.now();
  const notBefore = notBeforeOf(run.data);
  if (notBefore > now.getTime()) return early({ kind: 'not-due', notBefore: new Date(notBefore) });
  const cluster = dependencies.clusters.get(run.key.cluster);
  const reconciler = dependencies.reconcilers.find(({ resource }) => groupKind(resource) === groupKind(run.key));
  if (cluster === undefined) return early(outcomeOf(unknownTarget('unknown-cluster', 'cluster', run.key.cluster), 'read'));
  if (reconciler === undefined) return early(outcomeOf(unknownTarget('unknown-kind', 'kind', groupKind(run.key)), 'read'));
  const client = createRunClient(cluster, signal);
  return reconcileObject({ run, client, reconciler, clock, log, signal, now });
}

async function reconcileObject(context: RunContext): Promise<RunReport> {
  const { run, client, reconciler, signal, now } = context;
  let stage = 'read' as Stage;
  let seen: ObjectContext | undefined;
  let isPositionLost = false;
  const report = (result: Pick<RunReport, 'outcome'> & Partial<RunReport>): RunReport => ({
    ...{ stage, isApiServerError: false, context: seen, client, wrote: client.wrote, isPositionLost, status: undefined, rereadCount: 0 },
    ...result,
  });
  const steps = async (): Promise<RunReport> => {
    const { object, ...position } = await readObject(context);
    isPositionLost = position.isPositionLost;
    if (object !== undefined) seen = { ...context, object };
    const branch = endsHere(run, object, reconciler);
    if (seen === undefined || branch !== undefined) return report({ outcome: { kind: 'finished', branch: branch ?? 'gone' } });
    const { resource } = reconciler;
    if (!resource.isDescribed && hasAtomicConditions(seen.object)) {
      // Nothing may be shown on this object either: an apply of our conditions is what would do the harm.
      seen = undefined;
      throw conditionsNotMergeable();
    }
    // The checks of a schema are the author's code as well.
    stage = 'author';
    const custom = resource.isDescribed ? parseDescribed(resource, seen.object) : parseObject(resource, seen.object);
    const readAt = isOnlyGenerationNew(seen) ? seen.object.metadata.resourceVersion : undefined;
    const answer = await askAuthor(seen, custom, readAt);
    const plan = checkPlan(reconciler, { key: run.key, metadata: seen.object.metadata }, answer);
    stage = 'write';
    await act(seen, plan);
    if (resource.isDescribed) return report(await confirmDescribed(seen));
    const status = mergeStatus({
      previous: ownStatusOf(seen.object),
      status: plan.status,
      conditions: plan.conditions,
      digest: plan.digest,
      generation: generationOf(seen.object),
      revision: reconciler.revision,
      now,
    });
    const confirmed = await confirm(seen, status);
    const { outcome } = confirmed;
    return report({ ...confirmed, status: outcome.kind === 'finished' && outcome.branch === 'reconciled' ? status : undefined });
  };
  try {
    return await untilAborted(signal, steps());
  } catch (error) {
    const outcome = outcomeOf(error, stage);
    const isLate = signal.aborted && stage === 'author';
    if (isLate && !client.isCutShort) return report({ outcome: { kind: 'unknown', failure: lateAuthorFailure() } });
    return report({ outcome, isApiServerError: client.isOwnError(error) || isLate, stack: stackOf(error) });
  }
}

/** Every kind with a status of ours is a custom resource, and those have a generation from 1 on. */
function generationOf(object: KubernetesObject): number {
  return object.metadata.generation ?? 0;
}

function early(outcome: Outcome): RunReport {
  return {
    outcome,
    stage: 'read',
    isApiServerError: false,
    context: undefined,
    client: undefined,
    wrote: false,
    isPositionLost: false,
    status: undefined,
    rereadCount: 0,
  };
}

function conditionsNotMergeable(): TerminalError {
  return new TerminalError(
    'conditions-not-mergeable',
    `status.conditions is one value in this CRD, so ours would erase those of others: make it a list map keyed by type (dogwatch crds), ${RUN_AGAIN}`,
  );
}

function unknownTarget(code: string, fact: string, value: string): TransientError {
  return new TransientError(
    code,
    `no ${fact} of that name is known to this function: deploy it with the registry and the reconcilers that the watcher has`,
    { facts: { [fact]: value } },
  );
}
