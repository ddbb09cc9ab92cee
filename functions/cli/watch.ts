/** `dogwatch watch`: the watcher in this process, as the container runs it. */
import { runWatcher } from '../watcher/start.ts';
import type { ExitCode } from './main.ts';

export async function watch(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  return runWatcher(env);
}
