/** `dogwatch rbac`: the rights of the watcher or the function in a cluster, as manifests made from the reconcilers' declarations. */
import { dump } from 'js-yaml';
import type { ClusterEntry } from '../adapters/clusters.ts';
import { entryFault } from '../adapters/kubernetes/kube-config.ts';
import { readContext } from '../adapters/kubernetes/kube-config-file.ts';
import { type EksAccess, type EksIdentity, eksAccess, eksOfPlugin, ROLE_VARIABLE } from '../core/eks-access.ts';
import { ConfigError } from '../core/errors.ts';
import { groupOf, type Manifest, rbacManifests, type Subject, WATCHER_ACCOUNT } from '../core/rbac.ts';
import { rbacWarnings } from '../core/rbac-warnings.ts';
import type { Declared } from '../core/rights.ts';
import type { Unit } from '../core/settings.ts';
import { reconcilers } from '../reconcilers/index.ts';
import type { ExitCode } from './main.ts';
import { findCluster } from './registry.ts';

export interface RbacOptions {
  readonly for: Unit;
  readonly cluster?: string;
  readonly json?: boolean;
}

/** Prints them; warnings go to stderr, so that what is printed can be piped to `kubectl apply -f -`. */
export async function rbac(env: NodeJS.ProcessEnv, options: RbacOptions): Promise<ExitCode> {
  const entry = options.cluster === undefined ? undefined : await findCluster(env, options.cluster);
  const answer = answerFor(options.for, reconcilers, entry);
  if (options.json === true) console.log(JSON.stringify(answer));
  else {
    for (const warning of answer.warnings) console.error(`dogwatch: warning: ${warning}`);
    console.log(rbacYaml(answer).trimEnd());
  }
  return 0;
}

/** What the command prints with `--json`. */
export interface RbacAnswer {
  readonly for: Unit;
  readonly cluster: string | undefined;
  readonly manifests: readonly Manifest[];
  readonly subject: Subject;
  readonly eks: EksAccess | undefined;
  readonly warnings: readonly string[];
}

/**
 * @param entry  how the process reaches the cluster; undefined: the watcher runs in it, and the function comes from outside
 * @throws ConfigError `usage` for a cluster that can be reached from inside only, which no function can; `entry-invalid`
 */
export function answerFor(unit: Unit, declared: readonly Declared[], entry?: ClusterEntry): RbacAnswer {
  const isInside = entry === undefined ? unit === 'watcher' : entry.access.kind === 'in-cluster';
  if (isInside && unit === 'reconcile') {
    throw new ConfigError(
      'usage',
      `${entry?.where}: inCluster is for pods of the cluster, which no function is; name a cluster with another access`,
    );
  }
  const subject = isInside ? WATCHER_ACCOUNT : groupOf(unit);
  const eks = entry === undefined ? undefined : eksOf(entry);
  return {
    for: unit,
    cluster: entry?.name,
    manifests: rbacManifests(unit, declared, subject),
    subject,
    eks: eks === undefined ? undefined : eksAccess(eks, subject.name),
    warnings: rbacWarnings(unit, declared),
  };
}

/** The EKS cluster behind an entry; undefined where it is none, or does not show: what stands in a store of AWS is not fetched for it. */
function eksOf({ access }: ClusterEntry): EksIdentity | undefined {
  switch (access.kind) {
    case 'eks':
      return { cluster: access.cluster, region: access.region, role: access.role };
    case 'file': {
      const { exec } = readContext(access.path, access.context).user;
      return exec ? eksOfPlugin({ command: exec.command, args: exec.args ?? [] }) : undefined;
    }
    case 'remote':
    case 'in-cluster':
      return undefined;
    case 'faulty':
      throw entryFault(access.problem);
  }
}

/** The manifests as a file that kubectl applies, with what it cannot do as comments above them. */
export function rbacYaml({ for: unit, cluster, manifests, subject, eks }: RbacAnswer): string {
  const made = `Made by dogwatch rbac --for ${unit}${cluster === undefined ? '' : ` --cluster ${cluster}`}: change what reconcilers declare, not this.`;
  const comments = [made, ...accessLines(subject, eks)].map((line) => (line === '' ? '#\n' : `# ${line}\n`));
  const objects = manifests.map((manifest) => dump(manifest, { lineWidth: 140, noRefs: true }));
  return `${comments.join('')}${objects.join('---\n')}`;
}

const bothGroups = (['reconcile', 'watcher'] as const).map((unit) => groupOf(unit).name);

function accessLines(subject: Subject, eks: EksAccess | undefined): readonly string[] {
  switch (subject.kind) {
    case 'ServiceAccount':
      return [`For pods that run as ${subject.namespace}/${subject.name}.`];
    case 'Group':
      if (eks === undefined) {
        return [
          `For whoever is in the group ${subject.name}: a client certificate with O=${subject.name}, or the group that the issuer of its`,
          'token gives it. --cluster NAME says what an EKS cluster needs. A service account is in no such group; it is given the role by',
          `  kubectl create clusterrolebinding ${subject.name}-NAME --clusterrole ${subject.name} --serviceaccount NAMESPACE:NAME`,
        ];
      }
      return [
        `For the role that is made a member of the group ${subject.name}. Where the cluster has access entries:`,
        `  ${eks.accessEntry}`,
        'and where it has the ConfigMap kube-system/aws-auth only, one more line of mapRoles there:',
        `  ${eks.mapRole}`,
        'A role has one access entry in a cluster: where watcher and function come with the same role, as they do by one registry that names',
        `it, the entry has both groups (${bothGroups.join(' ')}), and each may do what either may.`,
        ...(eks.accessEntry.includes(ROLE_VARIABLE) ? [`${ROLE_VARIABLE} is the ARN of the role that the process runs with.`] : []),
      ];
  }
}
