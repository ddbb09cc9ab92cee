/** What `dogwatch reconcile` makes of its words, before anything is asked of a cluster. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type ReconcileOptions, reconcile } from '../../../functions/cli/reconcile.ts';
import { defaultNamespace, findCluster } from '../../../functions/cli/registry.ts';
import { ConfigError } from '../../../functions/core/errors.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-reconcile-'));
after(() => rmSync(dir, { recursive: true, force: true }));

/** A registry of these clusters with a kubeconfig of one context each; in `namespace` where one is given. */
function registryOf(name: string, clusters: readonly string[], namespace?: string): string {
  const kubeconfig = JSON.stringify({
    'current-context': 'only',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'only', context: { cluster: 'c', user: 'u', ...(namespace === undefined ? {} : { namespace }) } }],
  });
  writeFileSync(join(dir, `${name}.yaml`), kubeconfig);
  const path = join(dir, `${name}.yml`);
  writeFileSync(path, `clusters:\n${clusters.map((one) => `  - { name: ${one}, kubeconfig: ./${name}.yaml }\n`).join('')}`);
  return path;
}

const one = registryOf('one', ['east']);
const two = registryOf('two', ['east', 'west'], 'team');
const faulty = join(dir, 'faulty.yml');
writeFileSync(faulty, 'clusters:\n  - { name: bad, kubeconfg: ./a.yaml }\n  - { name: east, kubeconfig: ./one.yaml }\n');
const env = {
  DOGWATCH_CLUSTERS: one,
  DOGWATCH_BULK_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/111122223333/dogwatch-bulk',
  AWS_REGION: 'eu-central-1',
};

describe('reconcile', () => {
  const faults: [string, string | undefined, ReconcileOptions, Record<string, string | undefined>, RegExp][] = [
    ['no words at all', undefined, {}, {}, /KIND\/NAME, or --kind KIND/],
    ['a word without a name', 'tenant', {}, {}, /"tenant" is not KIND\/NAME, such as tenant\/acme/],
    ['a name that is none', 'tenant/..', {}, {}, /is not KIND\/NAME/],
    ['a name with more in it', 'tenant/a/status', {}, {}, /is not KIND\/NAME/],
    ['an object together with --kind', 'tenant/a', { kind: 'tenant' }, {}, /--kind means all of a kind/],
    ['a rate of one object', 'tenant/a', { rate: 5 }, {}, /--rate goes with --kind/],
    [
      'a kind with a slip',
      'tenent/a',
      {},
      {},
      /no reconciler is for a kind "tenent"; did you mean tenant\? there are: .*tenants\.platform\.example/,
    ],
    ['a kind that is far from all', undefined, { kind: 'deployments' }, {}, /no reconciler is for a kind "deployments"; there are: /],
    ['a namespace of what is in none', 'tenant/a', { namespace: 'x' }, {}, /a Tenant is in no namespace; leave out --namespace/],
    ['a namespace without a name', undefined, { kind: 'queueclaim', namespace: '' }, {}, /"" is no name of a namespace/],
    ['a namespace that is a selector', undefined, { kind: 'queueclaim', namespace: 'a,b' }, {}, /"a,b" is no name of a namespace/],
    ['a cluster that is not there', 'tenant/a', { cluster: 'north' }, {}, /no cluster is named north; there are: east/],
    [
      'a cluster whose entry is faulty, before it looks for AWS',
      'tenant/a',
      { cluster: 'bad' },
      { DOGWATCH_CLUSTERS: faulty },
      /^faulty\.yml: clusters\[0\] \(bad\): unknown key kubeconfg; did you mean kubeconfig\?$/,
    ],
    [
      'no cluster of several',
      'tenant/a',
      {},
      { DOGWATCH_CLUSTERS: two },
      /several clusters: say which with --cluster NAME; there are: east, west/,
    ],
    ['no registry', 'tenant/a', {}, { DOGWATCH_CLUSTERS: undefined }, /DOGWATCH_CLUSTERS is not set/],
    ['no queue', 'tenant/a', {}, { DOGWATCH_BULK_QUEUE_URL: undefined }, /DOGWATCH_BULK_QUEUE_URL is not set/],
    ['a queue that is no URL', 'tenant/a', {}, { DOGWATCH_BULK_QUEUE_URL: 'bulk' }, /DOGWATCH_BULK_QUEUE_URL "bulk"/],
  ];
  for (const [name, words, options, over, says] of faults) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(
        reconcile({ ...env, ...over }, words, options),
        (error) => error instanceof ConfigError && says.test(error.message),
      );
    });
  }

  it('takes the namespace of the kubeconfig where none is named, as kubectl does', async () => {
    assert.equal(await defaultNamespace(await findCluster({ ...env, DOGWATCH_CLUSTERS: two }, 'west')), 'team');
    assert.equal(await defaultNamespace(await findCluster(env, undefined)), 'default');
  });

  it('ends with 2 for wrong words and a rate out of bounds, with one line each, and has a help', async () => {
    const words = [
      ['reconcile', 'tenent/a'],
      ['reconcile', '--kind', 'tenant', '--rate', '201'],
      ['reconcile', '--help'],
    ];
    const [slip, rate, help] = await Promise.all(words.map((line) => dogwatch(line)));
    assert.deepEqual([slip?.code, slip?.stderr.split('\n').length], [2, 2]);
    assert.match(slip?.stderr ?? '', /^dogwatch: no reconciler is for a kind "tenent"/);
    assert.equal(rate?.code, 2);
    assert.match(rate?.stderr ?? '', /"201" is not a whole number from 1 to 200/);
    assert.equal(help?.code, 0);
    assert.match(help?.stdout ?? '', /KIND\/NAME[\s\S]*--rate/);
  });
});

function dogwatch(words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['functions/cli/bin.js', ...words],
      { env: { PATH: process.env['PATH'] ?? '', ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
