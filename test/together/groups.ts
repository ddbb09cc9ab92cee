/** Which test files share a process: all of `npm test`, in one gathering file for each group. */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Patterns without `.test.ts`. Few enough that modules are loaded seldom, and enough of them that what only waits does so
 * beside others. One process makes the client of QueueClaim once, for one endpoint: hence its two groups.
 */
export const GROUPS = {
  adapters: ['test/functions/{adapters,replay}/**/*'],
  'api-server': ['test/contracts/kubernetes*/**/*', 'test/infra/local/api-server/**/*'],
  build: ['test/infra/*'],
  commands: ['test/functions/cli/!(dev|run|closed)*', 'test/functions/cli/*/**/*'],
  dev: ['test/infra/local/dev/**/*'],
  processes: ['test/functions/cli/{dev,run,closed}*'],
  pure: ['test/events/**/*', 'test/functions/{core,reconcile}/**/*', 'test/*'],
  queues: ['test/contracts/*queue/**/*'],
  reconcilers: ['test/functions/reconcilers/!(queue-claim-runs)*'],
  simulation: ['test/simulation/**/*'],
  surroundings: ['test/infra/local/{,python/}*'],
  'test-kit': ['test/infra/local/testing/**/*', 'test/functions/reconcilers/queue-claim-runs*'],
  watcher: ['test/functions/watcher/**/*'],
} as const satisfies Record<string, readonly string[]>;

export type GroupName = keyof typeof GROUPS;

/** Paths of test files that match a pattern, from the project's root, in order. */
export function testFiles(patterns: readonly string[]): string[] {
  return globSync(
    patterns.map((pattern) => `${pattern}.test.ts`),
    { cwd: ROOT },
  )
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}
