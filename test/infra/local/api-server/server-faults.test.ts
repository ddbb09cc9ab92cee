/** What the embedded server does when it is told to fail; and what it refuses because it does not do it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { definitions } from '../../../contracts/kubernetes/definitions.ts';
import { AS_METADATA_LIST, assertDone, assertRefused, eventually, Lab } from '../../../contracts/kubernetes/lab.ts';

describe('the embedded API server under faults', () => {
  let server: ApiServer;
  let lab: Lab;
  before(async () => {
    server = await startApiServer();
    lab = new Lab(server);
    await lab.install();
  });
  beforeEach(() => server.faults.clear());
  after(async () => {
    lab.close();
    await server.stop();
  });
  const read = () => lab.send('GET', lab.path('widgets'));

  it('throttles with and without Retry-After, in plain text, as often as told', async () => {
    server.faults.add({ kind: 'throttle', retryAfterSeconds: 7, times: 1 });
    server.faults.add({ kind: 'throttle', times: 1 });
    const [first, second, third] = [await read(), await read(), await read()];
    assert.deepEqual([first.status, first.headers['retry-after'], first.text], [429, '7', 'Too many requests, please try again later.\n']);
    assert.deepEqual([second.status, second.headers['retry-after'], third.status], [429, undefined, 200]);
  });

  it('fails as a watch cache that is being filled', async () => {
    server.faults.add({ kind: 'initializing', where: ({ isWatch }) => isWatch });
    assert.equal((await read()).status, 200);
    const { status, refusal } = await lab.whole('widgets', '');
    assert.deepEqual([status, refusal.reason, refusal.message], [429, 'TooManyRequests', 'storage is (re)initializing']);
  });

  it('answers with an error until that is lifted', async () => {
    const lift = server.faults.add({ kind: 'error', code: 503 });
    assert.deepEqual([(await read()).status, (await read()).status], [503, 503]);
    lift();
    assert.equal((await read()).status, 200);
  });

  it('breaks the connection before a request is done, or after', async () => {
    const body = (name: string) => ({ body: lab.object('configmaps', name) });
    server.faults.add({ kind: 'reset', times: 1, where: ({ method }) => method === 'POST' });
    await assert.rejects(lab.send('POST', lab.path('configmaps'), body('before')));
    server.faults.add({ kind: 'lose-answer', times: 1 });
    await assert.rejects(lab.send('POST', lab.path('configmaps'), body('after')));
    const at = async (name: string) => (await lab.send('GET', lab.path('configmaps', name))).status;
    assert.deepEqual([await at('before'), await at('after')], [404, 200]);
  });

  it('expires watch positions and continue tokens, and leaves open watches alone', async () => {
    for (let i = 0; i < 3; i += 1) await lab.create('atomics');
    const position = await lab.position('atomics');
    const { metadata } = (await lab.send('GET', `${lab.path('atomics')}?limit=1`, { accept: AS_METADATA_LIST })).body;
    const { name } = (await lab.create('atomics')).metadata;
    const open = lab.wire.watch(`${lab.path('atomics')}?watch=true&resourceVersion=${position}`, (events) => events.length >= 2, {
      onOpen: async () => {
        server.faults.expireHistory();
        await lab.merge('atomics', name, { spec: { size: 3 } });
      },
    });
    assert.deepEqual(
      (await open).events.map(({ type }) => type),
      ['ADDED', 'MODIFIED'],
    );
    const { events } = await lab.whole('atomics', `&resourceVersion=${position}`);
    assert.equal(events[0]?.object.reason, 'Expired');
    const expired = await lab.send('GET', `${lab.path('atomics')}?limit=1&continue=${metadata.continue}`);
    assertRefused(expired, { status: 410, reason: 'Expired', message: /continue parameter is too old/ });
    const rest = await lab.send('GET', `${lab.path('atomics')}?continue=${expired.body.metadata.continue}`);
    assert.equal(assertDone(rest).items.length, 3);
    const exact = `${lab.path('atomics')}?resourceVersion=${position}&resourceVersionMatch=Exact`;
    assertRefused(await lab.send('GET', exact), { status: 410, reason: 'Expired' });
    assertDone(await lab.send('GET', `${lab.path('atomics')}?limit=5&resourceVersion=${position}&resourceVersionMatch=NotOlderThan`));
  });

  it('drops watches, cleanly or not', async () => {
    for (const [how, ended] of [
      ['end', 'server'],
      ['reset', 'broken'],
    ] as const) {
      const watching = lab.wire.watch(`${lab.path('widgets')}?watch=true&resourceVersion=${await lab.position('widgets')}`, undefined, {
        onOpen: async () => server.faults.dropWatches(how),
      });
      assert.equal((await watching).ended, ended);
    }
  });

  it('keeps watches silent, and lets them catch up', async () => {
    const position = await lab.position('widgets');
    const resume = server.faults.stallWatches();
    const { name } = (await lab.create('widgets')).metadata;
    const query = `&resourceVersion=${position}&timeoutSeconds=1&allowWatchBookmarks=true`;
    assert.deepEqual((await lab.whole('widgets', query)).events, []);
    const path = `${lab.path('widgets')}?watch=true&resourceVersion=${position}`;
    const { events } = await lab.wire.watch(path, (seen) => seen.length === 1, { onOpen: async () => resume() });
    assert.equal(events[0]?.object.metadata.name, name);
  });

  it('has a cache that lags: reads at a version wait or are old, those without are not, watches are late', async () => {
    const { name } = (await lab.create('widgets', { spec: { size: 1 } })).metadata;
    const position = await lab.position('widgets');
    const release = server.faults.holdCache();
    const { resourceVersion } = assertDone(await lab.merge('widgets', name, { spec: { size: 2 } })).metadata;
    const path = lab.path('widgets', name);
    assert.equal((await lab.read('widgets', name)).spec.size, 2);
    assert.equal(assertDone(await lab.send('GET', `${path}?resourceVersion=0`)).spec.size, 1);
    assert.deepEqual((await lab.whole('widgets', `&resourceVersion=${position}&timeoutSeconds=1`)).events, []);
    const behind = lab.send('GET', `${path}?resourceVersion=${resourceVersion}`);
    assertRefused(await behind, { status: 504, reason: 'Timeout' });
    const watching = lab.events('widgets', position, 1);
    const waiting = lab.send('GET', `${path}?resourceVersion=${resourceVersion}`);
    release();
    assert.equal(assertDone(await waiting).spec.size, 2);
    assert.equal((await watching)[0]?.object.spec.size, 2);
  });

  it('is away, and comes back with its objects; positions from before are void', async () => {
    const { metadata } = await lab.create('widgets');
    const position = await lab.position('widgets');
    const watching = lab.wire.watch(`${lab.path('widgets')}?watch=true&resourceVersion=${position}`, undefined, {
      onOpen: () => server.down(),
    });
    assert.equal((await watching).ended, 'broken');
    await assert.rejects(read(), { code: 'ECONNREFUSED' });
    await server.up();
    assert.equal((await lab.read('widgets', metadata.name)).metadata.uid, metadata.uid);
    assert.equal((await lab.whole('widgets', `&resourceVersion=${position}`)).events[0]?.object.code, 410);
  });

  it('comes back with an older store: versions go back, later objects are gone, and a watch from a later position is silent', async () => {
    const kept = await lab.create('widgets');
    const older = server.snapshot();
    const later = await lab.create('widgets');
    for (let i = 0; i < 10; i += 1) await lab.create('configmaps');
    const position = await lab.position('widgets');
    await server.restart({ from: older });
    lab.close();
    assert.ok(BigInt(await lab.position('widgets')) < BigInt(position));
    assert.equal((await lab.read('widgets', kept.metadata.name)).metadata.uid, kept.metadata.uid);
    assert.equal((await lab.send('GET', lab.path('widgets', later.metadata.name))).status, 404);
    const silent = lab.whole('widgets', `&resourceVersion=${position}&timeoutSeconds=1`);
    await lab.create('widgets');
    assert.deepEqual((await silent).events, []);
  });

  it('goes on with what it was doing when it stopped: a namespace that is emptying, a definition that goes', async () => {
    await lab.create('namespaces', {}, { name: 'halfway' });
    const held = lab.object('widgets', 'held', {}, { finalizers: ['wire.example/hold'] });
    assertDone(await lab.send('POST', lab.path('widgets', '', '', 'halfway'), { body: held }), 201);
    await lab.send('DELETE', lab.path('namespaces', 'halfway'));
    await server.restart();
    lab.close();
    const path = lab.path('widgets', 'held', '', 'halfway');
    assertDone(await lab.send('PATCH', path, { body: { metadata: { finalizers: null } }, type: 'application/merge-patch+json' }));
    await eventually('the namespace gone', async () => (await lab.send('GET', lab.path('namespaces', 'halfway'))).status === 404);
  });

  describe('says plainly what it does not do', () => {
    const refused = async (answer: ReturnType<Lab['send']>, what: RegExp) =>
      assertRefused(await answer, { status: 501, reason: 'NotImplemented', message: what });

    it('strategic merge patch of built-in kinds', async () => {
      const { name } = (await lab.create('configmaps')).metadata;
      const type = 'application/strategic-merge-patch+json';
      await refused(lab.send('PATCH', lab.path('configmaps', name), { body: {}, type }), /^Strategic merge patch is not part of/);
    });

    it('protobuf', async () => {
      const protobuf = 'application/vnd.kubernetes.protobuf';
      await refused(lab.send('GET', lab.path('configmaps'), { accept: protobuf }), /^Protobuf/);
      const metadata = `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
      await refused(lab.send('GET', lab.path('widgets'), { accept: metadata }), /^Protobuf/);
      await refused(lab.send('POST', lab.path('configmaps'), { body: 'k8s', type: protobuf }), /^A protobuf body/);
    });

    it('impersonation', async () => {
      await refused(lab.send('GET', lab.path('widgets'), { headers: { 'impersonate-user': 'x' } }), /^Impersonation/);
    });

    it('tokens of service accounts, and namespaces finalized by hand', async () => {
      await refused(lab.send('POST', lab.path('serviceaccounts', 'default', 'token'), { body: {} }), /^The subresource token/);
      await refused(lab.send('PUT', lab.path('namespaces', 'default', 'finalize'), { body: {} }), /^The subresource finalize/);
    });

    it('rules, webhooks and scale in definitions', async () => {
      const definition = () =>
        structuredClone(definitions()[0]) as unknown as {
          metadata: { name: string };
          spec: Record<string, unknown> & { names: { plural: string }; versions: Record<string, unknown>[] };
        };
      const create = (change: (spec: ReturnType<typeof definition>['spec']) => void) => {
        const body = definition();
        body.metadata.name = 'others.wire.example';
        body.spec.names.plural = 'others';
        change(body.spec);
        return lab.send('POST', lab.path('customresourcedefinitions'), { body });
      };
      const rules = { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] } };
      await refused(
        create(({ versions }) => Object.assign(versions[0] ?? {}, { schema: rules })),
        /CEL/,
      );
      await refused(
        create((spec) => (spec['conversion'] = { strategy: 'Webhook' })),
        /^Conversion/,
      );
      await refused(
        create(({ versions }) => Object.assign(versions[0] ?? {}, { subresources: { scale: {} } })),
        /scale/,
      );
    });
  });
});

describe('the embedded API server', () => {
  it('takes the port that it is given, and tells where it is taken', async () => {
    const first = await startApiServer();
    await assert.rejects(startApiServer({ port: first.port }), { code: 'EADDRINUSE' });
    await first.stop();
    const second = await startApiServer({ port: first.port, token: 'mine', tls: false });
    assert.deepEqual([second.url, second.token, second.ca], [`http://127.0.0.1:${first.port}`, 'mine', undefined]);
    const lab = new Lab(second);
    assert.equal((await lab.send('GET', '/api/v1/namespaces')).status, 200);
    lab.close();
    await second.stop();
  });

  it('goes down although somebody is in the middle of connecting', { timeout: 30_000 }, async () => {
    const server = await startApiServer();
    const socket = connect(server.port, '127.0.0.1');
    const broken = new Promise((done) => socket.once('error', done).once('close', done));
    await once(socket, 'connect');
    // A connection after it that is answered: the server has taken the first one too.
    const lab = new Lab(server);
    await lab.send('GET', '/version');
    lab.close();
    await server.down();
    await broken;
    await server.stop();
  });

  it('begins with the state of another', async () => {
    const first = await startApiServer();
    const lab = new Lab(first);
    await lab.install();
    const { metadata } = await lab.create('widgets');
    const second = await startApiServer({ from: first.snapshot() });
    const other = new Lab(second);
    assert.equal((await other.read('widgets', metadata.name)).metadata.uid, metadata.uid);
    for (const each of [lab, other]) each.close();
    await Promise.all([first.stop(), second.stop()]);
  });

  it('leaves its children alone where it is told to collect no garbage', async () => {
    const server = await startApiServer({ collectsGarbage: false });
    const lab = new Lab(server);
    await lab.install();
    const parent = await lab.create('widgets');
    const { apiVersion, kind, metadata } = parent;
    const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
    const child = await lab.create('configmaps', {}, { ownerReferences: [reference] });
    await lab.send('DELETE', lab.path('widgets', metadata.name));
    await lab.create('widgets');
    await lab.read('configmaps', child.metadata.name);
    lab.close();
    await server.stop();
  });
});
