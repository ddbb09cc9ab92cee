/** What an execution environment of the function is made of: configuration, connections and reconcilers, made once. */
import type { ClusterName } from '../../events/resource.ts';
import { systemClock } from '../adapters/clock.ts';
import { connectCluster, readClusters } from '../adapters/clusters.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { createMetrics } from '../adapters/metrics.ts';
import type { Queue } from '../adapters/queue-port.ts';
import { createLog, type Log } from '../adapters/telemetry.ts';
import { budgetsOf, circuitLimitsOf, type Environment, readConfig } from '../core/config.ts';
import { ConfigError } from '../core/errors.ts';
import { checkReconcilers, type Reconciler } from '../core/reconciler.ts';
import type { BatchDependencies } from './batch.ts';
import { createCircuits } from './circuits.ts';
import { rememberSuccess } from './remember.ts';

/**
 * The dependencies of every invocation, from environment variables and the files they name. Sends nothing: a cluster that
 * does not answer is a matter of its own records, but a kubeconfig that cannot be read is a fault of this deployment. Each
 * invocation that fails for it costs its messages a receive: after maxReceiveCount of them SQS moves the messages to the
 * dead-letter queue, without a diagnosis.
 *
 * @throws ConfigError naming the variable, the file and key, or the kind with two reconcilers; it is logged as one line too
 */
export function startEnvironment(
  env: Environment,
  reconcilers: readonly Reconciler[],
  log: Log = createLog('reconcile'),
): BatchDependencies {
  try {
    const config = readConfig(env, 'reconcile');
    const clusters = new Map<ClusterName, KubernetesClient>(
      readClusters(config.clusters).map((entry) => [entry.name, connectCluster(entry)]),
    );
    return {
      clusters,
      reconcilers: checkReconcilers(reconcilers),
      clock: systemClock,
      log,
      circuits: createCircuits(circuitLimitsOf(config), systemClock, log),
      metrics: createMetrics(),
      queue: rememberSuccess(loadQueue),
      queueUrls: { ...config.queueUrls, deadLetter: config.deadLetterQueueUrl },
      functionVersion: env['AWS_LAMBDA_FUNCTION_VERSION'] || 'local',
      budgets: budgetsOf(config),
      recordDeadlineSeconds: config.recordDeadlineSeconds,
      functionTimeoutSeconds: config.functionTimeoutSeconds,
    };
  } catch (error) {
    if (error instanceof ConfigError)
      log.error('configuration fault: nothing is reconciled, and each failed invocation costs its messages a receive', {
        code: error.code,
        error: error.message,
      });
    throw error;
  }
}

/** In the bundle a file of its own, which most invocations never load. */
async function loadQueue(): Promise<Queue> {
  const { createQueue } = await import('../adapters/sqs.ts');
  return createQueue();
}
