/**
 * Watcher and function with exactly the rights that are printed for them: the manifests and the output of `dogwatch rbac` are applied to
 * a real API server with RBAC on, and the built bundles run as the service account and the group that these are for. The watcher is laid
 * out as in its image and reaches the cluster from inside.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { loadAll } from 'js-yaml';
import { rightsOf } from '../../functions/core/rights.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import { build } from '../../infra/build.ts';
import { readAudit } from '../../infra/local/control-plane/audit.ts';
import type { ControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { type Lab, startLab } from '../../infra/local/start-lab.ts';
import { layOut, readImage } from '../infra/watcher-image.ts';
import { type Api, type ApiObject, connectApi, until } from './api.ts';
import { connectQueues } from './depth.ts';
import { type BoundToken, requestToken, rulesOfSelf, writePodSecrets } from './pod.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { changeTenant, conditionOf, createTenant, gone, settled, TENANTS } from './tenants.ts';

const CLAIMS = '/apis/platform.example/v1/namespaces/default/queueclaims';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ACCOUNT = 'system:serviceaccount:dogwatch:dogwatch-watcher';
const OVERLAYS = 'infra/watcher/kubernetes/overlays';
/** Both know it; short, so that a killed function's record would come back within the test. */
const FUNCTION_TIMEOUT_SECONDS = '5';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: { readonly containers: object[]; securityContext: object } } };
}

