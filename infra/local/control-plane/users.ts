import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump } from 'js-yaml';

/** Who may talk to the API server, by bearer token. Names show in the audit log, which is how requests are told apart. */
export interface ControlPlaneUser {
  readonly name: string;
  readonly groups: readonly string[];
}

const ADMINS = ['system:masters'];

/**
 * - `admin`: the test, or the person
 * - `nobody`: may do nothing, for 403s
 * - `dogwatch`, `dogwatch-watcher`, `dogwatch-reconcile`: the product, whole or by part
 * - `controllers`: kube-controller-manager
 */
export const standardUsers: readonly ControlPlaneUser[] = [
  { name: 'admin', groups: ADMINS },
  { name: 'nobody', groups: ['nobodies'] },
  { name: 'dogwatch', groups: ADMINS },
  { name: 'dogwatch-watcher', groups: ADMINS },
  { name: 'dogwatch-reconcile', groups: ADMINS },
  { name: 'controllers', groups: ADMINS },
];

/** The token of a user, derived from that of the admin. */
export function tokenOf(adminToken: string, user: string): string {
  return user === 'admin' ? adminToken : `${adminToken}-${user}`;
}

/** The admin's token for a state folder: the one given, else the one it had before, else a new random one. */
export async function adminTokenFor(dir: string, given?: string): Promise<string> {
  const path = join(dir, 'admin-token');
  const token = given ?? (existsSync(path) ? await readFile(path, 'utf8') : randomBytes(18).toString('base64url'));
  await writeFile(path, token, { mode: 0o600 });
  return token;
}

/** The static token file of kube-apiserver: token, user, uid, "groups". */
export function tokensCsv(adminToken: string, users: readonly ControlPlaneUser[]): string {
  return users.map(({ name, groups }) => `${tokenOf(adminToken, name)},${name},u-${name},"${groups.join(',')}"\n`).join('');
}

/** A kubeconfig for one user, as YAML. `caFile` is an absolute path. */
export function kubeconfigYaml(cluster: { url: string; caFile: string }, user: string, token: string): string {
  return dump({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster: { server: cluster.url, 'certificate-authority': cluster.caFile } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user, namespace: 'default' } }],
  });
}
