/** What an execution environment of the function is made of: configuration, connections and reconcilers, made once. */
import { systemClock } from '../adapters/clock.ts';
import { createMetrics } from '../adapters/metrics.ts';
import type { Queue } from '../adapters/queue-port.ts';
import { createLog, type Log } from '../adapters/telemetry.ts';
import { budgetsOf, circuitLimitsOf, type Environment, readConfig } from '../core/config.ts';
import { ConfigError } from '../core/errors.ts';
import { checkReconcilers, type Reconciler } from '../core/reconciler.ts';
import type { BatchDependencies } from './batch.ts';
import { createCircuits } from './circuits.ts';
import { openClusterClients } from './cluster-clients.ts';
import { rememberSuccess } from './remember.ts';

/** Gives the dependencies of one invocation, when it begins. */
export type ExecutionEnvironment = () => Promise<BatchDependencies>;

/**
 * The dependencies of every invocation, from environment variables and what they name. Asks no cluster anything: one that does
 * not answer, or whose kubeconfig cannot be read, is a matter of its own records. A registry that cannot be used is a fault of
 * this deployment. Each invocation that fails for it costs its messages a receive: after maxReceiveCount of them SQS moves the
 * messages to the dead-letter queue, without a diagnosis.
 *
 * @throws ConfigError naming the variable, the registry and key, or the kind with two reconcilers; it is logged as one line too
 */
export async function startEnvironment(
  env: Environment,
  reconcilers: readonly Reconciler[],
  log: Log = createLog('reconcile'),
): Promise<ExecutionEnvironment> {
  try {
    const config = readConfig(env, 'reconcile');
    const checked = checkReconcilers(reconcilers);
    const clients = await openClusterClients({ registry: config.clusters, clock: systemClock, log });
    const lasting: Omit<BatchDependencies, 'clusters'> = {
      reconcilers: checked,
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
    return async () => ({ ...lasting, clusters: await clients() });
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
