import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { connectCluster, readClusters } from '../../../functions/adapters/clusters.ts';
import { ConfigError } from '../../../functions/core/errors.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-clusters-'));
after(() => rmSync(dir, { recursive: true, force: true }));

function registry(content: string): string {
  const path = join(dir, 'clusters.yml');
  writeFileSync(path, content);
  return path;
}

const KUBECONFIG = `
current-context: main
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
contexts: [{name: main, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
`;

describe('readClusters', () => {
  it('has the entries in order, with paths relative to the file', async () => {
    const entries = await readClusters(
      registry(
        'clusters:\n- {name: east, kubeconfig: ./east.yaml, context: a}\n- {name: west, kubeconfig: /etc/west.yaml}\n- {name: home, inCluster: true}\n',
      ),
    );
    assert.deepEqual(entries, [
      { name: 'east', access: { kind: 'file', path: join(dir, 'east.yaml'), context: 'a' }, where: 'clusters.yml: clusters[0] (east)' },
      { name: 'west', access: { kind: 'file', path: '/etc/west.yaml', context: undefined }, where: 'clusters.yml: clusters[1] (west)' },
      { name: 'home', access: { kind: 'in-cluster' }, where: 'clusters.yml: clusters[2] (home)' },
    ]);
  });

  it('reads the example that we ship', async () => {
    const entries = await readClusters(new URL('../../../infra/clusters.example.yml', import.meta.url).pathname);
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['east', 'west', 'north', 'south', 'home'],
    );
  });

  const refusals: [what: string, content: string, message: string | RegExp][] = [
    ['an unknown key at the top', 'cluster: []', 'clusters.yml: unknown key cluster; did you mean clusters?'],
    [
      'a name taken twice',
      'clusters: [{name: east, kubeconfig: a}, {name: west, kubeconfig: b}, {name: east, kubeconfig: c}]',
      'clusters.yml: clusters[2] (east): name east is taken by clusters[0]',
    ],
    [
      'a name taken twice, also by an entry with another fault',
      'clusters: [{name: east, kubeconfg: a}, {name: east, kubeconfig: c}]',
      'clusters.yml: clusters[1] (east): name east is taken by clusters[0]',
    ],
    [
      'a name that is no DNS label',
      'clusters: [{name: East_1, kubeconfig: a}]',
      /^clusters\.yml: clusters\[0\] \(East_1\): name is not a DNS label/,
    ],
    ['no name', 'clusters: [{kubeconfig: a}]', 'clusters.yml: clusters[0]: name is missing, or not text'],
    [
      'a name under a wrong key',
      'clusters: [{nmae: east, kubeconfig: a}]',
      'clusters.yml: clusters[0]: unknown key nmae; did you mean name?',
    ],
    [
      'a name that YAML takes for a number',
      'clusters: [{name: 12, kubeconfig: a}]',
      'clusters.yml: clusters[0]: name is missing, or not text',
    ],
    ['an entry that is no mapping', 'clusters: [east]', 'clusters.yml: clusters[0]: is not a mapping with name and kubeconfig'],
    ['no cluster at all', 'clusters: []', 'clusters.yml: clusters is empty; name at least one cluster'],
    ['clusters that are no list', 'clusters: {east: a}', 'clusters.yml: clusters is not a list'],
    ['a document that is no mapping', '- a', 'clusters.yml: holds no mapping; begin it with clusters:'],
    ['what is no YAML', 'clusters: [\n- a', /^clusters\.yml: does not parse as YAML: .*\(line \d+\)$/],
    ['an empty file', '', /^clusters\.yml: does not parse as YAML: expected a document/],
    [
      'a name of several lines',
      'clusters: [{name: "east\\nlevel=error", inCluster: true}]',
      /^clusters\.yml: clusters\[0\] \(east level=error\): name is not a DNS label .*$/,
    ],
    [
      'a name without end',
      `clusters: [{name: ${'x'.repeat(5_000)}, inCluster: true}]`,
      /^clusters\.yml: clusters\[0\] \(x{62}…\): name is not a DNS label .*$/,
    ],
  ];
  const inline = JSON.stringify('apiVersion: v1\nusers: [{name: u, user: {token: hunter2}}]\n');
  for (const [form, text] of [
    ['as it is', inline],
    ['as JSON', JSON.stringify(' {"users":[{"user":{"token":"hunter2"}}]}')],
    ['in base64', Buffer.from('hunter2'.repeat(200)).toString('base64')],
  ] as const) {
    it(`says of a kubeconfig that is written into the registry ${form} where to put it, and quotes nothing of it`, async () => {
      const content = `clusters: [{name: east, kubeconfig: ${text}}]`;
      for (const read of [() => readClusters(registry(content)), () => readClusters('ssm:/clusters', async () => content)]) {
        const [entry] = await read();
        assert.ok(entry?.access.kind === 'faulty');
        assert.match(entry.access.problem, /clusters\[0\] \(east\): kubeconfig: is no path and no reference; put its text into a file/);
        assert.doesNotMatch(inspect(entry), /hunter2|aHVudGVy/);
      }
    });
  }

  it('says of a registry that is written into the variable that a path is meant', async () => {
    await assert.rejects(readClusters('clusters:\n- {name: east, kubeconfig: east.yaml}'), {
      name: 'ConfigError',
      message: 'DOGWATCH_CLUSTERS: is no path and no reference; put its text into a file, or into a store (ssm:/NAME, secretsmanager:ID)',
    });
  });

  it('quotes nothing of another text that somebody named by mistake, neither in its words nor in what they come from', async () => {
    for (const content of ['PASSWORD: [hunter2\nuser: a', '*hunter2', '!hunter2 a', 'hunter2', '{"password":"hunter2"}']) {
      const error: unknown = await readClusters('secretsmanager:other', async () => content).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof ConfigError);
      assert.doesNotMatch(inspect(error), /hunter2/, content);
    }
  });

  for (const [what, content, message] of refusals) {
    it(`refuses ${what}, in one line that names file and entry`, async () => {
      const path = registry(content);
      await assert.rejects(readClusters(path), { name: 'ConfigError', message });
    });
  }

  it('refuses a file that is absent', async () => {
    await assert.rejects(readClusters(join(dir, 'none.yml')), {
      name: 'ConfigError',
      message: /none\.yml: the cluster registry does not exist; set DOGWATCH_CLUSTERS/,
    });
  });

  for (const [reference, problem] of [
    ['ssm:', 'DOGWATCH_CLUSTERS: "ssm:" names no parameter: write ssm:/NAME'],
    ['secretsmanager:#key', /names no secret: write secretsmanager:ID or secretsmanager:ID#KEY/],
    ['secretsmanager:clusters#', 'DOGWATCH_CLUSTERS: "secretsmanager:clusters#" names no key behind the #'],
  ] as const) {
    it(`refuses ${reference}, and does not take it for a file`, async () => {
      await assert.rejects(
        readClusters(reference, () => assert.fail('read')),
        { name: 'ConfigError', message: problem },
      );
    });
  }

  it('reads one that lies in AWS, and says where it lies in its messages', async () => {
    const read = async (reference: string): Promise<string> => {
      assert.equal(reference, 'ssm:/dogwatch/clusters');
      return 'clusters: [{name: east, kubeconfig: ssm:/east}, {name: west, kubeconfig: /etc/west.yaml}]';
    };
    const entries = await readClusters('ssm:/dogwatch/clusters', read);
    assert.deepEqual(entries, [
      {
        ...{ name: 'east', access: { kind: 'remote', reference: 'ssm:/east', context: undefined } },
        where: 'ssm:/dogwatch/clusters: clusters[0] (east)',
      },
      {
        ...{ name: 'west', access: { kind: 'file', path: '/etc/west.yaml', context: undefined } },
        where: 'ssm:/dogwatch/clusters: clusters[1] (west)',
      },
    ]);
  });

  it('knows clusters of EKS, with and without an address', async () => {
    const role = 'arn:aws:iam::123456789012:role/path/dogwatch';
    const entries = await readClusters(
      registry(`clusters:
- {name: a, eks: {cluster: east_1, region: eu-west-1}}
- {name: b, eks: {cluster: west, region: us-gov-west-1, role: '${role}'}, server: 'https://b', certificateAuthorityData: Y2E=}
`),
    );
    assert.deepEqual(
      entries.map(({ access }) => access),
      [
        { kind: 'eks', cluster: 'east_1', region: 'eu-west-1' },
        {
          ...{ kind: 'eks', cluster: 'west', region: 'us-gov-west-1', role },
          endpoint: { server: 'https://b', certificateAuthorityData: 'Y2E=' },
        },
      ],
    );
  });
});

