/** Tenant under watcher and function: what becomes of its children over time, also where the function dies. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { type Bench, forEachCrash, startBench } from '../../../infra/local/testing/index.ts';

const spec = { owner: 'ann@acme.example', quota: { cpu: '4', memory: '8Gi', pods: 20 } };
const tenantWith = (...members: string[]) => ({
  apiVersion: 'platform.example/v1',
  kind: 'Tenant',
  metadata: { name: 'acme' },
  spec: { ...spec, members },
});
const BOB = 'bob@acme.example';
const CY = 'cy@acme.example';

describe('a Tenant that runs', () => {
  /** Who is bound to a role in the tenant's namespace. */
  const bound = async (bench: Bench): Promise<string[]> =>
    (await bench.list('RoleBinding')).flatMap(({ subjects }) => (subjects as { name: string }[]).map(({ name }) => name)).sort();

  it('binds its members and nobody else, wherever the function dies', async () => {
    const { effects } = await forEachCrash({ reconcilers: [tenant], only: /RoleBinding|status/ }, async (bench) => {
      await bench.apply(tenantWith(BOB));
      await bench.settle();
      await bench.apply(tenantWith(CY));
      await bench.settle();
      assert.deepEqual(await bound(bench), [CY]);
      const { status } = (await bench.get('Tenant', 'acme')) ?? {};
      assert.deepEqual([status?.['members'], status?.['observedGeneration']], [1, 2]);
      assert.deepEqual(bench.deadLetters, []);
    });
    assert.ok(effects.some((effect) => effect.startsWith('delete RoleBinding tenant-acme/member-')));
  });

  it('puts back what somebody takes away, by one run', async () => {
    await using bench = await startBench({ reconcilers: [tenant] });
    await bench.apply(tenantWith(BOB));
    await bench.settle();
    bench.clearRecords();
    await bench.delete('ResourceQuota', 'tenant-acme/tenant');
    await bench.settle();
    const quota = await bench.get('ResourceQuota', 'tenant-acme/tenant');
    assert.deepEqual(quota?.spec?.['hard'], { 'requests.cpu': '4', 'requests.memory': '8Gi', pods: '20' });
    assert.deepEqual(
      bench.outcomes.map(({ reason, branch }) => [reason, branch]),
      [['child-changed', 'reconciled']],
    );
  });

  it('takes its namespace and all that is in it along', async () => {
    await using bench = await startBench({ reconcilers: [tenant] });
    await bench.apply(tenantWith(BOB));
    await bench.settle();
    await bench.delete('Tenant', 'acme');
    await bench.settle();
    assert.deepEqual([await bench.get('Namespace', 'tenant-acme'), await bound(bench)], [undefined, []]);
  });
});
