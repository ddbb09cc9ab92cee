/** Synchronous clean-up for the end of this process, however it comes, save for SIGKILL (see managed-process.ts). */

const cleanups = new Set<() => void>();
let isInstalled = false;

/**
 * Runs `cleanup` when this process exits or gets a SIGINT, SIGTERM or SIGHUP that nobody else handles.
 *
 * @param cleanup  synchronous; the newest runs first; what it throws is dropped, for the others must run
 * @returns        a function that takes it off the list
 */
export function onParentExit(cleanup: () => void): () => void {
  install();
  cleanups.add(cleanup);
  return () => cleanups.delete(cleanup);
}

function runCleanups(): void {
  for (const cleanup of [...cleanups].reverse()) {
    try {
      cleanup();
    } catch {
      // The process is ending: there is nobody left to tell, and the next clean-up still has to run.
    }
  }
  cleanups.clear();
}

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  process.on('exit', runCleanups);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const handle = () => {
      // Whoever has a handler of his own stops things in order; ours only replaces the default, which runs no exit handlers.
      if (process.listenerCount(signal) > 1) return;
      runCleanups();
      process.removeListener(signal, handle);
      process.kill(process.pid, signal);
    };
    // In front, so that a handler added with `once` is still there to be counted.
    process.prependListener(signal, handle);
  }
}
