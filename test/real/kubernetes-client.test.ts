/** The client against a real API server: the contract, and every refusal provoked for real. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clusterName, type ObjectAddress, type ResourceType } from '../../events/resource.ts';
import { createKubernetesClient, type KubernetesClientOptions } from '../../functions/adapters/kubernetes/client.ts';
import { collectionPath, objectPath } from '../../functions/adapters/kubernetes/paths.ts';
import type { KubernetesClient, WatchFrame } from '../../functions/adapters/kubernetes/port.ts';
import { configMaps, namespaces } from '../../functions/core/kinds.ts';
import { type ControlPlane, startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { crdOf, plains, things } from '../contracts/kubernetes-client/kinds.ts';
import { describeKubernetesClient } from '../contracts/kubernetes-client/suite.ts';
import { type Api, connectApi, until } from './api.ts';

const customResourceDefinitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('the client at kube-apiserver', { timeout: 300_000 }, () => {
  let plane: ControlPlane;
  let api: Api;
  let client: KubernetesClient;

  before(async () => {
    plane = await startControlPlane({ name: 'client test' });
    api = connectApi(plane);
    client = connect({});
    for (const type of [things, plains]) {
      assert.equal((await api.post(customResourceDefinitions, crdOf(type))).status, 201);
      await until(`${type.plural} served`, async () => ((await api.get(collectionPath(type))).status === 200 ? true : undefined));
      await until(`a watch of ${type.plural} let in`, () => firstFrame(client, type, '1'));
    }
    await until('namespace default', async () => ((await api.get('/api/v1/namespaces/default')).status === 200 ? true : undefined));
  });
  after(async () => {
    client?.close();
    api?.close();
    await plane?.stop();
  });

  function connect(options: Partial<KubernetesClientOptions>, path = plane.kubeconfigPath): KubernetesClient {
    return createKubernetesClient({ cluster: clusterName('real'), kubeConfig: { kind: 'file', path }, ...options });
  }

  async function create(type: ResourceType, at: ObjectAddress, fields: Record<string, unknown> = {}): Promise<void> {
    const metadata = { ...(fields['metadata'] as object | undefined), name: at.name };
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    const answer = await api.post(collectionPath(type, at.namespace), { apiVersion, kind: type.kind, ...fields, metadata });
    assert.equal(answer.status, 201, answer.body.message);
  }

  describeKubernetesClient('kube-apiserver', async () => {
    const own = connect({});
    return {
      client: own,
      create,
      edit: async (type, at, patch, subresource) => {
        const answer = await api.merge(objectPath(type, at, {}, subresource), patch);
        assert.equal(answer.status, 200, answer.body.message);
      },
      delete: async (type, at) => void (await api.delete(objectPath(type, at))),
      close: async () => own.close(),
    };
  });

  const thing = (name: string, fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) => ({
    apiVersion: 'contract.example/v1',
    kind: 'Thing',
    metadata: { namespace: 'default', name, ...metadata },
    ...fields,
  });
  const configMap = (namespace: string, name: string, metadata: Record<string, unknown> = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, ...metadata },
  });

  it('tells a kind that is not served from an object that is absent, in get, list and watch', async () => {
    const unknown: ResourceType = { ...things, plural: 'nothings', kind: 'Nothing' };
    const notServed = { name: 'TransientError', code: 'not-served' };
    await assert.rejects(client.get(unknown, { namespace: 'default', name: 'x' }), notServed);
    await assert.rejects(client.list(unknown, { form: 'table' }), notServed);
    const watch = client.watch(unknown, { form: 'table', resourceVersion: '1', timeoutSeconds: 1, graceSeconds: 1 });
    await assert.rejects(watch, notServed);
    assert.equal(await client.servedKind(unknown), undefined);
  });

  it('names a namespace that is missing, and one that is going', async () => {
    await assert.rejects(client.apply(configMaps, configMap('nowhere', 'a')), { name: 'TransientError', code: 'namespace-missing' });
    await create(namespaces, { name: 'going' });
    await client.apply(configMaps, configMap('going', 'held', { finalizers: ['contract.example/hold'] }));
    const going = await client.getMetadata(namespaces, { name: 'going' });
    assert.ok(going);
    await client.delete(namespaces, { name: 'going' }, going.uid);
    await assert.rejects(client.apply(configMaps, configMap('going', 'late')), { name: 'TransientError', code: 'namespace-terminating' });
    // The controller of namespaces marks it, too, and that is not to happen between our read and our write.
    const held = await until('what is held is going', async () => {
      const found = await client.getMetadata(configMaps, { namespace: 'going', name: 'held' });
      return found?.deletionTimestamp === undefined ? undefined : found;
    });
    await client.patchFinalizers(configMaps, { namespace: 'going', name: 'held' }, held, []);
  });

  it('calls a value outside the schema invalid, and what no attempt can store final', async () => {
    await assert.rejects(client.apply(things, thing('bad', { spec: { size: -1 } })), { name: 'TerminalError', code: 'invalid' });
    const final = { name: 'TerminalError', code: 'final-server-error' };
    await assert.rejects(client.apply(things, thing('bad', { spec: { typo: 1 } })), final);
    for (const megabytes of [1.8, 2.5]) {
      const blob = 'x'.repeat(megabytes * 1024 * 1024);
      await assert.rejects(client.apply(things, thing('large', { spec: { blob } })), final, `${megabytes} MiB`);
    }
    const blob = 'x'.repeat(3.2 * 1024 * 1024);
    await assert.rejects(client.apply(things, thing('large', { spec: { blob } })), { name: 'TerminalError', code: 'bad-request' });
    assert.equal(await client.get(things, { namespace: 'default', name: 'large' }), undefined);
  });

  it('is told to wait for a version that the server has not reached', async () => {
    const { resourceVersion } = await client.list(things, { form: 'metadata', limit: 1 });
    const future = String(BigInt(resourceVersion) + 100_000n);
    await assert.rejects(client.get(things, { namespace: 'default', name: 'x' }, { resourceVersion: future }), {
      name: 'TransientError',
      code: 'resource-version-too-large',
      retryAfterSeconds: 1,
    });
  });

  it('is unauthorized with a wrong token and forbidden without rights', async () => {
    const path = join(plane.dir, 'wrong.yaml');
    writeFileSync(path, JSON.stringify(kubeconfigOf(plane, 'wrong')));
    const wrong = connect({}, path);
    await assert.rejects(wrong.list(things, { form: 'table' }), { name: 'TransientError', code: 'unauthorized' });
    const nobody = connect({}, plane.kubeconfigFor('nobody').path);
    const forbidden = { name: 'TransientError', code: 'forbidden' };
    await assert.rejects(nobody.get(things, { namespace: 'default', name: 'x' }), forbidden);
    await assert.rejects(nobody.watch(things, { form: 'table', resourceVersion: '1', timeoutSeconds: 1, graceSeconds: 1 }), forbidden);
    await assert.rejects(nobody.apply(things, thing('x')), forbidden);
    assert.equal(await nobody.servedKind(things), undefined);
    for (const each of [wrong, nobody]) each.close();
  });

  it('goes on with the right token once the kubeconfig has it (B25)', async () => {
    const path = join(plane.dir, 'rotated.yaml');
    writeFileSync(path, JSON.stringify(kubeconfigOf(plane, 'wrong')));
    const rotated = connect({}, path);
    writeFileSync(path, JSON.stringify(kubeconfigOf(plane, plane.token)));
    assert.ok(await rotated.list(things, { form: 'metadata', limit: 1 }));
    rotated.close();
  });

  it('works as a pod does, from its service account', async () => {
    const root = mkdtempSync(join(tmpdir(), 'dogwatch-pod-'));
    const account = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, 'token'), `${plane.token}\n`);
    copyFileSync(plane.caFile, join(account, 'ca.crt'));
    const { hostname, port } = new URL(plane.url);
    const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    Object.assign(process.env, environment);
    try {
      const pod = connect({ kubeConfig: { kind: 'in-cluster', root }, environment });
      assert.ok(await pod.list(things, { form: 'metadata', limit: 1 }));
      pod.close();
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
      rmSync(root, { recursive: true });
    }
  });

  it('hands on what the server warns of', async () => {
    const warnings: (string | undefined)[] = [];
    const warned = connect({ onResponse: ({ warning }) => warnings.push(warning) });
    await warned.apply(things, thing('warned', {}, { finalizers: ['nodomain'] }));
    assert.match(String(warnings[0]), /299 - "metadata.finalizers: .*nodomain/);
    warned.close();
  });

  it('lists a built-in kind with the columns that it has of its own', async () => {
    const { columns, rows } = await client.list(configMaps, { form: 'table' });
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Name', 'Data', 'Age'],
    );
    assert.ok(rows.length > 0);
  });

  it('ends a watch at the time it asked for, with the bookmarks that came', async () => {
    await create(configMaps, { namespace: 'default', name: 'moves-the-version' });
    const { resourceVersion } = await client.list(plains, { form: 'table', limit: 1 });
    await create(configMaps, { namespace: 'default', name: 'moves-it-on' });
    const watch = await client.watch(plains, { form: 'table', resourceVersion, timeoutSeconds: 4, graceSeconds: 5 });
    const newer = (await client.list(plains, { form: 'table', limit: 1 })).resourceVersion;
    const frames = await all(watch);
    const last = frames.at(-1);
    assert.ok(last?.type === 'BOOKMARK', 'no bookmark came');
    assert.ok(BigInt(last.resourceVersion) >= BigInt(newer));
    assert.ok(frames.every(({ type }) => type === 'BOOKMARK'));
  });

  it('gives up a server that accepts and does not answer, and goes on when it does', async () => {
    const hasty = connect({ timeouts: { totalMs: 500, watchHeadersMs: 500 } });
    await until('an answer in time', async () => {
      try {
        return await hasty.list(things, { form: 'metadata', limit: 1 });
      } catch (error) {
        // Its first connection, on a busy machine.
        assert.equal((error as { code?: string }).code, 'timeout');
        return undefined;
      }
    });
    plane.pause();
    try {
      await assert.rejects(hasty.list(things, { form: 'metadata', limit: 1 }), { name: 'TransientError', code: 'timeout' });
    } finally {
      plane.resume();
    }
    assert.ok(await client.list(things, { form: 'metadata', limit: 1 }));
    hasty.close();
  });

  it('lives through a server that is killed: its watch breaks, its calls fail, then all works again and the old position is void', async () => {
    const { resourceVersion } = await client.list(things, { form: 'table', limit: 1 });
    const options = { form: 'table', resourceVersion, timeoutSeconds: 60, graceSeconds: 5 } as const;
    const waiting = (await client.watch(things, options))[Symbol.asyncIterator]().next();
    const broken = assert.rejects(waiting, { name: 'TransientError', code: 'unreachable' });
    await plane.stopApiServer('kill');
    await broken;
    await assert.rejects(client.list(things, { form: 'table' }), { name: 'TransientError', code: 'unreachable' });
    await plane.startApiServer();
    // In pages, for without a limit the kind may not be ready yet.
    const after = await client.list(things, { form: 'table', limit: 5 });
    assert.ok(after.rows.length > 0);
    await client.apply(things, thing('after-the-start'));
    const frame = await until('the answer to a watch from before', () => firstFrame(client, things, resourceVersion));
    assert.ok(frame.type === 'ERROR', 'the position was not void');
    assert.deepEqual([frame.code, frame.reason], [410, 'Expired']);
  });
});

/** What a watch says first; undefined where it says nothing within a second, or is not let in because the kind's cache is being filled. */
async function firstFrame(client: KubernetesClient, type: ResourceType, resourceVersion: string): Promise<WatchFrame | undefined> {
  try {
    return (await all(await client.watch(type, { form: 'table', resourceVersion, timeoutSeconds: 1, graceSeconds: 5 })))[0];
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'throttled');
    return undefined;
  }
}

async function all(watch: AsyncIterable<WatchFrame>): Promise<WatchFrame[]> {
  const frames: WatchFrame[] = [];
  for await (const frame of watch) frames.push(frame);
  return frames;
}

function kubeconfigOf(plane: ControlPlane, token: string) {
  return {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority': plane.caFile } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { token } }],
  };
}
