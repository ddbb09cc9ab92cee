/** The checks of `dogwatch doctor` on registry and clusters, passing and failing: each thing that may be wrong, alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterFacts, DeploymentFacts } from '../../../../functions/core/doctor/facts.ts';
import { answered, cluster, deployment, servedKinds, storedCrds, told, untold } from './healthy.ts';
import { holds, neverBroken, notOk, type Row } from './rows.ts';

const of = (change: Partial<ClusterFacts>): DeploymentFacts => deployment({ clusters: [cluster(change)] });
const unreached = (code: string, by?: 'aws'): DeploymentFacts => of({ server: untold(code, by), user: untold(code, by), rights: {} });

const REGISTRY: readonly Row[] = [
  {
    name: 'a registry that does not parse',
    facts: deployment({ registry: untold('registry-unparsable'), clusters: [] }),
    finds: ['failure registry, read'],
    says: /registry-unparsable/,
    fix: /clusters\.example\.yml/,
  },
  {
    name: 'a registry that is not there',
    facts: deployment({ registry: untold('registry-unreadable'), clusters: [] }),
    finds: ['failure registry, read'],
    says: /registry-unreadable/,
    fix: /^Set DOGWATCH_CLUSTERS .*clusters\.example\.yml is one to begin with/,
  },
  {
    name: 'a parameter that is not there',
    facts: deployment({ registry: untold('ParameterNotFound'), clusters: [] }),
    finds: ['failure registry, read'],
    says: /ParameterNotFound/,
    fix: /^Write the registry there \(aws ssm put-parameter\), or set AWS_REGION and credentials to region and account in which it lies\.$/,
  },
  {
    name: 'a secret that is not there',
    facts: deployment({ registry: untold('ResourceNotFoundException'), clusters: [] }),
    finds: ['failure registry, read'],
    says: /ResourceNotFound/,
    fix: /^Write the registry there \(aws secretsmanager create-secret\), or set AWS_REGION/,
  },
  {
    name: 'a registry in AWS with a variable that is wrong',
    facts: deployment({ registry: untold('aws-variable', 'aws'), clusters: [] }),
    finds: ['not-checked registry, read'],
    says: /aws-variable/,
    fix: /^Mend that variable/,
  },
  {
    name: 'a registry that nobody named',
    facts: deployment({ registry: untold('unnamed'), clusters: [] }),
    finds: ['not-checked registry, read'],
    says: /unnamed/,
    fix: /DOGWATCH_CLUSTERS/,
  },
  {
    name: 'a registry in AWS that may not be read here',
    facts: deployment({ registry: untold('AccessDeniedException', 'aws'), clusters: [] }),
    finds: ['not-checked registry, read'],
    says: /AccessDenied/,
    fix: /ssm:GetParameter/,
  },
];

const REACH: readonly Row[] = (
  [
    ['a name that does not resolve', 'ENOTFOUND', 'DNS', /take it out of the registry/],
    ['a resolver that does not answer', 'EAI_AGAIN', 'DNS', /resolver/],
    ['no route', 'EHOSTUNREACH', 'route', /security groups/],
    ['packets that are dropped', 'connect-timeout', 'route', /security groups/],
    ['a port where nothing listens', 'ECONNREFUSED', 'route', /port/],
    ['a CA that is another', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS', /CA/],
    ['a certificate that is its own', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS', /CA/],
    ['a name that the certificate does not have', 'ERR_TLS_CERT_ALTNAME_INVALID', 'TLS', /server name/],
    ['plain HTTP', 'EPROTO', 'TLS', /server name/],
    ['a client certificate of a plugin that is none', 'ERR_OSSL_PEM_NO_START_LINE', 'TLS', /client certificate/],
    ['a server that tells its version to nobody', 'forbidden', 'version', /system:public-info-viewer/],
    ['a token that is refused', 'unauthorized', 'credentials', /Renew/],
    ['a kubeconfig that is absent', 'kubeconfig', 'kubeconfig', /Mend/],
    ['an entry with a fault', 'entry', 'entry', /^Mend it as it says; infra\/clusters\.example\.yml shows/],
    ['a plugin that fails', 'credentials', 'credentials', /Mend/],
    ['a role that may not be assumed', 'role-refused', 'role', /sts:AssumeRole/],
    ['a cluster that EKS does not know', 'cluster-absent', 'cluster', /deleted/],
    ['a server that never answers', 'timeout', 'answer', /load/],
    ['a proxy that answers in its place', 'bad-response', 'answer', /readyz/],
    ['a server that fails', 'server-error', 'answer', /readyz/],
  ] as const
).map(([name, code, check, fix]) => ({
  name,
  facts: unreached(code),
  finds: [`failure cluster east, ${check}`],
  says: new RegExp(code),
  fix,
}));

const CLUSTER: readonly Row[] = [
  {
    name: 'a cluster to which AWS shows no way here',
    facts: unreached('CredentialsProviderError', 'aws'),
    finds: ['not-checked cluster east, reach'],
    says: /CredentialsProviderError/,
    fix: /AWS credentials/,
  },
  {
    name: 'the cluster that one is in, asked from outside',
    facts: unreached('not-in-cluster'),
    finds: ['not-checked cluster east, reach'],
    says: /not-in-cluster/,
    fix: /create token dogwatch-watcher/,
  },
  {
    name: 'a token that only counts for what everybody may see',
    facts: of({ user: untold('unauthorized'), rights: {} }),
    finds: ['failure cluster east, credentials'],
    says: /401/,
    fix: /Renew/,
  },
  {
    name: 'a server that lets in nobody in particular',
    facts: of({ user: untold('anonymous'), rights: {} }),
    finds: ['failure cluster east, credentials'],
    says: /anonymous/,
    fix: /Renew/,
  },
  {
    name: 'a version without server-side apply',
    facts: of({ server: told({ version: 'v1.21.14-eks-1', skewSeconds: 0 }) }),
    finds: ['failure cluster east, version'],
    says: /v1\.21\.14/,
    fix: /1\.22/,
  },
  {
    name: 'a version that is none',
    facts: of({ server: told({ version: 'nginx', skewSeconds: 0 }) }),
    finds: ['warning cluster east, version'],
    says: /nginx/,
    fix: /answers there/,
  },
  {
    name: 'a clock that is behind',
    facts: of({ server: told({ version: 'v1.36.2', skewSeconds: -45 }) }),
    finds: ['warning cluster east, clock'],
    says: /45 s behind/,
    fix: /NTP/,
  },
  {
    name: 'a clock that is far ahead',
    facts: of({ server: told({ version: 'v1.36.2', skewSeconds: 301 }) }),
    finds: ['failure cluster east, clock'],
    says: /301 s ahead/,
    fix: /NTP/,
  },
  {
    name: 'answers without a date',
    facts: of({ server: told({ version: 'v1.36.2', skewSeconds: undefined }) }),
    finds: ['not-checked cluster east, clock'],
    says: /no Date/,
    fix: /by hand/,
  },
  {
    name: 'the token of a service account, which is in no group of ours',
    facts: of({
      user: told('system:serviceaccount:ops:remote'),
      rights: { watcher: answered('watcher', () => told(false)) },
    }),
    finds: ['failure cluster east, rights of the watcher'],
    says: /none of the \d+/,
    fix: /rbac --for watcher --cluster east prints, and bind it: kubectl create clusterrolebinding dogwatch-watcher-remote --clusterrole dogwatch-watcher --serviceaccount ops:remote\.$/,
  },
  {
    name: 'the service account that the manifests are for',
    facts: of({
      user: told('system:serviceaccount:dogwatch:dogwatch-watcher'),
      rights: { watcher: answered('watcher', () => told(false)) },
    }),
    finds: ['failure cluster east, rights of the watcher'],
    says: /none of the \d+/,
    fix: /prints; if another identity/,
  },
  {
    name: 'no right at all',
    facts: of({ rights: { watcher: answered('watcher', () => told(false)), reconcile: answered('reconcile') } }),
    finds: ['failure cluster east, rights of the watcher'],
    says: /none of the \d+/,
    fix: /rbac --for watcher --cluster east/,
  },
  {
    name: 'rights that are missing',
    facts: of({
      rights: {
        watcher: answered('watcher', ({ resource, verb }) => told(resource !== 'tenants' || verb !== 'watch')),
        reconcile: answered('reconcile', ({ resource, verb }) => told(!resource.endsWith('/status') && verb !== 'bind')),
      },
    }),
    finds: [
      'failure cluster east, rights of the watcher',
      'failure cluster east, rights of the function',
      'failure cluster east, rights of the function',
      'failure cluster east, rights of the function',
    ],
    says: /may not watch tenants\.platform\.example \(for Tenant\)/,
    fix: /rbac --for watcher/,
  },
  {
    name: 'reviews that may not be made',
    facts: of({ rights: { watcher: answered('watcher', () => untold('forbidden')) } }),
    finds: ['not-checked cluster east, rights of the watcher'],
    says: /were not answered/,
    fix: /selfsubjectaccessreviews/,
  },
];

/** The healthy CRD of Tenant with its one version changed. */
function tenants(change: (version: Record<string, unknown>) => Record<string, unknown>): DeploymentFacts {
  const definitions = storedCrds();
  const name = 'tenants.platform.example';
  const stored = structuredClone(definitions.get(name)) as { value: { spec: { versions: Record<string, unknown>[] } } };
  stored.value.spec.versions = stored.value.spec.versions.map(change);
  return of({ definitions: definitions.set(name, stored as never) });
}

