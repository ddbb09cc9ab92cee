/** What one change costs the API server, from its audit log. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AuditEvent, readAudit } from '../../infra/local/control-plane/audit.ts';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { changeTenant, createTenant, settled } from './tenants.ts';

describe('API requests of the function', () => {
  let system: System;

  before(async () => {
    system = await startSystem({ env: { DOGWATCH_HOLD_MAX_SECONDS: '1' } });
    await createTenant(system.api, 'cost', { members: ['a@acme.example', 'b@acme.example'] });
    await settled(system.api, 'cost');
    await system.drained();
  });
  after(async () => {
    await system?.stop();
  });

  it('are one GET, one PATCH a child and one status PATCH for a change that keeps the set of children', async (t) => {
    const used = await requestsOf(system, () => changeTenant(system.api, 'cost', { quota: { cpu: '5', memory: '9Gi', pods: 21 } }));
    t.diagnostic(used.join(', '));
    assert.deepEqual(used, [
      'get tenants 1',
      'patch namespaces 1',
      'patch resourcequotas 1',
      'patch rolebindings 2',
      'patch tenants/status 1',
    ]);
  });

  it('add a LIST for each owned kind and a metadata GET for each new child when the set changes', async (t) => {
    const used = await requestsOf(system, () =>
      changeTenant(system.api, 'cost', { members: ['a', 'b', 'c'].map((name) => `${name}@acme.example`) }),
    );
    t.diagnostic(used.join(', '));
    assert.deepEqual(used, [
      'get rolebindings 1',
      'get tenants 1',
      'list namespaces 1',
      'list resourcequotas 1',
      'list rolebindings 1',
      'patch namespaces 1',
      'patch resourcequotas 1',
      'patch rolebindings 3',
      'patch tenants/status 1',
    ]);
  });

  it('are those of two runs when a child leaves the Plan: its end is news like any other, and the second changes nothing', async (t) => {
    const used = await requestsOf(system, async () => {
      await changeTenant(system.api, 'cost', { members: ['c@acme.example'] });
      await until('the run after the prune', () => runs(system).length > 4 || undefined);
    });
    t.diagnostic(used.join(', '));
    assert.deepEqual(used, [
      'delete rolebindings 2',
      'get tenants 2',
      'list namespaces 2',
      'list resourcequotas 2',
      'list rolebindings 2',
      'patch namespaces 2',
      'patch resourcequotas 2',
      'patch rolebindings 2',
      'patch tenants/status 2',
    ]);
  });

  it('are none once the queue is empty: nothing but a prune makes an echo', async () => {
    assert.deepEqual(
      runs(system).map((line) => /"reason":"([a-z-]+)"/.exec(line)?.[1]),
      ['created', 'generation-changed', 'generation-changed', 'generation-changed', 'child-changed'],
    );
  });
});

/** The log lines of the Tenant's runs. */
function runs(system: System): string[] {
  return system.functionHost.lines.filter((line) => line.includes('"branch":') && line.includes('Tenant//cost"'));
}

/** Verb, resource and count of what the function asked for during `change` and until all is quiet; Events apart. */
async function requestsOf(system: System, change: () => Promise<unknown>): Promise<string[]> {
  const plane = system.lab.clusters.get('east');
  if (plane?.auditLogPath === undefined) throw new Error('the lab was started without an audit log');
  const path = plane.auditLogPath;
  const before = readAudit(path).length;
  await change();
  await settled(system.api, 'cost');
  await until('nothing waits in the watcher', async () => (await system.metric('dogwatch_outbox_depth')) === 0 || undefined);
  await system.drained();
  const used = readAudit(path)
    .slice(before)
    .filter((event) => event.user === 'dogwatch-reconcile' && event.resource !== 'events');
  const counts = new Map<string, number>();
  for (const event of used) counts.set(nameOf(event), (counts.get(nameOf(event)) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).sort();
}

function nameOf(event: AuditEvent): string {
  return `${event.verb} ${event.resource}${event.subresource ? `/${event.subresource}` : ''}`;
}
