/**
 * One object's run: due, target, and then the steps (steps.ts) within their time. Every way it can end is an {@link Outcome};
 * what follows from that is decided elsewhere, so nothing here retries or writes a failure.
 */
import { type ClusterName, groupKind, type ResourceKey } from '../../events/resource.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { stackOf, TransientError } from '../core/errors.ts';
import { lateAuthorFailure, type Outcome, outcomeOf } from '../core/outcome.ts';
import type { Reconciler } from '../core/reconciler.ts';
import { untilAborted } from './abort.ts';
import type { CircuitVisit } from './circuits.ts';
import type { EffectDependencies } from './effects.ts';
import { notBeforeOf, type ObjectRun } from './fold.ts';
import { createRunClient } from './run-client.ts';
import type { RunContext } from './run-context.ts';
import { earlyReport, noProgress, type RunReport } from './run-report.ts';
import { runSteps } from './steps.ts';

/** What every run of this process shares. */
export interface RunDependencies extends Pick<EffectDependencies, 'queue' | 'queueUrls' | 'clock' | 'log'> {
  readonly clusters: ReadonlyMap<ClusterName, KubernetesClient>;
  readonly reconcilers: readonly Reconciler[];
  /** After this many seconds, and a few more, every run that goes on now is over. */
  readonly functionTimeoutSeconds: number;
}

/**
 * Runs the object of `run` once. Never throws: whatever is thrown on the way is an outcome, and so is the end of its time,
 * at which it answers whatever still goes on. What then goes on can read and write no more.
 *
 * @param circuit  of its cluster; whoever calls leaves it
 */
export async function processRun(
  run: ObjectRun,
  dependencies: RunDependencies,
  signal: AbortSignal,
  circuit: CircuitVisit,
): Promise<RunReport> {
  const now = dependencies.clock.now();
  const notBefore = notBeforeOf(run.data);
  if (notBefore > now.getTime()) return earlyReport({ kind: 'not-due', notBefore: new Date(notBefore) });
  const cluster = dependencies.clusters.get(run.key.cluster);
  const reconciler = reconcilerOf(run.key, dependencies);
  if (cluster === undefined) return earlyReport(unknownTarget('unknown-cluster', 'cluster', run.key.cluster));
  if (reconciler === undefined) return earlyReport(unknownTarget('unknown-kind', 'kind', groupKind(run.key)));
  const waitSeconds = circuit.enter();
  if (waitSeconds !== undefined) return earlyReport({ kind: 'circuit-open', waitSeconds });
  const client = createRunClient(cluster, signal, circuit);
  const { clock, log, queue, queueUrls, functionTimeoutSeconds } = dependencies;
  const context = { run, client, reconciler, clock, log, queue, queueUrls, functionTimeoutSeconds, signal, now, progress: noProgress() };
  return runObject(context, circuit);
}

/** The reconciler of the kind, if there is one. */
export function reconcilerOf(
  kind: Pick<ResourceKey, 'group' | 'kind'>,
  { reconcilers }: Pick<RunDependencies, 'reconcilers'>,
): Reconciler | undefined {
  return reconcilers.find(({ resource }) => groupKind(resource) === groupKind(kind));
}

async function runObject(context: RunContext, circuit: CircuitVisit): Promise<RunReport> {
  const { client, signal, progress } = context;
  const report = (result: Pick<RunReport, 'outcome'> & Partial<RunReport>): RunReport => ({
    ...{ stage: progress.stage, isApiServerError: false, context: progress.seen, client },
    ...{ wrote: client.wrote || progress.mayHaveActed, isPositionLost: progress.isPositionLost, status: undefined },
    rereadCount: progress.rereadCount,
    ...result,
  });
  try {
    return report(await untilAborted(signal, runSteps(context)));
  } catch (error) {
    if (client.isHeldBack) return report({ outcome: { kind: 'circuit-open', waitSeconds: circuit.openSeconds } });
    const outcome = outcomeOf(error, progress.stage);
    const isLate = signal.aborted && progress.stage === 'author';
    if (isLate && !client.isCutShort) return report({ outcome: { kind: 'unknown', failure: lateAuthorFailure() } });
    return report({ outcome, isApiServerError: client.isOwnError(error) || isLate, stack: stackOf(error) });
  }
}

function unknownTarget(code: string, fact: string, value: string): Outcome {
  const text = `no ${fact} of that name is known to this function: deploy it with the registry and the reconcilers that the watcher has`;
  return outcomeOf(new TransientError(code, text, { facts: { [fact]: value } }), 'read');
}
