import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../../functions/core/errors.ts';
import { onParentExit } from '../parent-exit.ts';
import { auditPolicy } from './audit.ts';
import type { ControlPlanePaths } from './flags.ts';
import { type ControlPlaneUser, tokensCsv } from './users.ts';

const OWNER_FILE = 'owner.pid';

/** A folder with the state of one control plane, ours alone until `release`. */
export interface StateDir {
  readonly dir: string;
  readonly keep: boolean;
  /** Gives the folder up; removes it unless it is to be kept. */
  release(): void;
}

/**
 * Takes `dir` (made if need be), or makes a temporary folder. Without `keep` it is removed with `release`, or when this process ends.
 *
 * @throws ConfigError when a living process holds the folder
 */
export function claimStateDir(dir: string | undefined, keep: boolean): StateDir {
  const path = dir === undefined ? mkdtempSync(join(tmpdir(), 'dogwatch-control-plane-')) : resolve(dir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const ownerFile = join(path, OWNER_FILE);
  refuseIfHeld(ownerFile);
  writeFileSync(ownerFile, String(process.pid));
  const drop = () => {
    // etcd was killed a moment ago and may still be writing; a second try finds it gone.
    rmSync(keep ? ownerFile : path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
  const forget = onParentExit(drop);
  return {
    dir: path,
    keep,
    release() {
      forget();
      drop();
    },
  };
}

function refuseIfHeld(ownerFile: string): void {
  if (!existsSync(ownerFile)) return;
  const pid = Number(readFileSync(ownerFile, 'utf8'));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return;
  throw new ConfigError('state-dir-held', 'another process runs a control plane in this folder; stop it, or remove the file if it lies', {
    facts: { file: ownerFile, pid },
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

export function pathsIn(dir: string): ControlPlanePaths {
  return {
    etcdData: join(dir, 'etcd'),
    certs: join(dir, 'certs'),
    serviceAccountKey: join(dir, 'sa.key'),
    tokens: join(dir, 'tokens.csv'),
    auditPolicy: join(dir, 'audit-policy.json'),
    auditLog: join(dir, 'audit.log'),
  };
}

/** Writes what the servers read at their start; the service-account key is kept where there is one. */
export function writeServerFiles(paths: ControlPlanePaths, adminToken: string, users: readonly ControlPlaneUser[]): void {
  const mode = 0o600;
  if (!existsSync(paths.serviceAccountKey)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(paths.serviceAccountKey, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode });
  }
  writeFileSync(paths.tokens, tokensCsv(adminToken, users), { mode });
  writeFileSync(paths.auditPolicy, auditPolicy, { mode });
}
