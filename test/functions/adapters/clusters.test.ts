import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import { type ClusterEntry, connectCluster, createServerReader, readClusters } from '../../../functions/adapters/clusters.ts';

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
  it('has the entries in order, with paths relative to the file', () => {
    const entries = readClusters(
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

  it('reads the example that we ship', () => {
    const entries = readClusters(new URL('../../../infra/clusters.example.yml', import.meta.url).pathname);
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['east', 'west', 'home'],
    );
  });

  const faults: [what: string, content: string, message: string | RegExp][] = [
    [
      'a key with a typo',
      'clusters:\n- {name: east, kubeconfig: a}\n- {name: west, kubeconfg: b}',
      'clusters.yml: clusters[1] (west): unknown key kubeconfg; did you mean kubeconfig?',
    ],
    [
      'a key in another case',
      'clusters: [{name: east, incluster: true}]',
      'clusters.yml: clusters[0] (east): unknown key incluster; did you mean inCluster?',
    ],
    [
      'a key like no other',
      'clusters: [{name: east, kubeconfig: a, region: eu-west-1}]',
      'clusters.yml: clusters[0] (east): unknown key region; known: name, kubeconfig, context, inCluster',
    ],
    ['an unknown key at the top', 'cluster: []', 'clusters.yml: unknown key cluster; did you mean clusters?'],
    [
      'a name taken twice',
      'clusters: [{name: east, kubeconfig: a}, {name: west, kubeconfig: b}, {name: east, kubeconfig: c}]',
      'clusters.yml: clusters[2] (east): name east is taken by clusters[0]',
    ],
    [
      'a name that is no DNS label',
      'clusters: [{name: East_1, kubeconfig: a}]',
      /^clusters\.yml: clusters\[0\] \(East_1\): name is not a DNS label/,
    ],
    ['no name', 'clusters: [{kubeconfig: a}]', 'clusters.yml: clusters[0]: name is missing, or not text'],
    [
      'a name that YAML takes for a number',
      'clusters: [{name: 12, kubeconfig: a}]',
      'clusters.yml: clusters[0]: name is missing, or not text',
    ],
    [
      'both ways to connect',
      'clusters: [{name: east, kubeconfig: a, inCluster: true}]',
      'clusters.yml: clusters[0] (east): kubeconfig and inCluster exclude each other; take one out',
    ],
    ['no way to connect', 'clusters: [{name: east}]', 'clusters.yml: clusters[0] (east): kubeconfig or inCluster: true is missing'],
    ['inCluster false', 'clusters: [{name: east, inCluster: false}]', /^clusters\.yml: clusters\[0\] \(east\): inCluster: /],
    [
      'a context without kubeconfig',
      'clusters: [{name: east, inCluster: true, context: a}]',
      'clusters.yml: clusters[0] (east): context goes with kubeconfig only; take it out',
    ],
    ['a kubeconfig that is no text', 'clusters: [{name: east, kubeconfig: [a]}]', /^clusters\.yml: clusters\[0\] \(east\): kubeconfig: /],
    ['an entry that is no mapping', 'clusters: [east]', 'clusters.yml: clusters[0]: is not a mapping with name and kubeconfig'],
    ['no cluster at all', 'clusters: []', 'clusters.yml: clusters is empty; name at least one cluster'],
    ['clusters that are no list', 'clusters: {east: a}', 'clusters.yml: clusters is not a list'],
    ['a document that is no mapping', '- a', 'clusters.yml: holds no mapping; begin it with clusters:'],
    ['what is no YAML', 'clusters: [\n- a', /^clusters\.yml: does not parse as YAML: .*\(line \d+\)$/],
    ['an empty file', '', /^clusters\.yml: does not parse as YAML: expected a document/],
  ];
  for (const [what, content, message] of faults) {
    it(`refuses ${what}, in one line that names file, cluster and key`, () => {
      const path = registry(content);
      assert.throws(() => readClusters(path), { name: 'ConfigError', message });
    });
  }

  it('refuses a file that is absent', () => {
    assert.throws(() => readClusters(join(dir, 'none.yml')), {
      name: 'ConfigError',
      message: /none\.yml: the cluster registry does not exist; set DOGWATCH_CLUSTERS/,
    });
  });

  for (const reference of ['ssm:/dogwatch/clusters', 'secretsmanager:clusters']) {
    it(`does not take ${reference} for a file`, () => {
      assert.throws(() => readClusters(reference), { name: 'ConfigError', message: /references are not supported yet; name a file/ });
    });
  }
});