describe('connectCluster', () => {
  it('connects without a request', async () => {
    writeFileSync(join(dir, 'east.yaml'), KUBECONFIG);
    const [entry] = await readClusters(registry('clusters: [{name: east, kubeconfig: east.yaml}]'));
    assert.ok(entry);
    const client = connectCluster(entry);
    assert.deepEqual([client.cluster, client.requestCount], ['east', 0]);
    client.close();
  });

  it('names the entry, the kubeconfig and the key of a fault', async () => {
    writeFileSync(join(dir, 'east.yaml'), KUBECONFIG);
    const [entry] = await readClusters(registry('clusters: [{name: east, kubeconfig: east.yaml, context: other}]'));
    assert.ok(entry);
    assert.throws(() => connectCluster(entry), {
      name: 'ConfigError',
      message: `clusters.yml: clusters[0] (east): ${join(dir, 'east.yaml')}: "other" is not in contexts (there: main)`,
    });
  });

  it('names a kubeconfig that is absent', async () => {
    const [entry] = await readClusters(registry('clusters: [{name: east, kubeconfig: none.yaml}]'));
    assert.ok(entry);
    assert.throws(() => connectCluster(entry), {
      name: 'ConfigError',
      message: /^clusters\.yml: clusters\[0\] \(east\): .*none\.yaml does not exist$/,
    });
  });
});
