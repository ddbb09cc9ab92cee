/** Bytes that are on disk once it is said that they are. What is written survives the process; what is synced, a loss of power as well. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** Writes where the file stands. @returns how many of the bytes it took, at least one */
export type Write = (file: number, bytes: Uint8Array) => number;

/**
 * All bytes of it are with the system, which may take a part at a time: they outlive this process, and a loss of power only after an fsync.
 *
 * @param write  a test has its own, of a disk that is full
 * @throws the error of the file system; a part may be written then
 */
export function writeWhole(file: number, content: string | Uint8Array, write: Write = writeSync): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let at = 0; at < bytes.length; ) at += write(file, bytes.subarray(at));
}

/**
 * The names in a folder survive a loss of power: that of a file which was made or renamed there before. What is in the file is synced by
 * itself. Never throws: not every system lets a folder be opened, and such a one keeps its names by itself, or not at all.
 */
export function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    fsyncSync(folder);
  } catch {
    // Then a file may go with its name: what was sent by an audit is sent twice, and letters that were dropped or exported are not kept.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
