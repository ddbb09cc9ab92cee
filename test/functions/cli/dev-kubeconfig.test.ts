/** `dogwatch dev` in clusters that are somebody's: embedded servers of this process stand for them. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ClusterName } from '../../../events/resource.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import { type DevOptions, dev as runDev } from '../../../functions/cli/dev.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { createApplier } from '../../../infra/local/dev/apply-object.ts';
import { writeKubeconfig } from '../../infra/local/dev/kubeconfigs.ts';
import { DevProcess } from './dev-process.ts';

const TENANT = { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name: 'beta' } };

describe('dogwatch dev --kubeconfig', () => {
  let root: string;
  let servers: readonly ApiServer[];
  let dev: DevProcess | undefined;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-guest-'));
    servers = await Promise.all([startApiServer(), startApiServer()]);
  });
  after(async () => {
    dev?.kill();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(root, { recursive: true, force: true });
  });

  it('works in the clusters that answer, as a guest, and leaves everything there', { timeout: 120_000 }, async () => {
    const [good, stranger] = servers as [ApiServer, ApiServer];
    const kubeconfig = writeKubeconfig(root, { 'ada@good': { server: good }, stranger: { server: stranger, token: 'old' } });
    const manifest = join(root, 'tenant.json');
    const spec = { owner: 'a@b.example', quota: { cpu: '1', memory: '1Gi', pods: 1 }, members: [] };
    writeFileSync(manifest, JSON.stringify({ ...TENANT, spec }));
    dev = new DevProcess(['--kubeconfig', kubeconfig, '--context', 'ada@good', '--context', 'stranger', '--apply', manifest], {
      tmpDir: root,
    });

    await dev.seen(/^cluster ada-good: context ada@good of .*\/config, https:\/\/127\.0\.0\.1:\d+$/m);
    await dev.seen(/^CRDs are applied there where they are missing, .*samples are not$/m);
    await dev.seen(/^applied customresourcedefinition\/tenants\.platform\.example to ada-good, where it was not$/m);
    await dev.seen(/^error: stranger: .*\/config: context stranger: users\[stranger\]\.user is not accepted by https:\S+ \(401\)$/m);
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
    const applier = createApplier(kubeconfig, 'ada@good');
    assert.equal(await applier.apply({ ...TENANT, spec }), undefined, 'the CRD is still there');
    applier.close();
  });

  const wrong: readonly [options: Partial<DevOptions>, says: RegExp][] = [
    [{ kubeconfig: 'a', real: true }, /^--kubeconfig and --real exclude each other/],
    [{ kubeconfig: 'a', demo: true }, /^--demo and --kubeconfig exclude each other/],
    [{ real: true, demo: true }, /^--demo and --real exclude each other/],
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
