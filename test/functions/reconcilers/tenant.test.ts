import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import { TerminalError } from '../../../functions/core/errors.ts';
import { type CheckedPlan, checkPlan } from '../../../functions/core/plan.ts';
import type { Plan } from '../../../functions/core/reconciler.ts';
import { parseObject } from '../../../functions/core/resource-definition.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';

const spec = { owner: 'ann@acme.example', quota: { cpu: '4', memory: '8Gi', pods: 20 }, members: ['bob@acme.example', 'cy@acme.example'] };
const log = { info: () => {}, warn: () => {} };

function objectOf(name: string, change: object = {}) {
  const metadata = { name, uid: 'uid-1', resourceVersion: '7', generation: 1 };
  return { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata, spec: { ...spec, ...change } };
}

/** What the reconciler wants for a Tenant, as the framework would see it. */
async function planFor(name: string, change: object = {}): Promise<CheckedPlan> {
  const object = parseObject(tenant.resource, objectOf(name, change));
  const key = { cluster: clusterName('east'), group: 'platform.example', kind: 'Tenant', name };
  const read = () => Promise.resolve(undefined);
  const plan: Plan = await tenant.reconcile({ key, object, read, now: new Date(0), log, signal: new AbortController().signal });
  return checkPlan(tenant, { key, metadata: object.metadata }, plan);
}

function namesIn(plan: CheckedPlan): string[] {
  return plan.children.map(({ body }) => `${body.kind} ${body.metadata.namespace ?? ''}/${body.metadata.name}`);
}

describe('the Tenant reconciler', () => {
  it('makes a namespace with a quota, and a binding for each member', async () => {
    const plan = await planFor('acme');
    assert.deepEqual(namesIn(plan), [
      'Namespace /tenant-acme',
      'ResourceQuota tenant-acme/tenant',
      'RoleBinding tenant-acme/member-2debe85f147dc38a',
      'RoleBinding tenant-acme/member-0b96ec9a7416c489',
    ]);
    assert.deepEqual(plan.status, { namespace: 'tenant-acme', members: 2 });
    assert.deepEqual(plan.children[1]?.body['spec'], { hard: { 'requests.cpu': '4', 'requests.memory': '8Gi', pods: '20' } });
  });

  it('binds each member to a role that is declared in grants', async () => {
    const [, , binding] = (await planFor('acme')).children;
    assert.deepEqual(binding?.body['subjects'], [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob@acme.example' }]);
    const role = binding?.body['roleRef'] as { kind: string; name: string };
    assert.deepEqual(tenant.grants, [{ kind: role.kind, name: role.name }]);
  });

  it('keeps the names of bindings when members come, go or change places', async () => {
    const [bob, , both] = await Promise.all(
      [['bob@acme.example'], [], spec.members.toReversed()].map((members) => planFor('acme', { members })),
    );
    assert.ok(bob && both);
    assert.ok(namesIn(both).includes(namesIn(bob)[2] ?? ''));
    assert.equal(both.digest, (await planFor('acme')).digest);
    assert.notEqual(bob.digest, both.digest);
  });

  it('needs no members', async () => {
    const plan = await planFor('acme', { members: undefined });
    assert.deepEqual(plan.status, { namespace: 'tenant-acme', members: 0 });
  });

  for (const name of ['a', 'a'.repeat(56)]) {
    it(`takes a name of ${name.length} characters`, async () => assert.equal((await planFor(name)).children.length, 4));
  }

  for (const name of ['a'.repeat(57), 'team.a']) {
    it(`refuses the name ${name.slice(0, 8)} of ${name.length} characters and says why`, async () => {
      await assert.rejects(
        planFor(name),
        (error) => error instanceof TerminalError && error.code === 'invalid-plan' && /56 characters/.test(error.message),
      );
    });
  }

  const refused: { name: string; change: object; field: string }[] = [
    { name: 'an owner that is no e-mail address', change: { owner: 'ann' }, field: 'spec.owner' },
    { name: 'a quota that is no quantity', change: { quota: { ...spec.quota, cpu: 'four' } }, field: 'spec.quota.cpu' },
    { name: 'a negative number of pods', change: { quota: { ...spec.quota, pods: -1 } }, field: 'spec.quota.pods' },
    { name: 'a member who is named twice', change: { members: ['bob@acme.example', 'bob@acme.example'] }, field: 'spec.members' },
    { name: 'a member without an address', change: { members: ['bob'] }, field: 'spec.members.0' },
  ];
  for (const { name, change, field } of refused) {
    it(`does not run for ${name}`, () => {
      assert.throws(
        () => parseObject(tenant.resource, objectOf('acme', change)),
        (error) => error instanceof TerminalError && error.code === 'invalid-object' && error.message.includes(`${field}: `),
      );
    });
  }

  for (const cpu of ['4', '500m', '0.5', '2k', '1Ki']) {
    it(`takes ${cpu} for a quantity`, () => {
      assert.doesNotThrow(() => parseObject(tenant.resource, objectOf('acme', { quota: { ...spec.quota, cpu } })));
    });
  }
});
