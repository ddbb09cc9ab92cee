/** Whether a cluster can be reached, by whom, and whether it is one that Dogwatch can work with. */
import type { Declared } from '../rights.ts';
import type { Unit } from '../settings.ts';
import type { ClusterFacts, ServerFacts } from './facts.ts';
import { type Finding, findingsOn, howToAskAws, type Untold } from './finding.ts';
import { kindFindings } from './kind-checks.ts';
import { rightsFindings } from './right-checks.ts';

/** The first minor release in which server-side apply is stable. @see Kubernetes 1.22 release notes */
const MINOR_LEAST = 22;
/** An answer's Date is whole seconds, and was on its way. */
const SKEW_WARNING_SECONDS = 30;
/** AWS refuses what was signed longer ago. */
const SKEW_FAILURE_SECONDS = 300;

/** A way in which a cluster is not reached. `pattern` is tried on the code of its facts. */
interface Reach {
  readonly pattern: RegExp;
  readonly check: string;
  readonly says: string;
  readonly fix: string;
}

/** In order: the first that fits. Codes are those of ../errors.ts, of Node's sockets and of OpenSSL: see functions/adapters/kubernetes/probe.ts. */
const REACHES: readonly Reach[] = [
  {
    pattern: /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|EAI_NODATA|EAI_NONAME)$/,
    check: 'DNS',
    says: 'the name of its API server does not resolve',
    fix: 'Look at the server address of its entry and at the resolver here; if the cluster was deleted, take it out of the registry.',
  },
  {
    pattern: /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|connect-timeout)$/,
    check: 'route',
    says: 'no connection to its API server comes about',
    fix: 'Look at subnets, routes and security groups on the way; if the cluster was deleted, take it out of the registry.',
  },
  {
    pattern: /^ECONNREFUSED$/,
    check: 'route',
    says: 'nothing listens at the address of its API server',
    fix: 'Look at address and port of its entry, and whether the API server runs; if the cluster was deleted, take it out of the registry.',
  },
  {
    pattern: /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO)|CERT|SIGNATURE|UNABLE_TO_/,
    check: 'TLS',
    says: 'the certificates of the two sides do not fit',
    fix: 'Put the CA of this cluster into its entry or kubeconfig, and look at the server name, and at the end of the client certificate.',
  },
  {
    pattern: /^unauthorized$/,
    check: 'credentials',
    says: 'its API server answers 401',
    fix: 'Renew the token or certificate of its entry; on EKS give the role an access entry: dogwatch rbac --cluster NAME prints it.',
  },
  {
    pattern: /^forbidden$/,
    check: 'version',
    says: 'its API server may not be asked for its version',
    fix: 'Bind the ClusterRole system:public-info-viewer to the group system:authenticated, as clusters have it by default.',
  },
  {
    pattern: /^kubeconfig/,
    check: 'kubeconfig',
    says: 'its kubeconfig cannot be used',
    fix: 'Mend what it names; paths in a registry are relative to it.',
  },
  {
    pattern: /^entry$/,
    check: 'entry',
    says: 'its entry in the registry cannot be used',
    fix: 'Mend it as it says; infra/clusters.example.yml shows the form of an entry.',
  },
  {
    pattern: /^role-refused$/,
    check: 'role',
    says: 'the role of its entry may not be assumed',
    fix: "Allow sts:AssumeRole on it, in the role's trust policy and in the policy of whoever runs this; roleArns in serverless.yml does so for the function.",
  },
  {
    pattern: /^cluster-absent$/,
    check: 'cluster',
    says: 'EKS or the store of its kubeconfig knows none of that name',
    fix: 'Look at name and region of its entry; if the cluster was deleted, take it out of the registry.',
  },
  {
    pattern: /^credentials$/,
    check: 'credentials',
    says: 'no credentials for it can be had',
    fix: 'Mend what it names, and run this again.',
  },
  {
    pattern: /^timeout$/,
    check: 'answer',
    says: 'its API server takes the connection and does not answer in time',
    fix: 'Look at the load of its API server, and at proxies on the way.',
  },
];

const OTHERWISE: Omit<Reach, 'pattern'> = {
  check: 'answer',
  says: 'what answers there is not an API server in good health',
  fix: 'Look at its /readyz, and at proxies on the way.',
};

/**
 * All findings about a cluster. What rests on a check that failed is not asked: a cluster that cannot be reached has one finding.
 */
export function clusterFindings(facts: ClusterFacts, reconcilers: readonly Declared[]): Finding[] {
  const subject = `cluster ${facts.name}`;
  const on = findingsOn(subject);
  const { server, user } = facts;
  if (server.kind === 'untold') return [unreached(subject, server)];
  if (user.kind === 'untold' && /^(unauthorized|anonymous)$/.test(user.code))
    return [unreached(subject, { ...user, code: 'unauthorized' })];
  const who = user.kind === 'told' ? `as ${user.value}` : 'a server that cannot say as whom';
  return [
    on.ok('reach', who),
    versionFinding(subject, server.value),
    clockFinding(subject, server.value),
    ...(Object.keys(facts.rights) as Unit[]).flatMap((unit) => rightsFindings(facts, unit)),
    ...kindFindings(facts, reconcilers),
  ];
}

function unreached(subject: string, untold: Untold): Finding {
  const on = findingsOn(subject);
  const { code, says } = untold;
  if (untold.by === 'aws') return on.notChecked('reach', says, howToAskAws(code, 'what it names, as function and watcher may'));
  if (code === 'not-in-cluster')
    return on.notChecked(
      'reach',
      says,
      'Name the cluster with a kubeconfig in a registry for this command, with a token of the watcher: kubectl create token dogwatch-watcher -n dogwatch.',
    );
  const reach = REACHES.find(({ pattern }) => pattern.test(code)) ?? OTHERWISE;
  return on.failure(reach.check, `${reach.says} (${says})`, reach.fix);
}

function versionFinding(subject: string, { version }: ServerFacts): Finding {
  const on = findingsOn(subject);
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return on.warning('version', `${version} is no version of Kubernetes`, 'Look at what answers there.');
  if (Number(major) === 1 && Number(minor) < MINOR_LEAST) {
    return on.failure('version', `${version} has no stable server-side apply`, `Update the cluster to 1.${MINOR_LEAST} or newer.`);
  }
  return on.ok('version', version);
}

function clockFinding(subject: string, { skewSeconds }: ServerFacts): Finding {
  const on = findingsOn(subject);
  if (skewSeconds === undefined) return on.notChecked('clock', 'its answers have no Date', 'Compare its clock with this one by hand.');
  const amount = Math.round(Math.abs(skewSeconds));
  if (amount < SKEW_WARNING_SECONDS) return on.ok('clock', 'as here');
  const says = `${amount} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} the clock here`;
  const fix = 'Set both clocks by NTP: tokens are refused, and times in conditions mislead.';
  return amount < SKEW_FAILURE_SECONDS ? on.warning('clock', says, fix) : on.failure('clock', says, fix);
}
