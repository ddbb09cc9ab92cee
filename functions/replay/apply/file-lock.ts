/** A file that says who works on another one. A process that was killed leaves it; one that is known to be dead is not waited for. */
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ConfigError } from '../../core/errors.ts';

interface Owner {
  readonly pid: number;
  readonly host: string;
}

/** Of this process: a lock with its number that is not among these is one of a dead process that had the same (in a container, all have). */
const held = new Set<string>();

/** @throws ConfigError `audit-locked`, which names the owner and the file; an error of the file system */
export function takeLock(path: string): { release(): void } {
  const mine = `${JSON.stringify({ pid: process.pid, host: hostname() } satisfies Owner)}\n`;
  if (!tryToCreate(path, mine)) {
    const theirs = read(path);
    if (theirs !== undefined) {
      const owner = ownerOf(theirs);
      if (owner === undefined || owner.host !== hostname() || isAlive(owner.pid, path)) refuse(path, owner);
      takeAway(path, theirs, owner);
    }
    if (!tryToCreate(path, mine)) refuse(path, ownerOf(read(path) ?? ''));
  }
  held.add(path);
  return {
    release() {
      held.delete(path);
      if (read(path) === mine) rmSync(path, { force: true });
    },
  };
}

/** With its content at once: a link appears whole. Whether the lock is ours now. */
function tryToCreate(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true }); // of a process that died with our number, or a link that somebody made
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    linkSync(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    return createPlainly(path, text); // a file system without links
  } finally {
    rmSync(draft, { force: true });
  }
}

function createPlainly(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeFileSync(file, text);
    return true;
  } catch (error) {
    rmSync(path, { force: true }); // half a lock would keep everybody out
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Two may find a dead owner at once: what the later one takes away is then the lock of the first, and is put back. */
function takeAway(path: string, dead: string, owner: Owner): void {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const isDead = read(aside) === dead;
  if (!isDead) renameSync(aside, path);
  else rmSync(aside, { force: true });
  if (!isDead) refuse(path, owner);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function ownerOf(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    if (!Number.isInteger(owner?.pid) || (owner?.pid as number) < 1 || typeof owner?.host !== 'string') return undefined;
    return { pid: owner.pid as number, host: owner.host };
  } catch {
    return undefined;
  }
}

/** A process of somebody else is alive as well. */
function isAlive(pid: number, path: string): boolean {
  if (pid === process.pid) return held.has(path);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function refuse(path: string, owner: Owner | undefined): never {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  throw new ConfigError('audit-locked', `${who} works on this plan; wait for it, or delete ${path} where you know that it is over`);
}
