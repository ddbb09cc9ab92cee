/** A plan on disk: whole or not there, and never in the place of another file. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { writeWhole } from './durable-file.ts';
import type { PlanHead, WritableItem } from './plan.ts';

export interface PlanFile {
  /** Absolute. */
  readonly path: string;
  /** Writes it and puts it in its place. @throws ConfigError `out-unwritable` */
  write(head: PlanHead, items: Iterable<WritableItem>): void;
  /** Leaves nothing behind of a plan that was not written. */
  dispose(): void;
}

/** Characters that are written at a time. */
const CHUNK = 65_536;

/** `dogwatch-plan-20260301T101500Z.json`. */
export function defaultPlanName(now: Date): string {
  return `dogwatch-plan-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.json`;
}

/**
 * Opens a file beside the one that is meant, so that what cannot be written is known before anything is received.
 *
 * @throws ConfigError `out-unwritable`, also where the file is there already
 */
export function openPlanFile(out: string): PlanFile {
  const path = resolve(out);
  const refuse = (why: string, cause?: unknown): never => {
    throw new ConfigError('out-unwritable', `the plan cannot be written to ${path}: ${why}; name another file with --out`, { cause });
  };
  const trying = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      return refuse(code === 'EEXIST' ? 'it is there already' : code === 'ENOENT' ? 'its folder does not exist' : code, error);
    }
  };
  if (existsSync(path)) refuse('it is there already');
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  let file: number | undefined = trying(() => openSync(draft, 'wx', 0o600));
  const dispose = (): void => {
    if (file === undefined) return;
    closeSync(file);
    file = undefined;
    rmSync(draft, { force: true });
  };
  return {
    path,
    dispose,
    write(head, items) {
      try {
        trying(() => {
          writeAll(file as number, head, items);
          fsyncSync(file as number);
          putInPlace(draft, path);
        });
      } finally {
        dispose();
      }
    },
  };
}

/** A line an item, so that a plan of many letters can be read, compared and searched. */
function writeAll(file: number, head: PlanHead, items: Iterable<WritableItem>): void {
  let text = '';
  const add = (more: string): void => {
    text += more;
    if (text.length < CHUNK) return;
    writeWhole(file, text);
    text = '';
  };
  add(`${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "items": [`);
  let comma = '';
  for (const { letters, ...rest } of items) {
    add(`${comma}\n    ${JSON.stringify(rest).slice(0, -1)},"letters":[`);
    comma = '';
    for (const letter of letters) {
      add(`${comma}${JSON.stringify(letter)}`);
      comma = ',';
    }
    add(']}');
    comma = ',';
  }
  writeWhole(file, `${text}\n  ]\n}\n`);
}

/** A link fails where there is a file by now; not every file system has links. */
function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(path)) throw error;
    renameSync(draft, path);
  }
}
