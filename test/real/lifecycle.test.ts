/** One Tenant from creation to re-creation, on real parts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, conditionOf, createTenant, gone, settled, TENANTS } from './tenants.ts';

const bindingOf = (email: string): string => `member-${createHash('sha256').update(email).digest('hex').slice(0, 16)}`;
const bindings = (namespace: string): string => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;

describe('a Tenant, through watcher, queue and packaged function', () => {
  let system: System;

  before(async () => {
    system = await startSystem({ env: { DOGWATCH_HEARTBEAT_SECONDS: '5' } });
  });
  after(async () => {
    await system?.stop();
  });

  it('makes namespace, quota and role binding, and reports them in its status', async (t) => {
    const began = Date.now();
    await createTenant(system.api, 'acme');
    const object = await settled(system.api, 'acme');
    t.diagnostic(`created and settled in ${Date.now() - began} ms, cold function included`);
    assert.equal(object.status?.['namespace'], 'tenant-acme');
    assert.equal(conditionOf(object, 'Ready')?.observedGeneration, object.metadata.generation);
    const quota = await system.api.get('/api/v1/namespaces/tenant-acme/resourcequotas/tenant');
    assert.deepEqual(quota.body.spec, { hard: { pods: '20', 'requests.cpu': '4', 'requests.memory': '8Gi' } });
    const binding = await system.api.get(`${bindings('tenant-acme')}/${bindingOf('ada@acme.example')}`);
    assert.equal(binding.status, 200);
    assert.equal(binding.body.metadata.labels?.['dogwatch.dev/owner'], object.metadata.uid);
  });

  it('hears the cluster’s heartbeat through the queue', async () => {
    const line = await system.functionHost.line(/"message":"heartbeat"/);
    assert.match(line, /"cluster":"east"/);
  });

  it('follows a change: a member who joined has a role binding, one who left has lost his', async () => {
    await changeTenant(system.api, 'acme', { members: ['ada@acme.example', 'grace@acme.example'] });
    await settled(system.api, 'acme');
    assert.equal((await system.api.get(bindings('tenant-acme'))).body.items.length, 2);
    await changeTenant(system.api, 'acme', { members: ['grace@acme.example'] });
    await settled(system.api, 'acme');
    const left = (await system.api.get(bindings('tenant-acme'))).body.items.map((item) => item.metadata.name);
    assert.deepEqual(left, [bindingOf('grace@acme.example')]);
  });

  it('shows Ready, Reason, Observed and Attempted to kubectl', async () => {
    const [head = '', row = ''] = (await system.kubectl(['get', 'tenants', '-o', 'wide'])).split('\n');
    const columns = head.trim().split(/\s+/);
    for (const column of ['READY', 'REASON', 'OBSERVED', 'ATTEMPTED']) assert.ok(columns.includes(column), head);
    const cells = row.trim().split(/\s+/);
    assert.deepEqual(
      ['READY', 'REASON', 'OBSERVED', 'ATTEMPTED'].map((column) => cells[columns.indexOf(column)]),
      ['True', 'Reconciled', '3', '3'],
    );
  });

  it('shows within seconds why a Tenant cannot succeed', async (t) => {
    const name = 'x'.repeat(60);
    const began = Date.now();
    await createTenant(system.api, name);
    const condition = await until(
      'Ready=False on the impossible tenant',
      async () => {
        const found = conditionOf((await system.api.get(`${TENANTS}/${name}`)).body, 'Ready');
        return found?.status === 'False' ? found : undefined;
      },
      30_000,
    );
    t.diagnostic(`Ready=False after ${Date.now() - began} ms: ${condition.reason}, ${condition.message}`);
    assert.equal(condition.reason, 'InvalidPlan');
    assert.equal(condition.observedGeneration, 1);
    const table = await system.kubectl(['get', 'tenant', name, '-o', 'wide']);
    assert.match(table, /False\s+InvalidPlan/);
    await system.api.delete(`${TENANTS}/${name}`);
  });

  it('lets a deleted Tenant go with everything that it owned', async (t) => {
    const began = Date.now();
    await system.api.delete(`${TENANTS}/acme`);
    await gone(system.api, `${TENANTS}/acme`);
    await gone(system.api, '/api/v1/namespaces/tenant-acme', 120_000);
    t.diagnostic(`children gone after ${Date.now() - began} ms`);
  });

  it('settles a Tenant that is deleted and made again under its name at once', async (t) => {
    const first = await createTenant(system.api, 'phoenix');
    await settled(system.api, 'phoenix');
    await system.api.delete(`${TENANTS}/phoenix`);
    await gone(system.api, `${TENANTS}/phoenix`);
    const began = Date.now();
    const second = await createTenant(system.api, 'phoenix', { members: ['new@acme.example'] });
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    const object = await settled(system.api, 'phoenix', 120_000);
    t.diagnostic(`re-created and settled in ${Date.now() - began} ms`);
    assert.equal(object.metadata.uid, second.metadata.uid);
    const namespace = await system.api.get('/api/v1/namespaces/tenant-phoenix');
    assert.equal(namespace.body.metadata.labels?.['dogwatch.dev/owner'], second.metadata.uid);
    assert.equal((await system.api.get(`${bindings('tenant-phoenix')}/${bindingOf('new@acme.example')}`)).status, 200);
  });

  it('settles 200 Tenants made at once', async (t) => {
    const before = await system.api.get(TENANTS);
    const began = Date.now();
    const names = Array.from({ length: 200 }, (_, index) => `load-${index}`);
    await Promise.all(names.map((name) => createTenant(system.api, name)));
    const made = Date.now() - began;
    await allSettled(system.api, before.body.items.length + names.length);
    t.diagnostic(`200 tenants made in ${made} ms, all settled after ${Date.now() - began} ms`);
    await system.drained();
    assert.equal((await system.depth('dead-letters')).total, 0);
  });
});