function statusOf(version: Record<string, unknown>): Record<string, unknown> {
  const schema = version['schema'] as { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } };
  return schema.openAPIV3Schema.properties.status.properties;
}

function unserved(...names: string[]): ClusterFacts['served'] {
  return new Map(
    [...servedKinds()].map(([groupVersion, asked]) => [
      groupVersion,
      told(asked.kind === 'told' ? asked.value?.filter(({ name }) => !names.includes(name)) : []),
    ]),
  );
}

const withoutColumn = (gone: string) =>
  tenants((version) => ({
    ...version,
    additionalPrinterColumns: (version['additionalPrinterColumns'] as { name: string }[]).filter(({ name }) => name !== gone),
  }));

const KINDS: readonly Row[] = [
  {
    name: 'no CRD',
    facts: of({
      served: servedKinds().set('platform.example/v1', told(undefined)),
      definitions: new Map([...storedCrds().keys()].map((name) => [name, told(undefined)])),
    }),
    finds: ['failure cluster east, Tenant: served', 'failure cluster east, QueueClaim: served'],
    says: /tenants\.platform\.example is not served/,
    fix: /crds --apply --cluster east/,
  },
  {
    name: 'a CRD with another version',
    facts: of({ served: unserved('tenants') }),
    finds: ['failure cluster east, Tenant: served'],
    says: /does not serve v1/,
    fix: /crds --apply/,
  },
  {
    name: 'a CRD with another scope',
    facts: of({
      served: new Map(
        [...servedKinds()].map(([groupVersion, asked]) => [
          groupVersion,
          told(
            asked.kind === 'told' ? asked.value?.map((entry) => (entry.kind === 'Tenant' ? { ...entry, isNamespaced: true } : entry)) : [],
          ),
        ]),
      ),
    }),
    finds: ['failure cluster east, Tenant: served'],
    says: /Namespaced/,
    fix: /scope/,
  },
  {
    name: 'discovery that fails',
    facts: of({ served: servedKinds().set('platform.example/v1', untold('server-error')) }),
    finds: ['not-checked cluster east, Tenant: served', 'not-checked cluster east, QueueClaim: served'],
    says: /server-error/,
    fix: /again/,
  },
  {
    name: 'a CRD without the status subresource',
    facts: of({ served: unserved('tenants/status') }),
    finds: ['failure cluster east, Tenant: status'],
    says: /no status subresource/,
    fix: /crds --apply --cluster east/,
  },
  {
    name: 'conditions that are a plain list',
    facts: tenants((version) => {
      const conditions = statusOf(version)['conditions'] as Record<string, unknown>;
      conditions['x-kubernetes-list-type'] = 'atomic';
      return version;
    }),
    finds: ['failure cluster east, Tenant: conditions'],
    says: /key type/,
    fix: /crds --apply/,
  },
  {
    name: 'a schema that drops observedGeneration',
    facts: tenants((version) => {
      delete statusOf(version)['observedGeneration'];
      return version;
    }),
    finds: ['failure cluster east, Tenant: status fields'],
    says: /status\.observedGeneration/,
    fix: /crds --apply/,
  },
  {
    name: 'a column that the watcher reads',
    facts: withoutColumn('Observed'),
    finds: ['failure cluster east, Tenant: columns'],
    says: /lacks Observed/,
    fix: /crds --apply/,
  },
  {
    name: 'a column for people',
    facts: withoutColumn('Reason'),
    finds: ['warning cluster east, Tenant: columns'],
    says: /lacks Reason/,
    fix: /crds --apply/,
  },
  {
    name: 'a CRD that may not be read',
    facts: of({ definitions: storedCrds().set('tenants.platform.example', untold('forbidden')) }),
    finds: ['not-checked cluster east, Tenant: CRD'],
    says: /forbidden/,
    fix: /watcher/,
  },
  {
    name: 'an owned kind that is not there',
    facts: of({ served: unserved('resourcequotas') }),
    finds: ['failure cluster east, ResourceQuota: served'],
    says: /resourcequotas is not served in v1/,
    fix: /reconciler names it/,
  },
  {
    name: 'discovery of an owned kind that fails',
    facts: of({ served: servedKinds().set('rbac.authorization.k8s.io/v1', untold('timeout')) }),
    finds: ['not-checked cluster east, kinds'],
    says: /RoleBinding/,
    fix: /again/,
  },
];

describe('a deployment that is well', () => {
  it('has nothing but checks that are ok', () => {
    assert.deepEqual(notOk(deployment()), []);
  });
});

describe('doctor on the registry', () => holds(REGISTRY));
describe('doctor on the way to a cluster', () => holds(REACH));
describe('doctor on a cluster', () => holds(CLUSTER));
describe('doctor on kinds in a cluster', () => holds(KINDS));

describe('the rows above', () => {
  it('have each check failing', () => {
    // QueueClaim is judged by the same code as Tenant.
    assert.deepEqual(neverBroken(/^(registry|cluster east, (?!QueueClaim))/, [...REGISTRY, ...REACH, ...CLUSTER, ...KINDS]), []);
  });
});
