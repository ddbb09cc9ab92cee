/** What was dropped, on disk: lines that are added at the end and never changed, by one process at a time. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { takeLock } from './apply/file-lock.ts';
import type { DropSummary } from './drop.ts';
import { syncFolder } from './durable-file.ts';
import { jsonLinesOf } from './json-lines.ts';
import type { LetterCopy } from './letter-copy.ts';
import type { PlanItem } from './plan.ts';
import type { Verdict } from './verdict.ts';

/** Times are ISO 8601 in UTC; `letters` are message ids. */
export type DropLine =
  | {
      readonly kind: 'begin';
      readonly at: string;
      readonly version: 1;
      readonly by: string;
      readonly command: string;
      /** SHA-256 of its file. */
      readonly plan: string;
      readonly classes: readonly string[];
    }
  /** About to be deleted. */
  | ({ readonly kind: 'letter'; readonly at: string; readonly object?: NonNullable<PlanItem['object']> } & LetterCopy & Verdict)
  | { readonly kind: 'deleted'; readonly at: string; readonly letters: readonly string[] }
  | { readonly kind: 'end'; readonly at: string; readonly summary: DropSummary };

/** Where letters are kept that are dropped. */
export interface DropFile {
  /** Message ids of letters that are on disk already, whole. */
  readonly past: ReadonlySet<string>;
  /**
   * Adds lines at the end; resolves when they survive a loss of power.
   *
   * @throws ConfigError `out-unwritable`; from then on always, since what a disk did not take once is not known to be there
   */
  append(lines: readonly DropLine[]): Promise<void>;
}

export interface OpenDropFile extends DropFile {
  readonly path: string;
  /** Lines that cannot be read, such as one that a process left unfinished when it died: no letter of them counts as kept. */
  readonly unreadableCount: number;
  /** Lets other processes have it; one that was begun, and has no line, is not left behind. */
  close(): Promise<void>;
}

/** `night.json` has `night.dropped.jsonl` beside it. */
export function droppedPathOf(planPath: string): string {
  return `${planPath.replace(/\.json$/, '')}.dropped.jsonl`;
}

/**
 * Opens it, or begins one; readable by its owner only.
 *
 * @param openFile  as that of node:fs/promises; a test has its own, on a disk that fails
 * @throws ConfigError `audit-locked` while another process has it; `out-unwritable`
 */
export async function openDropFile(path: string, openFile: typeof open = open): Promise<OpenDropFile> {
  const refuse = (error: unknown): never => {
    if (error instanceof ConfigError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new ConfigError('out-unwritable', `${path} cannot be written: ${code}; nothing is deleted that is not written there first`, {
      cause: error,
    });
  };
  const trying = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      return refuse(error);
    }
  };
  const lock = await trying(() => takeLock(`${path}.lock`));
  try {
    return await trying(async () => {
      const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
      const isNew = !existsSync(path);
      const file = await openFile(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
      try {
        return await opened(path, file, { trying, isNew, release: () => lock.release() });
      } catch (error) {
        await file.close();
        throw error;
      }
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Held {
  readonly trying: <Result>(work: () => Result | Promise<Result>) => Promise<Result>;
  readonly isNew: boolean;
  release(): void;
}

async function opened(path: string, file: FileHandle, { trying, isNew, release }: Held): Promise<OpenDropFile> {
  // What is trusted to be there has to survive a loss of power, whoever wrote it.
  await file.sync();
  syncFolder(dirname(path));
  const { past, unreadableCount, isTorn } = await readPast(file, path);
  /** What waits while the disk is at work goes with the next write: a sync for each batch would take far longer. */
  let waiting = isTorn ? '\n' : '';
  let next: Promise<void> | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let failure: unknown;
  const write = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    next = undefined;
    if (failure !== undefined) throw failure;
    try {
      await trying(async () => {
        await file.appendFile(text);
        await file.datasync();
      });
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  return {
    ...{ path, past, unreadableCount },
    append(lines) {
      waiting += lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      if (next === undefined) {
        next = underWay.then(write, write);
        underWay = next;
      }
      return next;
    },
    async close() {
      await underWay.catch(() => {});
      try {
        if (isNew && (await file.stat()).size === 0) await rm(path, { force: true });
      } finally {
        await file.close();
        release();
      }
    },
  };
}

async function readPast(
  file: FileHandle,
  path: string,
): Promise<{ readonly past: ReadonlySet<string>; readonly unreadableCount: number; readonly isTorn: boolean }> {
  const past = new Set<string>();
  let unreadableCount = 0;
  for await (const line of jsonLinesOf(path)) {
    if (line === undefined) unreadableCount += 1;
    else if (line['kind'] === 'letter' && typeof line['messageId'] === 'string' && typeof line['body'] === 'string')
      past.add(line['messageId']);
  }
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  return { past, unreadableCount, isTorn: size > 0 && last[0] !== 0x0a };
}
