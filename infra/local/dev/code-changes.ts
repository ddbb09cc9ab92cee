/** Notices that source files changed, once for what an editor does in one go. */
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** An editor writes, renames and sets times; a checkout changes many files. */
const QUIET_MS = 150;

export interface WatchedFolders {
  /** With all folders below. */
  readonly trees: readonly string[];
  /** Alone. */
  readonly folders: readonly string[];
}

/**
 * Calls back when files in the folders were quiet again after a change; `file` is the one that changed last. The
 * returned function ends it. Of folders that cannot be watched, the first one is told
 * for each code of an error.
 *
 * Each folder is watched, not by Node's `recursive`: on Linux that watches files, and loses one that an editor replaces by another.
 */
export function onCodeChange(
  { trees, folders }: WatchedFolders,
  changed: (file: string) => void,
  unwatched: (folder: string, reason: string) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function add(folder: string, isTree: boolean): void {
    if (watchers.has(folder)) return;
    const watcher = open(folder, (what, name) => {
      if (what === 'rename' && isTree) addFoldersIn(folder);
      if (name === null || !/\.(ts|js|json)$/.test(name)) return;
      clearTimeout(timer);
      timer = setTimeout(() => changed(join(folder, name)), QUIET_MS);
    });
    if (watcher === undefined) return;
    watchers.set(folder, watcher);
    watcher.on('error', () => forget(folder)); // it was taken away: the run goes on with the code it has
    if (isTree) addFoldersIn(folder);
  }

  function open(folder: string, heard: (what: string, name: string | null) => void): FSWatcher | undefined {
    try {
      return watch(folder, { persistent: false }, heard);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? String(error);
      const isBelow = ![...trees, ...folders].includes(folder);
      if ((reason === 'ENOENT' && isBelow) || told.has(reason)) return undefined; // it was gone before it could be watched
      told.add(reason);
      unwatched(folder, reason);
      return undefined;
    }
  }

  function addFoldersIn(folder: string): void {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) add(join(folder, entry.name), true);
    } catch {
      forget(folder); // gone since; whatever took its place is in the folder above
    }
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  for (const folder of trees) add(folder, true);
  for (const folder of folders) add(folder, false);
  return () => {
    clearTimeout(timer);
    for (const folder of [...watchers.keys()]) forget(folder);
  };
}
