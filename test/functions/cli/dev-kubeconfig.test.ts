/** `dogwatch dev` in clusters that are somebody's: embedded servers of this process stand for them. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ClusterName } from '../../../events/resource.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import { type DevOptions, dev as runDev } from '../../../functions/cli/dev.ts';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { createApplier } from '../../../infra/local/dev/apply-object.ts';
import { writeKubeconfig } from '../../infra/local/dev/kubeconfigs.ts';
import { DevProcess } from './dev-process.ts';

const TENANT = { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name: 'beta' } };
const CUSTOM_RESOURCE_DEFINITIONS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' },
  ...{ plural: 'customresourcedefinitions', scope: 'Cluster' as const },
};

describe('dogwatch dev --kubeconfig', () => {
  let root: string;
  let servers: readonly ApiServer[];
  let dev: DevProcess | undefined;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-guest-'));
    servers = await Promise.all([startApiServer(), startApiServer(), startApiServer()]);
  });
  after(async () => {
    dev?.kill();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(root, { recursive: true, force: true });
  });

  it('works in the clusters that answer, as a guest, and leaves everything there', { timeout: 120_000 }, async () => {
    const [good, stranger, prod] = servers as [ApiServer, ApiServer, ApiServer];
    const kubeconfig = writeKubeconfig(root, {
      'ada@good': { server: good },
      stranger: { server: stranger, token: 'old' },
      prod: { server: prod },
      twin: { server: good, url: good.url.replace('127.0.0.1', 'localhost') },
    });
    const deployed = createKubernetesClient({
      cluster: 'prod' as ClusterName,
      kubeConfig: { kind: 'file', path: kubeconfig, context: 'prod' },
    });
    await deployed.apply(CUSTOM_RESOURCE_DEFINITIONS, customResourceDefinition(tenant.resource));
    const manifest = join(root, 'tenant.json');
    const spec = { owner: 'a@b.example', quota: { cpu: '1', memory: '1Gi', pods: 1 }, members: [] };
    writeFileSync(manifest, JSON.stringify({ ...TENANT, spec }));
    const contexts = ['ada@good', 'stranger', 'prod', 'twin'].flatMap((context) => ['--context', context]);
    dev = new DevProcess(['--kubeconfig', kubeconfig, ...contexts, '--apply', manifest], { tmpDir: root });

    await dev.seen(/^cluster ada-good: context ada@good of .*\/config, https:\/\/127\.0\.0\.1:\d+$/m);
    await dev.seen(/^CRDs are applied there where they are missing, .*samples are not$/m);
    await dev.seen(/^applied customresourcedefinition\/tenants\.platform\.example to ada-good, where it was not$/m);
    await dev.seen(
      /^error: context stranger is left out: .*context stranger: users\[stranger\]\.user is not accepted by https:\S+ \(401\); /m,
    );
    await dev.seen(/^error: context prod is left out: the definition of Tenant there is applied by dogwatch, .*--take-over$/m);
    await dev.seen(/^error: context twin is left out: it leads to the same cluster as context ada@good, /m);
    await dev.seen(/^applied .*tenant\.json to ada-good: tenant\/beta$/m);
    await dev.seen(/^outcome .*ada-good\/Tenant\/beta {2}reconciled {2}created/m);
    await dev.seen(/^1\. make an object where you may: kubectl --context ada@good /m);

    dev.interrupt();
    assert.equal(await dev.ended, 0, dev.output);
    assert.doesNotMatch(dev.output, /Tenant\/acme|QueueClaim\/default\/jobs/, 'no samples');
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('dogwatch-')),
      [],
    );
    const client = createKubernetesClient({
      cluster: 'good' as ClusterName,
      kubeConfig: { kind: 'file', path: kubeconfig, context: 'ada@good' },
    });
    assert.equal((await client.get(tenant.resource, { name: 'beta' }))?.metadata.name, 'beta');
    client.close();
    assert.equal(await deployed.servedKind(queueClaim.resource), undefined, 'nothing is applied to a cluster that is left out');
    deployed.close();
    const applier = createApplier(kubeconfig, 'ada@good');
    assert.equal(await applier.apply({ ...TENANT, spec }), undefined, 'the CRD is still there');
    applier.close();
  });

  it('ends with code 2 where every cluster is another Dogwatch’s', { timeout: 120_000 }, async () => {
    const [, , prod] = servers as [ApiServer, ApiServer, ApiServer];
    const kubeconfig = writeKubeconfig(root, { prod: { server: prod } });
    dev = new DevProcess(['--kubeconfig', kubeconfig, '--context', 'prod'], { tmpDir: root });
    assert.equal(await dev.ended, 2, dev.output);
    assert.match(dev.output, /^dogwatch: context prod is left out: the definition of Tenant there is applied by dogwatch, /m);
    assert.doesNotMatch(dev.output, /^(outcome|applied) /m);
  });

  const wrong: readonly [options: Partial<DevOptions>, says: RegExp][] = [
    [{ kubeconfig: 'a', real: true }, /^--kubeconfig and --real exclude each other/],
    [{ kubeconfig: 'a', demo: true }, /^--demo and --kubeconfig exclude each other/],
    [{ real: true, demo: true }, /^--demo and --real exclude each other/],
    [{ takeOver: true }, /^--take-over goes with --kubeconfig FILE/],
    [{ context: ['a'] }, /^--context names a context of --kubeconfig FILE$/],
  ];
  for (const [options, says] of wrong)
    it(`is a usage error with ${Object.keys(options).join(' and ')}`, async () => {
      await assert.rejects(
        runDev({}, { apply: [], ...options }),
        (error: unknown) => error instanceof ConfigError && says.test(error.message),
      );
    });
});
