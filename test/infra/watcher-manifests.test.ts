/** The watcher's manifests, as text: kubectl renders and applies them in test/real/identities.test.ts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { readClusters } from '../../functions/adapters/clusters.ts';
import { answerFor, rbacYaml } from '../../functions/cli/rbac.ts';
import { readConfig } from '../../functions/core/config.ts';
import { WATCHER_ACCOUNT } from '../../functions/core/rbac.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import { DRAIN_MS } from '../../functions/watcher/watcher.ts';
import { readImage } from './watcher-image.ts';

const folder = resolve(import.meta.dirname, '../../infra/watcher/kubernetes');
const text = (path: string): string => readFileSync(join(folder, path), 'utf8');

interface Container {
  readonly env: readonly { name: string; value: string }[];
  readonly ports: readonly { name: string; containerPort: number }[];
  readonly livenessProbe: { httpGet: { path: string; port: string } };
  readonly readinessProbe: { httpGet: { path: string; port: string } };
  readonly resources: { requests: { memory: string }; limits: { memory: string; cpu?: string } };
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { mountPath: string; subPath?: string }[];
}
interface Deployment {
  readonly metadata: { name: string; namespace: string };
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { rollingUpdate: unknown };
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly [Container];
      };
    };
  };
}
interface Kustomization {
  readonly configMapGenerator: readonly { name: string; behavior?: string; literals?: readonly string[]; files?: readonly string[] }[];
}

const deployment = load(text('base/deployment.yaml')) as Deployment;
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const image = readImage();
const overlays = readdirSync(join(folder, 'overlays'));

const mebibytes = (quantity: string): number => Number(/^(\d+)Mi$/.exec(quantity)?.[1]);

describe('infra/watcher/kubernetes/base', () => {
  it('has exactly the rights that `dogwatch rbac --for watcher > infra/watcher/kubernetes/base/rbac.yaml` writes', () => {
    assert.equal(text('base/rbac.yaml'), rbacYaml(answerFor('watcher', reconcilers)));
  });

  it('runs as the account that they are for', () => {
    const account = load(text('base/service-account.yaml')) as { metadata: { name: string; namespace: string } };
    assert.deepEqual({ kind: 'ServiceAccount', ...account.metadata }, WATCHER_ACCOUNT);
    assert.deepEqual([pod.serviceAccountName, deployment.metadata.namespace], [account.metadata.name, account.metadata.namespace]);
  });

  it('never has fewer than one ready', () => {
    assert.equal(deployment.spec.replicas, 1);
    assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
  });

  it('asks health where the image serves it, and lets a watcher that stops send its rest', () => {
    const port = Number(image.env['DOGWATCH_HTTP_ADDRESS']?.split(':').at(-1));
    assert.deepEqual(container.ports, [{ name: 'http', containerPort: port }]);
    assert.deepEqual(container.livenessProbe.httpGet, { path: '/livez', port: 'http' });
    assert.deepEqual(container.readinessProbe.httpGet, { path: '/readyz', port: 'http' });
    assert.ok(pod.terminationGracePeriodSeconds * 1000 > 1.5 * DRAIN_MS);
  });

  it('reserves the memory that the bench allows over 100,000 objects, and no limit slows a list', () => {
    const bench = readFileSync(resolve(import.meta.dirname, '../bench/main.ts'), 'utf8');
    const allowed = Number(/scripted: \{ objects: 100_000, maxMb: (\d+) \}/.exec(bench)?.[1]);
    const { requests, limits } = container.resources;
    assert.ok(mebibytes(requests.memory) >= allowed, `${requests.memory} for ${allowed} MB`);
    assert.ok(mebibytes(limits.memory) >= 1.5 * allowed);
    assert.equal(limits.cpu, undefined);
  });

  it('is restricted: no root, no capability, nothing to write to', () => {
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const { runAsNonRoot, runAsUser, runAsGroup, fsGroup, seccompProfile } = pod.securityContext;
    assert.deepEqual([runAsNonRoot, runAsUser, runAsGroup, fsGroup], [true, image.uid, image.gid, image.gid]);
    assert.deepEqual(seccompProfile, { type: 'RuntimeDefault' });
  });

  it('mounts the registry as a folder, for a change of a single file would never show', () => {
    const registry = container.env.find(({ name }) => name === 'DOGWATCH_CLUSTERS')?.value;
    const mount = container.volumeMounts.find(({ mountPath }) => registry?.startsWith(`${mountPath}/`));
    assert.ok(mount !== undefined && mount.subPath === undefined);
  });
});

describe('infra/watcher/kubernetes/overlays', () => {
  it('are an AWS identity of each kind, and many clusters', () => {
    assert.deepEqual(overlays.sort(), ['irsa', 'many-clusters', 'pod-identity']);
  });

  for (const overlay of overlays) {
    it(`has all that a watcher needs to start, and nothing that it does not know: ${overlay}`, async () => {
      const literals = ['base', `overlays/${overlay}`].flatMap((path) =>
        (load(text(`${path}/kustomization.yaml`)) as Kustomization).configMapGenerator.flatMap(({ literals: own = [] }) => own),
      );
      const settings = Object.fromEntries(literals.map((literal) => literal.split(/=(.*)/s).slice(0, 2) as [string, string]));
      const declared = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
      const config = readConfig({ ...image.env, ...settings, ...declared }, 'watcher');
      assert.equal(config.httpAddress.port, 8080);
      assert.equal(settings['AWS_REGION'], new URL(config.queueUrls.live).hostname.split('.')[1]);
    });
  }

  for (const path of ['base', ...overlays.map((overlay) => `overlays/${overlay}`)]) {
    it(`has a registry that can be read, in place of the base's, for whoever copies it to change: ${path}`, async () => {
      const entries = await readClusters(join(folder, path, 'clusters.yml'));
      assert.ok(entries.length > 0);
      const { configMapGenerator } = load(text(`${path}/kustomization.yaml`)) as Kustomization;
      const registry = configMapGenerator.find(({ name }) => name === 'dogwatch-clusters');
      assert.deepEqual([registry?.files, registry?.behavior], [['clusters.yml'], path === 'base' ? undefined : 'replace']);
    });
  }
});