describe('watcher and function with the rights that are printed for them', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-identities-'));
  const running: RunningProcess[] = [];
  const apis: Api[] = [];
  let lab: Lab;
  let plane: ControlPlane;
  let admin: Api;
  let asWatcher: Api;
  let asFunction: Api;
  let manifests: readonly Manifest[];
  let token: BoundToken;
  let putToken: (token: string) => void;
  let watcher: RunningProcess;

  const connect = (bearer: string): Api => {
    const api = connectApi({ url: plane.url, caFile: plane.caFile, token: bearer });
    apis.push(api);
    return api;
  };
  const kubectl = async (words: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await plane.kubectl(words, input === undefined ? {} : { input });
    if (code !== 0) throw new Error(`kubectl ${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  const dogwatch = async (words: readonly string[]): Promise<string> => {
    const command = startProcess([process.execPath, 'functions/cli/bin.js', ...words], lab.envFor('admin'));
    const code = await command.exited;
    // Warnings are told beside it, as on a terminal.
    const lines = command.lines.filter((line) => !line.startsWith('dogwatch: warning: '));
    if (code !== 0) throw new Error(`dogwatch ${words.join(' ')} ended with ${code}: ${lines.join('\n')}`);
    return lines.join('\n');
  };
  const manifest = (kind: string, name: string): Manifest => {
    const found = manifests.find((one) => one.kind === kind && one.metadata.name.startsWith(name));
    if (found === undefined) throw new Error(`no ${kind} ${name}`);
    return found;
  };

  before(async () => {
    const dist = join(dir, 'dist');
    const [started] = await Promise.all([
      startLab({
        auditLog: true,
        // Nothing here rests on a controller.
        controllers: false,
        // As in OpenShift: children that block the deletion of their owner ask for one right more.
        flags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
        users: [{ name: 'function', groups: ['dogwatch-reconcile'] }],
      }),
      build({ out: dist, quiet: true }),
    ]);
    lab = started;
    plane = lab.clusters.get('east') as ControlPlane;
    admin = connect(plane.token);
    asFunction = connect(plane.kubeconfigFor('function').token);
    await dogwatch(['crds', '--apply', '--cluster', 'east']);
    const rendered = await kubectl(['kustomize', `${OVERLAYS}/irsa`]);
    manifests = loadAll(rendered) as Manifest[];
    await kubectl(['apply', '-f', '-'], rendered);
    await kubectl(['apply', '-f', '-'], await dogwatch(['rbac', '--for', 'reconcile', '--cluster', 'east']));

    token = await requestToken(admin, 'dogwatch', 'dogwatch-watcher', 'first');
    asWatcher = connect((await requestToken(admin, 'dogwatch', 'dogwatch-watcher', 'test')).token);
    for (const self of [asWatcher, asFunction]) {
      // The API server hears of a role a moment after it has stored it.
      const isInForce = async (): Promise<true | undefined> =>
        (await rulesOfSelf(self, 'default')).some((rule) => rule.includes('tenants')) || undefined;
      await until('the rights are in force', isInForce);
    }
    const secrets = join(dir, 'secrets');
    mkdirSync(secrets);
    putToken = writePodSecrets(secrets, plane.caFile, 'dogwatch', token.token);

    const { DOGWATCH_CLUSTERS: _, KUBECONFIG: __, ...surroundings } = lab.env;
    const registry = join(dir, 'clusters.yml');
    writeFileSync(registry, manifest('ConfigMap', 'dogwatch-clusters').data?.['clusters.yml'] ?? '');
    const image = readImage();
    layOut(image, dist, join(dir, 'app'));
    const [, ...words] = image.command;
    const server = new URL(plane.url);
    watcher = startProcess(
      [process.execPath, '--require', join(import.meta.dirname, 'pod-secrets.cjs'), ...words],
      {
        ...image.env,
        ...manifest('ConfigMap', 'dogwatch-watcher').data,
        ...surroundings,
        DOGWATCH_CLUSTERS: registry,
        DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
        DOGWATCH_FUNCTION_TIMEOUT_SECONDS: FUNCTION_TIMEOUT_SECONDS,
        DOGWATCH_HOLD_MAX_SECONDS: '1',
        // Each watch is opened again within seconds, and by that with the token of then.
        DOGWATCH_WATCH_TIMEOUT_SECONDS: '4',
        DOGWATCH_WATCH_GRACE_SECONDS: '3',
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
        POD_SECRETS: secrets,
      },
      join(dir, 'app'),
    );
    running.push(watcher);
    const functionHost = startProcess(
      [process.execPath, 'functions/cli/bin.js', 'run', '--timeout', FUNCTION_TIMEOUT_SECONDS, '--artifact', join(dist, 'reconcile.zip')],
      {
        ...lab.envFor('function'),
        DOGWATCH_FUNCTION_TIMEOUT_SECONDS: FUNCTION_TIMEOUT_SECONDS,
        DOGWATCH_RECORD_DEADLINE_SECONDS: '3',
      },
    );
    running.push(functionHost);
    await Promise.all([watcher.line(/"message":"watcher started"/), functionHost.line(/polling/)]);
  });
  after(async () => {
    await Promise.all(running.map((one) => one.stop()));
    for (const api of apis) api.close();
    await lab?.stop();
    if (existsSync(join(dir, 'app'))) chmodSync(join(dir, 'app'), 0o755);
    rmSync(dir, { recursive: true, force: true });
  });

  it('are applied by overlays that the API server takes whole', async () => {
    for (const overlay of ['irsa', 'pod-identity', 'many-clusters']) {
      await kubectl(['apply', '--dry-run=server', '-k', `${OVERLAYS}/${overlay}`]);
    }
  });

  it('run in a namespace that lets none but restricted pods in, of which the watcher is one', async () => {
    const spec = manifest('Deployment', 'dogwatch-watcher').spec?.template.spec;
    assert.ok(spec);
    const pods = '/api/v1/namespaces/dogwatch/pods?dryRun=All';
    const pod = (changed: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'watcher' },
      spec: { ...spec, ...changed },
    });
    assert.equal((await admin.post(pods, pod({}))).status, 201);
    const refused = await admin.post(pods, pod({ securityContext: {} }));
    assert.equal(refused.status, 403);
    assert.match(refused.body.message ?? '', /violates PodSecurity "restricted/);
  });

  it('settle a Tenant that is created, changed and damaged', async () => {
    await createTenant(admin, 'acme');
    await settled(admin, 'acme', 60_000);
    await changeTenant(admin, 'acme', { members: ['ada@acme.example', 'grace@acme.example'] });
    await settled(admin, 'acme');
    await changeTenant(admin, 'acme', { members: ['grace@acme.example'] });
    await settled(admin, 'acme');
    assert.equal((await admin.get(`${RBAC}/namespaces/tenant-acme/rolebindings`)).body.items.length, 1);
    const quota = '/api/v1/namespaces/tenant-acme/resourcequotas/tenant';
    const { uid } = (await admin.get(quota)).body.metadata;
    await admin.delete(quota);
    const isBack = async (): Promise<true | undefined> => {
      const { status, body } = await admin.get(quota);
      return (status === 200 && body.metadata.uid !== uid) || undefined;
    };
    await until('the quota is back', isBack);
  });

  it('tell of a Tenant that cannot succeed, in its status and by an Event', async () => {
    const name = 'x'.repeat(60);
    await createTenant(admin, name);
    const isFailed = async () => conditionOf((await admin.get(`${TENANTS}/${name}`)).body, 'Ready')?.reason === 'InvalidPlan' || undefined;
    await until('Ready=False', isFailed);
    const events = async () =>
      (await admin.get('/apis/events.k8s.io/v1/namespaces/default/events')).body.items as readonly (ApiObject & {
        reason?: string;
        regarding?: { name: string };
      })[];
    await until('its Event', async () => (await events()).some((event) => event.regarding?.name === name) || undefined);
    await admin.delete(`${TENANTS}/${name}`);
  });

  it('make the queue of a claim, and delete it before the claim goes', async () => {
    const sqs = connectQueues(lab);
    const queues = async (): Promise<number> =>
      (await sqs.send(new ListQueuesCommand({ QueueNamePrefix: 'queueclaim-' }))).QueueUrls?.length ?? 0;
    const body = { apiVersion: 'platform.example/v1', kind: 'QueueClaim', metadata: { name: 'jobs' }, spec: {} };
    assert.equal((await admin.post(CLAIMS, body)).status, 201);
    await until('the claim is settled', async () => (await admin.get(`${CLAIMS}/jobs`)).body.status?.observedGeneration === 1 || undefined);
    assert.equal(await queues(), 1);
    await admin.delete(`${CLAIMS}/jobs`);
    await gone(admin, `${CLAIMS}/jobs`);
    assert.equal(await queues(), 0);
    sqs.destroy();
  });

  it('go on when the token of the pod is replaced and the old one is refused', async () => {
    const next = await requestToken(admin, 'dogwatch', 'dogwatch-watcher', 'second');
    putToken(next.token);
    await token.revoke();
    const old = connect(token.token);
    await until('the old token is refused', async () => (await old.get(TENANTS)).status === 401 || undefined);
    const isWatching = (): true | undefined => {
      const lines = readFileSync(plane.auditLogPath ?? '', 'utf8').split('\n');
      const ofNext = lines.filter((line) => line.includes(next.credentialId) && line.includes('"verb":"watch"'));
      return ofNext.some((line) => line.includes('/tenants?')) || undefined;
    };
    await until('Tenants are watched with the new token', isWatching);
    await changeTenant(admin, 'acme', { members: [] });
    await settled(admin, 'acme');
    assert.deepEqual(
      watcher.lines.filter((line) => line.includes('watch failing')),
      [],
    );
  });

  it('let the Tenant go', async () => {
    await admin.delete(`${TENANTS}/acme`);
    await gone(admin, `${TENANTS}/acme`);
  });

  it('were refused nothing on the way', (t) => {
    const ours = readAudit(plane.auditLogPath ?? '').filter(({ user }) => user === ACCOUNT || user === 'function');
    t.diagnostic(`${ours.length} requests`);
    assert.ok(['function', ACCOUNT].every((user) => ours.some((event) => event.user === user)));
    const refused = ours.filter(({ code }) => code === 403).map(({ user, verb, uri }) => `${user} ${verb} ${uri}`);
    assert.deepEqual(refused, []);
  });

  it('have these rights and no other', async () => {
    const other = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'other' } };
    await admin.post('/api/v1/namespaces/dogwatch/serviceaccounts', other);
    const anybody = {
      watcher: connect((await requestToken(admin, 'dogwatch', 'other', 'other')).token),
      reconcile: connect(plane.nobodyToken),
    };
    for (const [unit, self] of [['watcher', asWatcher] as const, ['reconcile', asFunction] as const]) {
      const printed = rightsOf(unit, reconcilers).map(({ verb, group, resource, name = '' }) => `${verb} ${group}/${resource} ${name}`);
      for (const namespace of ['default', 'kube-system', 'tenant-acme']) {
        const [all, common] = await Promise.all([rulesOfSelf(self, namespace), rulesOfSelf(anybody[unit], namespace)]);
        const own = all.filter((rule) => !common.includes(rule));
        assert.deepEqual(own, [...printed].sort(), `${unit} in ${namespace}`);
      }
    }
  });

  it('are refused what an intruder would want', async () => {
    await createTenant(admin, 'later');
    const tenants = { watcher: asWatcher, function: asFunction };
    const binding = (role: string) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: `as-${role}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
    });
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const rows: [who: keyof typeof tenants, what: string, ask: (api: Api) => Promise<{ status: number }>, status: number][] = [
      ['watcher', 'read Secrets', (api) => api.get('/api/v1/secrets'), 403],
      ['watcher', 'read a Tenant with its spec by name', (api) => api.get(`${TENANTS}/later`), 403],
      ['watcher', 'write a status', (api) => api.merge(`${TENANTS}/later/status`, { status: {} }), 403],
      ['watcher', 'delete a Namespace', (api) => api.delete('/api/v1/namespaces/default'), 403],
      ['watcher', 'read another CRD', (api) => api.get(`${crds}/others.platform.example`), 403],
      ['watcher', 'read the CRD of its kind', (api) => api.get(`${crds}/tenants.platform.example`), 200],
      ['watcher', 'have a token', (api) => api.post('/api/v1/namespaces/dogwatch/serviceaccounts/other/token', {}), 403],
      ['function', 'read Secrets', (api) => api.get('/api/v1/secrets'), 403],
      ['function', 'list Tenants', (api) => api.get(TENANTS), 403],
      ['function', 'change a spec', (api) => api.merge(`${TENANTS}/later`, { spec: { members: [] } }), 403],
      ['function', 'delete a Tenant', (api) => api.delete(`${TENANTS}/later`), 403],
      ['function', 'change a CRD', (api) => api.merge(`${crds}/tenants.platform.example`, {}), 403],
      ['function', 'make pods', (api) => api.post('/api/v1/namespaces/default/pods', {}), 403],
      ['function', 'bind cluster-admin', (api) => api.post(`${RBAC}/namespaces/default/rolebindings`, binding('cluster-admin')), 403],
      ['function', 'bind what it grants', (api) => api.post(`${RBAC}/namespaces/default/rolebindings`, binding('edit')), 201],
      ['function', 'bind for the whole cluster', (api) => api.post(`${RBAC}/clusterrolebindings`, binding('edit')), 403],
      ['function', 'read a node', (api) => api.get('/api/v1/nodes'), 403],
    ];
    for (const [who, what, ask, status] of rows) assert.equal((await ask(tenants[who])).status, status, `${who}: ${what}`);
  });
});
