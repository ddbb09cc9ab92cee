/** The audit of a plan on disk: lines that are added at its end and never changed, by one process at a time. */
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import { syncFolder, type Write, writeWhole } from '../durable-file.ts';
import { readAudit } from './audit-text.ts';
import type { AuditPort } from './contract.ts';
import { takeLock } from './file-lock.ts';

export interface AuditFile extends AuditPort {
  readonly path: string;
  /** Lets other processes have it; one that was begun, and has no line, is not left behind. */
  close(): void;
}

/** `night.json` has `night.audit.jsonl` beside it. */
export function auditPathOf(planPath: string): string {
  return `${planPath.replace(/\.json$/, '')}.audit.jsonl`;
}

/**
 * Opens an audit, or begins one; readable by its owner only. What the disk did not take once ends it: a line after half of one would make it
 * unreadable for the next.
 *
 * @param write  a test has its own, of a disk that is full
 * @throws ConfigError `audit-locked` while another process has it; `audit-damaged`, `audit-version`; `audit-unwritable`
 */
export function openAudit(path: string, write?: Write): AuditFile {
  const lock = trying(path, () => takeLock(`${path}.lock`));
  let file: number | undefined;
  try {
    const isNew = !existsSync(path);
    file = trying(path, () => openSync(path, 'a+', 0o600));
    syncFolder(dirname(path));
    const past = readAudit(
      trying(path, () => readFileSync(path, 'utf8')),
      path,
    );
    let isTorn = trying(path, () => endsInside(file as number));
    let failure: unknown;
    return {
      path,
      past,
      async append(lines, durability) {
        if (file === undefined) throw new ConfigError('audit-unwritable', 'the audit is closed; open it again');
        if (failure !== undefined) throw failure;
        // What a process left unfinished ends here; whoever reads it knows it by the `begin` after it.
        const text = (isTorn ? '\n' : '') + lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        isTorn = false;
        try {
          trying(path, () => {
            writeWhole(file as number, text, write);
            if (durability === 'synced') fsyncSync(file as number);
          });
        } catch (error) {
          failure = error;
          throw error;
        }
      },
      close() {
        if (file === undefined) return;
        try {
          if (isNew && fstatSync(file).size === 0) rmSync(path, { force: true });
        } finally {
          closeSync(file);
          file = undefined;
          lock.release();
        }
      },
    };
  } catch (error) {
    if (file !== undefined) closeSync(file);
    lock.release();
    throw error;
  }
}

function trying<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new ConfigError('audit-unwritable', `the audit ${path} cannot be written or read: ${code}; nothing is sent without it`, {
      cause: error,
      facts: { code },
    });
  }
}

function endsInside(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
