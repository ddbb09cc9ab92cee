import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResourceType } from '../../../events/resource.ts';
import { connectCluster, readClusters } from '../../../functions/adapters/clusters.ts';

const REGISTRY = 'ssm:/clusters';
const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };
/** What `aws eks` shows is far longer; here it only has to be there. */
const EKS = 'cluster: a, region: eu-west-1';

const read = (...entries: readonly string[]) => readClusters(REGISTRY, async () => `clusters: [${entries.join(', ')}]`);

describe('an entry of the registry with a fault', () => {
  const faults: [what: string, rest: string, problem: string][] = [
    ['a key with a typo', 'kubeconfg: b', 'unknown key kubeconfg; did you mean kubeconfig?'],
    ['a key in another case', 'incluster: true', 'unknown key incluster; did you mean inCluster?'],
    [
      'a key like no other',
      'kubeconfig: /a, region: eu-west-1',
      'unknown key region; known: name, kubeconfig, inCluster, eks, context, server, certificateAuthorityData',
    ],
    ['a key of several lines', '"kubeconfig\\n": 1', 'unknown key kubeconfig ; did you mean kubeconfig?'],
    ['a key with a typo in eks', `eks: {${EKS}, regoin: eu-west-1}`, 'eks: unknown key regoin; did you mean region?'],
    ['two ways', 'kubeconfig: /a, inCluster: true', 'kubeconfig and inCluster exclude each other; take one out'],
    ['no way', '', 'kubeconfig, eks or inCluster: true is missing'],
    ['a context without kubeconfig', 'inCluster: true, context: a', 'context goes with kubeconfig only; take it out'],
    ['an address beside a kubeconfig', 'kubeconfig: /a, server: "https://a"', 'server goes with eks only; take it out'],
    ['inCluster false', 'inCluster: false', 'inCluster is not true; write true, or take it out'],
    ['a kubeconfig that is no text', 'kubeconfig: [a]', 'kubeconfig is not text; write the path of a file, ssm:/NAME or secretsmanager:ID'],
    ['a kubeconfig of nothing', 'kubeconfig: ', 'kubeconfig is empty; write the path of a file, ssm:/NAME or secretsmanager:ID'],
    ['an empty kubeconfig', 'kubeconfig: ""', 'kubeconfig is empty; write the path of a file, ssm:/NAME or secretsmanager:ID'],
    ['a reference without a name', 'kubeconfig: "ssm:"', 'kubeconfig: "ssm:" names no parameter: write ssm:/NAME'],
    [
      'a path where there are no files',
      'kubeconfig: ./east.yaml',
      'kubeconfig: ./east.yaml is a relative path, and there are no files beside a registry in AWS; name it by ssm: or secretsmanager:',
    ],
    [
      'a context that is a number',
      'kubeconfig: /a, context: 1',
      'context is not text; write the name of a context of that kubeconfig, or take it out',
    ],
    ['eks that is no mapping', 'eks: production', 'eks is no mapping; write the keys cluster and region under it'],
    ['eks of nothing', 'eks: ', 'eks is empty; write the keys cluster and region under it'],
    ['eks without a cluster', 'eks: {region: eu-west-1}', 'eks.cluster is missing; write its name, as aws eks list-clusters shows it'],
    [
      'a name that EKS does not take',
      'eks: {cluster: "a b", region: eu-west-1}',
      'eks.cluster is no name of an EKS cluster; write its name, as aws eks list-clusters shows it',
    ],
    ['eks without a region', 'eks: {cluster: a}', 'eks.region is missing; write the one that the cluster is in, such as eu-west-1'],
    [
      'what is no region',
      'eks: {cluster: a, region: "eu west"}',
      'eks.region is no AWS region; write the one that the cluster is in, such as eu-west-1',
    ],
    [
      'a role without the rest of its ARN',
      `eks: {${EKS}, role: dogwatch}`,
      'eks.role is no ARN of a role; write one such as arn:aws:iam::123456789012:role/dogwatch, or take it out',
    ],
    [
      'a role that a shell would take for more',
      `eks: {${EKS}, role: "arn:aws:iam::123456789012:role/a;reboot"}`,
      'eks.role is no ARN of a role; write one such as arn:aws:iam::123456789012:role/dogwatch, or take it out',
    ],
    [
      'an address without its CA',
      `eks: {${EKS}}, server: "https://a"`,
      'server and certificateAuthorityData go together; give both, or neither to have EKS asked',
    ],
    [
      'a server to which tokens of AWS would go in the clear',
      `eks: {${EKS}}, server: "http://a", certificateAuthorityData: Y2E=`,
      'server is no https address; write the endpoint that aws eks describe-cluster shows, which begins with https://',
    ],
    [
      'a CA that is no text',
      `eks: {${EKS}}, server: "https://a", certificateAuthorityData: 7`,
      'certificateAuthorityData is not text; write the base64 text that aws eks describe-cluster shows',
    ],
  ];
  for (const [what, rest, problem] of faults) {
    it(`is that cluster's alone, and says what to write: ${what}`, async () => {
      const [west, bad, east] = await read('{name: west, inCluster: true}', `{name: bad, ${rest}}`, '{name: east, kubeconfig: /east.yaml}');
      assert.deepEqual([west?.access.kind, east?.access.kind], ['in-cluster', 'file']);
      const where = `${REGISTRY}: clusters[1] (bad)`;
      assert.deepEqual(bad, { name: 'bad', access: { kind: 'faulty', problem: `${where}: ${problem}` }, where });
    });
  }

  it('is not forgiven for a merge, which is a key like any other in YAML 1.2', async () => {
    const [, west] = await read('&a {name: east, inCluster: true}', '{<<: *a, name: west}');
    assert.ok(west?.access.kind === 'faulty');
    assert.match(west.access.problem, /clusters\[1\] \(west\): unknown key <<; known: name, /);
  });

  it('has no client', async () => {
    const [bad] = await read('{name: bad, eks: {cluster: a}}');
    assert.ok(bad);
    assert.throws(() => connectCluster(bad), {
      ...{ name: 'ConfigError', code: 'entry-invalid' },
      message: `${REGISTRY}: clusters[0] (bad): eks.region is missing; write the one that the cluster is in, such as eu-west-1`,
    });
  });

  it('is what each call is refused for, where a client is wanted all the same', async () => {
    const [bad] = await read('{name: bad, kubeconfg: /a}');
    assert.ok(bad);
    const client = connectCluster(bad, { isDeferred: true });
    await assert.rejects(client.get(tenants, { name: 'acme' }), {
      ...{ name: 'TransientError', code: 'unauthorized' },
      facts: {
        verb: 'get',
        kind: 'Tenant',
        name: 'acme',
        detail: `${REGISTRY}: clusters[0] (bad): unknown key kubeconfg; did you mean kubeconfig?`,
      },
    });
    client.close();
  });
});
