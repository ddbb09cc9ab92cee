import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dump } from 'js-yaml';
import { isDnsLabel } from '../../../../events/resource.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { clusterNames, kubeconfigClusters } from '../../../../infra/local/dev/kubeconfig-clusters.ts';

describe('clusterNames', () => {
  const rows: readonly [context: string, name: string][] = [
    ['prod', 'prod'],
    ['admin@Prod.EU', 'admin-prod-eu'],
    ['arn:aws:eks:eu-west-1:123456789012:cluster/shop', 'arn-aws-eks-eu-west-1-123456789012-cluster-shop'],
    [
      `arn:aws:eks:eu-west-1:123456789012:cluster/${'long-'.repeat(10)}x`,
      `1-123456789012-cluster-${'long-'.repeat(10)}x`.slice(-63).replace(/^-/, ''),
    ],
    ['@@', 'cluster'],
  ];
  for (const [context, name] of rows)
    it(`makes ${name} of ${context}`, () => {
      assert.deepEqual(clusterNames([context]), [name]);
      assert.ok(isDnsLabel(name));
    });

  it('makes different ones of contexts that differ in other characters only', () => {
    assert.deepEqual(clusterNames(['a@b', 'a/b', 'a.b']), ['a-b', 'a-b-2', 'a-b-3']);
    const long = 'x'.repeat(80);
    const names = clusterNames([`${long}/`, `${long}@`]);
    assert.equal(new Set(names).size, 2);
    assert.ok(names.every(isDnsLabel));
  });
});

describe('kubeconfigClusters', () => {
  let dir: string;
  let path: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-contexts-'));
    path = join(dir, 'config');
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const context = (name: string, user: object = { token: 't' }, cluster: object = {}) => ({
    contexts: { name, context: { cluster: name, user: name } },
    clusters: { name, cluster: { server: `https://${name}.example`, ...cluster } },
    users: { name, user },
  });

  function write(entries: readonly ReturnType<typeof context>[], current?: string): void {
    const lists = (['contexts', 'clusters', 'users'] as const).map((list) => [list, entries.map((entry) => entry[list])]);
    writeFileSync(path, dump({ ...Object.fromEntries(lists), ...(current === undefined ? {} : { 'current-context': current }) }));
  }

  async function start(contexts: readonly string[], takeOver = false) {
    const told: string[] = [];
    const source = kubeconfigClusters({ file: path, contexts, takeOver });
    const { all } = await source.start(dir, (event) =>
      told.push('text' in event ? `${event.kind}: ${event.text}`.replaceAll(path, 'FILE') : ''),
    );
    return { names: all.map(({ name }) => name), all, told };
  }

  const fails = (contexts: readonly string[], says: RegExp): Promise<void> =>
    assert.rejects(start(contexts), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message.replaceAll(path, 'FILE'), says);
      return true;
    });

  it('takes the contexts that are named, once each, and says of each where it is', async () => {
    write([context('one'), context('two')], 'two');
    assert.deepEqual((await start(['two', 'one', 'two'])).names, ['two', 'one']);
    const { all, told } = await start(['two']);
    assert.deepEqual(all, [{ name: 'two', kubeconfigPath: path, context: 'two', isOwn: false }]);
    assert.equal(told[0], 'step: cluster two: context two of FILE, https://two.example');
    assert.match(
      told.join('\n'),
      /samples are not$.*at the end nothing is deleted: objects keep their finalizers.*for which AWS is the embedded queues/ms,
    );
  });

  it('refuses a file that is not there, is no YAML, or has not what is asked for', async () => {
    rmSync(path, { force: true });
    await fails([], /FILE does not exist$/);
    writeFileSync(path, 'contexts: [');
    await fails([], /^FILE: does not parse as YAML/);
    write([context('one'), context('two')]);
    await fails(['one', 'three'], /^FILE: "three" is not in contexts \(there: one, two\)$/);
    writeFileSync(path, dump({ contexts: [context('one').contexts] }));
    await fails(['one'], /^FILE: "one", which contexts\[one\]\.cluster names, is not in clusters/);
  });

  it('takes no context that nobody has named, be it current, and says which there are', async () => {
    write([context('one'), context('two')], 'two');
    await fails([], /^--kubeconfig needs --context NAME: .*\(there: one, two\)$/);
  });

  it('leaves out a context that leads where one before leads', async () => {
    const server = (url: string, more: object = {}) => ({ server: url, ...more });
    write([
      context('one', undefined, server('https://API.example:443')),
      context('two', undefined, server('https://api.example/')),
      context('path', undefined, server('https://api.example/k8s/clusters/b')),
      context('name', undefined, server('https://api.example', { 'tls-server-name': 'b.api.example' })),
    ]);
    const { names, told } = await start(['one', 'two', 'path', 'name']);
    assert.deepEqual(names, ['one', 'path', 'name']);
    assert.match(told.join('\n'), /^notice: context two is left out: it leads to the same cluster as context one, /m);
  });

  it('says what taking over means, and marks each cluster with it', async () => {
    write([context('one')]);
    const { all, told } = await start(['one'], true);
    assert.equal(all[0]?.isTakenOver, true);
    assert.match(told.at(-1) ?? '', /^step: --take-over: .* write over each other/);
    assert.doesNotMatch((await start(['one'])).told.join('\n'), /--take-over/);
  });

  it('leaves out a context with a field that cannot be used, and refuses where none is left', async () => {
    write([context('one'), context('two', { 'client-certificate': './none.crt', 'client-key': './none.key' })]);
    const { names, told } = await start(['one', 'two']);
    assert.deepEqual(names, ['one']);
    assert.match(told.join('\n'), /^notice: context two is left out: .*none\.(crt|key) does not exist$/m);
    await fails(['two'], /none\.(crt|key) does not exist$/);
  });
});
