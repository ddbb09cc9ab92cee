import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { createApplier } from '../../../../infra/local/dev/apply-object.ts';
import { findFreePorts } from '../../../../infra/local/free-ports.ts';
import { type ContextSpec, writeKubeconfig } from './kubeconfigs.ts';

const configMap = (metadata: { readonly name: string; readonly namespace?: string }, more: object = { data: { a: '1' } }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  ...more,
});

describe('createApplier', () => {
  let dir: string;
  let server: ApiServer;

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-applier-'));
    server = await startApiServer();
  });
  after(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** What applying says, through a context of that spec. */
  async function said(object: Parameters<ReturnType<typeof createApplier>['apply']>[0], spec: Partial<ContextSpec> = {}) {
    const path = writeKubeconfig(dir, { it: { server, ...spec } });
    const applier = createApplier(path, 'it');
    try {
      const text = await applier.apply(object);
      return { text: text?.replaceAll(path, 'FILE'), isAnswering: applier.isAnswering };
    } finally {
      applier.close();
    }
  }

  it('applies an object of any kind that is served, to `default` where nothing names a namespace, twice as well as once', async () => {
    for (const object of [
      configMap({ name: 'a' }),
      configMap({ name: 'a' }),
      configMap({ name: 'a', namespace: 'kube-system' }),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'made' } },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' }, rules: [] },
    ])
      assert.deepEqual(await said(object), { text: undefined, isAnswering: true });
  });

  it('applies one that names no namespace to that of its context, as kubectl does', async () => {
    const object = configMap({ name: 'of-context' });
    assert.match((await said(object, { namespace: 'nowhere' })).text ?? '', /namespaces "nowhere" not found/);
    assert.equal((await said(object, { namespace: 'kube-system' })).text, undefined);
    assert.ok(server.snapshot().objects.get('configmaps')?.has('kube-system/of-context'));
    assert.equal((await said({ ...object, metadata: { name: 'a', namespace: 'default' } }, { namespace: 'nowhere' })).text, undefined);
  });

  const refused: readonly [what: string, object: Parameters<typeof said>[0], says: RegExp][] = [
    ['a kind that is not served', { ...configMap({ name: 'a' }), kind: 'Config' }, /^no kind Config of v1 is served; apply its CRD first$/],
    [
      'a group that is not served',
      { ...configMap({ name: 'a' }), apiVersion: 'a.example/v1' },
      /^no kind ConfigMap of a\.example\/v1 is served/,
    ],
    ['an unknown field', configMap({ name: 'a' }, { dada: {} }), /dada/],
    ['a field of another type', configMap({ name: 'a' }, { data: 5 }), /data/],
    ['a namespace that is not there', configMap({ name: 'a', namespace: 'nowhere' }), /namespaces "nowhere" not found/],
    ['a name that no object may have', configMap({ name: 'A_B' }), /metadata\.name/],
    ['a name that is no name', configMap({ name: '..' }), /^metadata\.name: this is no name of a Kubernetes object/],
  ];
  for (const [what, object, says] of refused)
    it(`says why the cluster refuses ${what}`, async () => {
      const { text = '', isAnswering } = await said(object);
      assert.match(text, says);
      assert.doesNotMatch(text, /\n/);
      assert.equal(isAnswering, true);
    });

  it('names file, context and field where the cluster lets nobody in, and goes on where only this is forbidden', async () => {
    const cases: readonly [spec: Partial<ContextSpec>, says: RegExp, isAnswering: boolean][] = [
      [{ token: 'wrong' }, /^FILE: context it: users\[it\]\.user is not accepted by https:\/\/127\.0\.0\.1:\d+ \(401\)$/, false],
      [{ token: null }, /^FILE: context it: users\[it\]\.user is not allowed to do it \(403\): .*system:anonymous/, true],
      [
        { trustsNobody: true },
        /^FILE: context it: clusters\[it\]\.cluster\.certificate-authority-data does not vouch for https:\/\/127\.0\.0\.1:\d+ \(/,
        false,
      ],
      [
        { url: `https://127.0.0.1:${(await findFreePorts(1))[0]}` },
        /^FILE: context it: clusters\[it\]\.cluster\.server https:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)$/,
        false,
      ],
      [
        {
          token: null,
          user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/nowhere/plugin', interactiveMode: 'Never' } },
        },
        /^FILE: context it: users\[it\]\.user gives no access: the credential plugin .*\/nowhere\/plugin/,
        false,
      ],
    ];
    for (const [spec, says, isAnswering] of cases) {
      const result = await said(configMap({ name: 'a' }), spec);
      assert.match(result.text ?? '', says);
      assert.equal(result.isAnswering, isAnswering, String(says));
    }
  });

  it('says what a cluster in trouble answers, and works again after it', async () => {
    const path = writeKubeconfig(dir, { it: { server } });
    const applier = createApplier(path, 'it');
    await applier.apply(configMap({ name: 'b' }));
    const lift = server.faults.add({ kind: 'error', code: 503 });
    assert.match(
      (await applier.apply(configMap({ name: 'b' }))) ?? '',
      /clusters\[it\]\.cluster\.server https:\/\/127\.0\.0\.1:\d+ answers 503/,
    );
    assert.equal(applier.isAnswering, false);
    lift();
    const liftOther = server.faults.add({ kind: 'error', code: 500, message: 'no leader', where: ({ method }) => method === 'GET' });
    assert.match((await applier.apply(configMap({ name: 'b' }))) ?? '', /^which kinds of v1 are served is not known: .*500: .*no leader/);
    assert.equal(applier.isAnswering, false);
    liftOther();
    assert.equal(await applier.apply(configMap({ name: 'b' })), undefined);
    assert.equal(applier.isAnswering, true);
    applier.close();
  });

  it('tells a page of somebody in between, such as a login, from an API server', async () => {
    for (const [status, says] of [
      [200, /clusters\[it\]\.cluster\.server http:\S+ answers 200 with what is no JSON object: it is no API server$/],
      [302, /clusters\[it\]\.cluster\.server http:\S+ answers 302: it is no API server, or something stands before it$/],
    ] as const) {
      const page = createServer((_, response) => response.writeHead(status, { location: '/login' }).end('<html>Log in</html>'));
      await new Promise<void>((done) => page.listen(0, '127.0.0.1', done));
      try {
        const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
        const { text, isAnswering } = await said(configMap({ name: 'a' }), { url });
        assert.match(text ?? '', says);
        assert.equal(isAnswering, false);
      } finally {
        page.close();
      }
    }
  });

  it('says what is wrong with a kubeconfig that cannot be read', async () => {
    const broken = join(dir, 'broken');
    writeFileSync(broken, 'clusters: [');
    for (const [path, says] of [
      [join(dir, 'absent'), /absent does not exist/],
      [broken, /broken: does not parse as YAML/],
    ] as const) {
      const applier = createApplier(path);
      assert.match((await applier.apply(configMap({ name: 'a' }))) ?? '', says);
      applier.close();
    }
  });
});
