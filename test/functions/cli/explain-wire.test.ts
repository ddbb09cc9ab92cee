/** `dogwatch explain` over the wire: an embedded cluster is asked, by the entry of a registry. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clusterName, type ResourceType } from '../../../events/resource.ts';
import { connectCluster } from '../../../functions/adapters/clusters.ts';
import type { AppliedObject, KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import { PORTS } from '../../../functions/cli/explain/ports.ts';
import { type ExplainOptions, explainObject } from '../../../functions/cli/explain.ts';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';

const CRDS: ResourceType = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions' },
  scope: 'Cluster',
};
const apiVersion = 'platform.example/v1';
const spec = { owner: 'owner@example.com', quota: { cpu: '1', memory: '1Gi', pods: 1 } };

describe('dogwatch explain over the wire', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-explain-wire-'));
  const env = { DOGWATCH_CLUSTERS: join(dir, 'clusters.yml') };
  let server: ApiServer;
  let client: KubernetesClient;
  let shiftMs = 0;
  before(async () => {
    server = await startApiServer();
    const path = join(dir, 'east.yaml');
    writeFileSync(path, server.kubeconfig('east'));
    writeFileSync(env.DOGWATCH_CLUSTERS, JSON.stringify({ clusters: [{ name: 'east', kubeconfig: path }] }));
    client = connectCluster({ name: clusterName('east'), where: 'here', access: { kind: 'file', path, context: undefined } });
  });
  after(async () => {
    client.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** The verdict, asked so long from now as `shiftMs` says. */
  async function told(words: string, options: ExplainOptions = {}): Promise<Record<string, unknown>> {
    const printed: string[] = [];
    const clock = { ...PORTS.clock, now: () => new Date(Date.now() + shiftMs) };
    await explainObject(env, words, { ...options, json: true }, { ...PORTS, clock, print: (line) => void printed.push(line) });
    return JSON.parse(printed.join('\n')) as Record<string, unknown>;
  }
  const verdict = async (words: string, options: ExplainOptions = {}): Promise<unknown> => (await told(words, options))['verdict'];

  async function serve(definition: object): Promise<void> {
    await client.apply(CRDS, definition as AppliedObject);
    for (;;) {
      try {
        await client.list(tenant.resource, { form: 'metadata', limit: 1 });
        return;
      } catch (error) {
        if (!(error instanceof TransientError && error.code === 'not-served')) throw error;
      }
    }
  }
  const apply = (name: string, metadata: object, more: object = { spec }, options = {}) =>
    client.apply(tenant.resource, { apiVersion, kind: 'Tenant', metadata: { name, ...metadata }, ...more }, options);

  it('follows an object from before its kind is served to its end', async () => {
    assert.equal(await verdict('tenant/acme'), 'not-served');
    await serve(customResourceDefinition(tenant.resource));
    assert.equal(await verdict('tenant/acme'), 'absent');
    const { resourceVersion } = await apply('acme', {});
    assert.equal(await verdict('tenant/acme'), 'on-its-way');
    shiftMs = 601_000;
    assert.equal(await verdict('tenant/acme'), 'not-seen');
    assert.match(String((await told('tenant/acmee'))['text']), /there is acme$/);
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Reconciled',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: '2026-03-01T11:00:00Z',
      },
    ];
    const status = { observedGeneration: 1, observedRevision: 1, conditions };
    await client.applyStatus(tenant.resource, { apiVersion, kind: 'Tenant', metadata: { name: 'acme', resourceVersion }, status });
    assert.equal(await verdict('tenant/acme'), 'settled');
    const edited = await apply('acme', {}, { spec: { ...spec, owner: 'other@example.com' } });
    assert.equal(edited.generation, 2);
    shiftMs = 0;
    assert.equal(await verdict('tenant/acme'), 'on-its-way');
  });

  it('knows a finalizer that an earlier release has put there', async () => {
    const { uid } = await apply('former', {});
    await apply('former', { finalizers: ['platform.example/former'] }, {}, { fieldManager: 'dogwatch-finalizer' });
    await client.delete(tenant.resource, { name: 'former' }, uid);
    const { verdict: kind, text } = await told('tenant/former');
    assert.equal(kind, 'held-by-former');
    assert.match(String(text), /platform\.example\/former/);
  });

  it('sees a CRD that drops what a run says', async () => {
    const definition = structuredClone(customResourceDefinition(queueClaim.resource)) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { status: { properties: object } } } } }[] };
    };
    const [version] = definition.spec.versions;
    const { status } = version?.schema.openAPIV3Schema.properties ?? { status: { properties: {} } };
    const { observedGeneration: _, ...kept } = status.properties as Record<string, unknown>;
    status.properties = kept;
    await client.apply(CRDS, definition as unknown as AppliedObject);
    const at = { apiVersion, kind: 'QueueClaim', metadata: { name: 'jobs', namespace: 'default' }, spec: {} };
    await client.apply(queueClaim.resource, at as AppliedObject);
    const { verdict: kind, text } = await told('queueclaim/jobs');
    assert.equal(kind, 'crd-lacks');
    assert.match(String(text), /drops status\.observedGeneration/);
  });

  it('says that the cluster is away, and that it does not know us', async () => {
    const path = join(dir, 'stale.yaml');
    writeFileSync(path, server.kubeconfig('east').replace(server.token, 'stale'));
    writeFileSync(env.DOGWATCH_CLUSTERS, JSON.stringify({ clusters: [{ name: 'east', kubeconfig: path }] }));
    assert.equal(await verdict('tenant/acme'), 'cluster-unauthorized');
    await server.down();
    assert.equal(await verdict('tenant/acme'), 'cluster-unreachable');
  });
});
