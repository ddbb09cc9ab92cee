/** Letters in a folder of their own: all of them, or none. */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { syncFolder, writeWhole } from './durable-file.ts';

export interface ExportFolder {
  /** Absolute; of the file of the letters. */
  readonly path: string;
  /** Adds a letter. @throws ConfigError `out-unwritable` */
  add(letter: object): void;
  /** Puts the letters, and what there is to say of them all, in their place. @throws ConfigError `out-unwritable` */
  finish(about: object): void;
  /** Leaves nothing behind of an export that was not finished. */
  dispose(): void;
}

const LETTERS = 'letters.jsonl';
const ABOUT = 'export.json';

/** Characters that are written at a time. */
const CHUNK = 262_144;

/**
 * Makes the folder where it is not there; what is in it is readable by its owner only.
 *
 * @throws ConfigError `out-unwritable`, also where there is anything in it already
 */
export function openExportFolder(out: string): ExportFolder {
  const folder = resolve(out);
  const refuse = (why: string, cause?: unknown): never => {
    throw new ConfigError('out-unwritable', `letters cannot be exported to ${folder}: ${why}; name another folder`, { cause });
  };
  const trying = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      return refuse(
        code === 'EEXIST' || code === 'ENOTDIR' ? 'it is no folder' : code === 'ENOENT' ? 'its folder does not exist' : code,
        error,
      );
    }
  };
  if (out === '') refuse('its name is empty');
  const isNew = trying(() => mkdirSync(folder, { recursive: true, mode: 0o700 })) !== undefined;
  if (trying(() => readdirSync(folder)).length > 0) refuse('it has files in it');
  const draft = join(folder, `.${LETTERS}.part`);
  const file = trying(() => openSync(draft, 'wx', 0o600));
  let isOpen = true;
  let isFinished = false;
  let text = '';
  const flush = (): void => {
    const whole = text;
    text = '';
    writeWhole(file, whole);
  };
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  const path = join(folder, LETTERS);
  return {
    path,
    add(letter) {
      text += `${JSON.stringify(letter)}\n`;
      if (text.length >= CHUNK) trying(flush);
    },
    finish(about) {
      trying(() => {
        flush();
        fsyncSync(file);
        close();
        writeNew(join(folder, ABOUT), `${JSON.stringify(about, undefined, 2)}\n`);
        renameSync(draft, path);
        isFinished = true;
        syncFolder(folder);
      });
    },
    dispose() {
      close();
      if (isFinished) return;
      for (const one of [draft, join(folder, ABOUT)]) rmSync(one, { force: true });
      if (isNew && readdirSync(folder).length === 0) rmdirSync(folder);
    },
  };
}

/** Synced, where there is no such file. */
function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeWhole(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
