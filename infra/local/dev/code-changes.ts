/** Notices that source files changed, once for what an editor does in one go. */
import { type FSWatcher, watch } from 'node:fs';

/** An editor writes, renames and sets times; a checkout changes many files. */
const QUIET_MS = 150;

/**
 * Calls back when files below the folders were quiet again after a change; `file` is one of those that changed. What it calls is not
 * waited for. The returned function ends it.
 */
export function onCodeChange(folders: readonly string[], changed: (file: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers: FSWatcher[] = folders.map((folder) =>
    watch(folder, { recursive: true, persistent: false }, (_, name) => {
      if (name === null || !/\.(ts|js|json)$/.test(name)) return;
      clearTimeout(timer);
      timer = setTimeout(() => changed(name), QUIET_MS);
    }),
  );
  // A folder that is taken away ends its watching; the run goes on with the code it has.
  for (const watcher of watchers) watcher.on('error', () => undefined);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
