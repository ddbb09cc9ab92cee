import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onParentExit } from './parent-exit.ts';

const BUILDING_PREFIX = '.building-';
/** Older leftovers of builders that were killed are removed. */
const LEFTOVER_MAX_AGE_MS = 24 * 60 * 60 * 1000;

/** The folder for what is built once a user: `$XDG_CACHE_HOME/dogwatch` or `~/.cache/dogwatch`. */
export function userCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'dogwatch');
}

/** The first 16 hex digits of a SHA-256 over the files' contents, in the order given. */
export async function hashFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = await readFile(path);
    hash.update(`${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

export interface CacheEntry {
  /** The folder of all versions, inside the cache. */
  readonly parent: string;
  /** This version: a hash of what it is made of. */
  readonly version: string;
  /** Paths inside the entry; it is whole when all of them exist. */
  readonly contains: readonly string[];
  /** Fills an empty folder. Called only where the entry is not whole. */
  readonly build: (dir: string) => Promise<void>;
}

/**
 * The folder of a cache entry, built when it is not there. Complete or absent, never half made: it is built under another name
 * and then renamed. Of two builders at once both build, the first to finish is kept.
 */
export async function cached(entry: CacheEntry): Promise<string> {
  const dir = join(entry.parent, entry.version);
  const isWhole = () => entry.contains.every((path) => existsSync(join(dir, path)));
  if (isWhole()) return dir;
  await mkdir(entry.parent, { recursive: true });
  await removeLeftovers(entry.parent);
  const building = await mkdtemp(join(entry.parent, BUILDING_PREFIX));
  const forget = onParentExit(() => rmSync(building, { recursive: true, force: true }));
  try {
    await entry.build(building);
    await moveInto(building, dir, isWhole);
  } finally {
    forget();
    await rm(building, { recursive: true, force: true });
  }
  return dir;
}

async function moveInto(building: string, dir: string, isWhole: () => boolean): Promise<void> {
  try {
    await rename(building, dir);
  } catch (error) {
    if (isWhole()) return;
    if (!existsSync(dir)) throw error;
    // Somebody took files out of the entry: set what is left aside, it is of no use.
    const aside = await mkdtemp(`${building}-`);
    await rename(dir, join(aside, 'incomplete'));
    await rename(building, dir);
    await rm(aside, { recursive: true, force: true });
  }
}

async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(BUILDING_PREFIX)) continue;
    const path = join(parent, name);
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > LEFTOVER_MAX_AGE_MS) await rm(path, { recursive: true, force: true });
  }
}
