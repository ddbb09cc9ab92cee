/** What `dogwatch rbac` prints, for each way to a cluster that a registry knows. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadAll } from 'js-yaml';
import { clusterName } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../../functions/adapters/clusters.ts';
import { answerFor, rbacYaml } from '../../../functions/cli/rbac.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { Unit } from '../../../functions/core/settings.ts';
import { reconcilers } from '../../../functions/reconcilers/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-rbac-'));
after(() => rmSync(dir, { recursive: true, force: true }));

/** A kubeconfig with this user. */
function kubeconfig(name: string, user: object): string {
  const path = join(dir, `${name}.yaml`);
  const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }];
  const contexts = [{ name: 'only', context: { cluster: 'c', user: 'u' } }];
  writeFileSync(path, JSON.stringify({ 'current-context': 'only', clusters, contexts, users: [{ name: 'u', user }] }));
  return path;
}

const plugin = {
  exec: { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'aws', args: ['eks', 'get-token', '--cluster-name', 'prod'] },
};
const entry = (access: ClusterEntry['access']): ClusterEntry => ({
  name: clusterName('east'),
  where: 'clusters.yml: clusters[0] (east)',
  access,
});
const role = 'arn:aws:iam::111122223333:role/team/dogwatch';

const printed = (unit: Unit, access?: ClusterEntry['access']): string =>
  rbacYaml(answerFor(unit, reconcilers, access === undefined ? undefined : entry(access)));
const subjectOf = (yaml: string): unknown => (loadAll(yaml)[1] as { subjects: { kind: string; name: string }[] }).subjects[0];

const GROUP = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group' };

describe('dogwatch rbac', () => {
  const rows: { name: string; unit: Unit; access?: ClusterEntry['access']; subject: object; says: RegExp[]; silent?: RegExp }[] = [
    {
      name: 'the watcher of no named cluster: the service account of its manifests',
      unit: 'watcher',
      subject: { kind: 'ServiceAccount', namespace: 'dogwatch', name: 'dogwatch-watcher' },
      says: [/^# For pods that run as dogwatch\/dogwatch-watcher\.$/m],
      silent: /aws/,
    },
    {
      name: 'the watcher inside a cluster: the same',
      unit: 'watcher',
      access: { kind: 'in-cluster' },
      subject: { kind: 'ServiceAccount', namespace: 'dogwatch', name: 'dogwatch-watcher' },
      says: [/--for watcher --cluster east/],
    },
    {
      name: 'the function of no named cluster: a group',
      unit: 'reconcile',
      subject: { ...GROUP, name: 'dogwatch-reconcile' },
      says: [
        /client certificate with O=dogwatch-reconcile/,
        /create clusterrolebinding .*--clusterrole dogwatch-reconcile --serviceaccount/,
      ],
      silent: /create-access-entry/,
    },
    {
      name: 'an EKS cluster with a role',
      unit: 'reconcile',
      access: { kind: 'eks', cluster: 'prod', region: 'eu-central-1', role },
      subject: { ...GROUP, name: 'dogwatch-reconcile' },
      says: [
        new RegExp(`--region eu-central-1 --cluster-name prod --principal-arn ${role} --kubernetes-groups dogwatch-reconcile`),
        /rolearn: "arn:aws:iam::111122223333:role\/dogwatch"/,
      ],
      silent: /DOGWATCH_ROLE_ARN/,
    },
    {
      name: 'an EKS cluster by its plugin, the role being that of the process',
      unit: 'watcher',
      access: { kind: 'file', path: kubeconfig('plugin', plugin) },
      subject: { ...GROUP, name: 'dogwatch-watcher' },
      says: [/--cluster-name prod --principal-arn "\$DOGWATCH_ROLE_ARN"/, /is the ARN of the role that the process runs with/],
    },
    {
      name: 'a kubeconfig of another kind: a group, which its issuer has to give',
      unit: 'watcher',
      access: { kind: 'file', path: kubeconfig('token', { token: 'none' }) },
      subject: { ...GROUP, name: 'dogwatch-watcher' },
      says: [/For whoever is in the group dogwatch-watcher/],
      silent: /create-access-entry/,
    },
    {
      name: 'a kubeconfig in a store of AWS, which is not fetched for it: the same',
      unit: 'reconcile',
      access: { kind: 'remote', reference: 'ssm:/dogwatch/east' },
      subject: { ...GROUP, name: 'dogwatch-reconcile' },
      says: [/For whoever is in the group dogwatch-reconcile/],
    },
  ];
  it('says of an entry with a fault what is wrong with it', () => {
    const problem = 'clusters.yml: clusters[0] (east): unknown key kubeconfg';
    for (const unit of ['watcher', 'reconcile'] as const)
      assert.throws(() => printed(unit, { kind: 'faulty', problem }), { name: 'ConfigError', code: 'entry-invalid', message: problem });
  });

  for (const { name, unit, access, subject, says, silent } of rows) {
    it(`binds for ${name}`, () => {
      const yaml = printed(unit, access);
      assert.deepEqual(subjectOf(yaml), subject);
      for (const pattern of says) assert.match(yaml, pattern);
      if (silent !== undefined) assert.doesNotMatch(yaml, silent);
    });
  }

  it('refuses the function a cluster that is reached from inside only', () => {
    assert.throws(
      () => printed('reconcile', { kind: 'in-cluster' }),
      (error) => error instanceof ConfigError && error.code === 'usage' && error.message.startsWith('clusters.yml: clusters[0] (east)'),
    );
  });

  const run = (words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, ['functions/cli/bin.js', 'rbac', ...words], (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      });
    });

  it('prints manifests to stdout and warnings to stderr, or both as one line of JSON', async () => {
    const [yaml, json, nobody] = await Promise.all([run(['--for', 'reconcile']), run(['--for', 'reconcile', '--json']), run([])]);
    assert.deepEqual([yaml.code, json.code, nobody.code], [0, 0, 2]);
    assert.match(yaml.stderr, /^dogwatch: warning: Tenant: delete on all namespaces: /m);
    const { manifests, warnings } = JSON.parse(json.stdout) as { manifests: unknown[]; warnings: string[] };
    assert.deepEqual(loadAll(yaml.stdout), manifests);
    assert.deepEqual(
      yaml.stderr.trimEnd().split('\n'),
      warnings.map((warning) => `dogwatch: warning: ${warning}`),
    );
    assert.match(nobody.stderr, /--for/);
  });
});
