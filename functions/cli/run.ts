/** `dogwatch run`: the event source mapping and the built function on this machine. */
import { connectCluster, readClusters } from '../adapters/clusters.ts';
import { readConfig } from '../core/config.ts';
import { ConfigError } from '../core/errors.ts';
import type { ExitCode } from './main.ts';

/** As commander names them by their flags. */
export interface RunOptions {
  /** In seconds, as `batchWindow`. */
  readonly timeout: number;
  readonly batchSize: number;
  readonly batchWindow: number;
  readonly concurrency: number;
  /** As `concurrency` where left out. */
  readonly bulkConcurrency?: number;
  readonly artifact?: string;
}

/**
 * Checks the configuration before a message is touched, then runs until SIGINT or SIGTERM.
 *
 * @throws ConfigError for what is configured wrong; `batch-needs-window` for options that Lambda would refuse
 */
export async function run(env: NodeJS.ProcessEnv, options: RunOptions): Promise<ExitCode> {
  const { timeout, batchWindow, concurrency, bulkConcurrency = concurrency, ...rest } = options;
  if (rest.batchSize > 10 && batchWindow === 0)
    throw new ConfigError('batch-needs-window', '--batch-size above 10 needs a --batch-window of 1 or more, as on Lambda');
  const config = readConfig(env, 'reconcile');
  const { functionEnvironment, runFunction } = await import('../../infra/local/run-function.ts');
  // The function's, not ours: what it would refuse has to be found before it costs messages their receives.
  const environment = functionEnvironment(config, env);
  for (const entry of await readClusters(config.clusters)) connectCluster(entry, { environment }).close();
  await runFunction(config, env, {
    ...{ ...rest, timeoutSeconds: timeout, batchWindowSeconds: batchWindow },
    maximumConcurrency: { live: concurrency, bulk: bulkConcurrency },
  });
  return 0;
}