describe('connectCluster', () => {
  it('connects without a request', () => {
    writeFileSync(join(dir, 'east.yaml'), KUBECONFIG);
    const [entry] = readClusters(registry('clusters: [{name: east, kubeconfig: east.yaml}]'));
    assert.ok(entry);
    const client = connectCluster(entry);
    assert.deepEqual([client.cluster, client.requestCount], ['east', 0]);
    client.close();
  });

  it('names the entry, the kubeconfig and the key of a fault', () => {
    writeFileSync(join(dir, 'east.yaml'), KUBECONFIG);
    const [entry] = readClusters(registry('clusters: [{name: east, kubeconfig: east.yaml, context: other}]'));
    assert.ok(entry);
    assert.throws(() => connectCluster(entry), {
      name: 'ConfigError',
      message: `clusters.yml: clusters[0] (east): ${join(dir, 'east.yaml')}: "other" is not in contexts (there: main)`,
    });
  });

  it('names a kubeconfig that is absent', () => {
    const [entry] = readClusters(registry('clusters: [{name: east, kubeconfig: none.yaml}]'));
    assert.ok(entry);
    assert.throws(() => connectCluster(entry), {
      name: 'ConfigError',
      message: /^clusters\.yml: clusters\[0\] \(east\): .*none\.yaml does not exist$/,
    });
  });
});

describe('createServerReader', () => {
  const entry = (path: string, context?: string): ClusterEntry => ({
    name: clusterName('east'),
    access: { kind: 'file', path, context },
    where: 'clusters.yml: clusters[0] (east)',
  });
  const content = (server: string, token = 't'): string =>
    KUBECONFIG.replace('http://127.0.0.1:1', server).replace('token: t', `token: ${token}`);

  it('follows a kubeconfig that is replaced by swapping a link, as a mounted Secret is', () => {
    const mount = mkdtempSync(join(dir, 'mount-'));
    for (const [version, server] of [
      ['v1', 'https://one'],
      ['v2', 'https://two'],
    ] as const) {
      mkdirSync(join(mount, version));
      writeFileSync(join(mount, version, 'east.yaml'), content(server));
    }
    const swap = (version: string): void => {
      symlinkSync(version, join(mount, 'new'));
      renameSync(join(mount, 'new'), join(mount, '..data'));
    };
    swap('v1');
    symlinkSync(join('..data', 'east.yaml'), join(mount, 'east.yaml'));
    const serverOf = createServerReader();
    const found = [serverOf(entry(join(mount, 'east.yaml')))];
    swap('v2');
    found.push(serverOf(entry(join(mount, 'east.yaml'))));
    assert.deepEqual(found, ['https://one', 'https://two']);
  });

  it('says the same of another token', () => {
    const path = join(dir, 'rotated.yaml');
    const serverOf = createServerReader();
    const found = ['one', 'two', 'two'].map((token) => {
      writeFileSync(path, content('https://one', token));
      return serverOf(entry(path));
    });
    assert.deepEqual(found, ['https://one', 'https://one', 'https://one']);
  });

  it('knows nothing of a file that is absent, cut off or without the context, and finds it again', () => {
    const path = join(dir, 'cut.yaml');
    const serverOf = createServerReader();
    const found = [serverOf(entry(path))];
    for (const text of ['current-context: ma', 'clusters: [{name: c, clus', content('https://one'), content('https://one')]) {
      writeFileSync(path, text);
      found.push(serverOf(entry(path)), serverOf(entry(path, 'other')));
    }
    assert.deepEqual(found, [undefined, undefined, undefined, undefined, undefined, 'https://one', undefined, 'https://one', undefined]);
  });

  it('has no word on the cluster that we run in', () => {
    assert.equal(createServerReader()({ ...entry(''), access: { kind: 'in-cluster' } }), undefined);
  });
});
