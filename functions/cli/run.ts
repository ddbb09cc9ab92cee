/** `dogwatch run`: the event source mapping and the built function on this machine. */
import { connectCluster, readClusters } from '../adapters/clusters.ts';
import { readConfig } from '../core/config.ts';
import type { ExitCode } from './main.ts';

export interface RunOptions {
  readonly timeout: number;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly artifact?: string;
}

/** Checks the configuration before a message is touched, then runs until SIGINT or SIGTERM. */
export async function run(env: NodeJS.ProcessEnv, options: RunOptions): Promise<ExitCode> {
  const config = readConfig(env, 'reconcile');
  for (const entry of readClusters(config.clusters)) connectCluster(entry).close();
  const { runFunction } = await import('../../infra/local/run-function.ts');
  await runFunction(config, env, options);
  return 0;
}
