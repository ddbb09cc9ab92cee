/** Children that somebody else changes or deletes are as their Tenant wants them again; what is not ours costs nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiObject, until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { changeTenant, createTenant, settled } from './tenants.ts';

const SENT = ['dogwatch_sends_total', 'result="sent"'] as const;
const NAMESPACE = '/api/v1/namespaces/tenant-drift';
const QUOTA = `${NAMESPACE}/resourcequotas/tenant`;
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/namespaces/tenant-drift/rolebindings';
const OWNER_LABEL = 'dogwatch.dev/owner';

describe('a child of a Tenant', () => {
  let system: System;
  let binding = '';

  before(async () => {
    // One object drifts again and again here, which the watcher would hold back for longer and longer.
    system = await startSystem({ env: { DOGWATCH_HOLD_MAX_SECONDS: '1' } });
    await createTenant(system.api, 'drift');
    await createTenant(system.api, 'sentinel');
    await Promise.all(['drift', 'sentinel'].map((name) => settled(system.api, name)));
    await quiet();
    const [only] = (await system.api.get(BINDINGS)).body.items;
    binding = `${BINDINGS}/${only?.metadata.name}`;
  });
  after(async () => {
    await system?.stop();
  });

  /** Resolves once all that has happened was watched, sent and worked through. */
  async function quiet(): Promise<void> {
    await until('nothing waits in the watcher', async () => (await system.metric('dogwatch_outbox_depth')) === 0 || undefined);
    await system.drained();
  }

  /** The reasons of the Tenant's runs so far, in order. */
  function runs(name = 'drift'): string[] {
    const lines = system.functionHost.lines.filter((line) => line.includes('"branch":') && line.includes(`Tenant//${name}"`));
    return lines.map((line) => /"reason":"([a-z-]+)"/.exec(line)?.[1] ?? line);
  }

  async function read(path: string): Promise<ApiObject> {
    const { status, body } = await system.api.get(path);
    assert.equal(status, 200, `${path}: ${body.message}`);
    return body;
  }

  /**
   * Takes our label off a child of each kind of another Tenant and waits until it is back: by then the watcher has handled
   * all that was in those streams before.
   */
  async function passSentinel(): Promise<void> {
    const paths = [NAMESPACE, QUOTA, binding].map((path) => path.replace('tenant-drift', 'tenant-sentinel'));
    for (const path of paths) {
      assert.equal((await system.api.merge(path, { metadata: { labels: { [OWNER_LABEL]: null } } })).status, 200);
    }
    for (const path of paths) {
      await until(`${path} has its label again`, async () => (await read(path)).metadata.labels?.[OWNER_LABEL]);
    }
    await quiet();
  }

  const hard = { pods: '20', 'requests.cpu': '4', 'requests.memory': '8Gi' };
  const writes: readonly (readonly [name: string, write: () => Promise<unknown>, isRestored: () => Promise<boolean>])[] = [
    [
      'a value by merge patch',
      () => system.api.merge(QUOTA, { spec: { hard: { pods: '99' } } }),
      async () => JSON.stringify((await read(QUOTA)).spec) === JSON.stringify({ hard }),
    ],
    [
      'a value by kubectl patch, as kubectl edit sends it',
      () =>
        system.kubectl(['patch', 'resourcequota', 'tenant', '-n', 'tenant-drift', '--patch', '{"spec":{"hard":{"requests.cpu":"64"}}}']),
      async () => JSON.stringify((await read(QUOTA)).spec) === JSON.stringify({ hard }),
    ],
    [
      'a field that is removed by PUT of the whole object',
      async () => {
        const { metadata, ...quota } = await read(QUOTA);
        // Without a version: the controller of quotas may write a status at any time.
        const body = { ...quota, metadata: { ...metadata, resourceVersion: undefined }, spec: { hard: { pods: '20' } } };
        assert.equal((await system.api.put(QUOTA, body)).status, 200);
      },
      async () => JSON.stringify((await read(QUOTA)).spec) === JSON.stringify({ hard }),
    ],
    [
      'the subject of a role binding',
      () => system.api.merge(binding, { subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }] }),
      async () => JSON.stringify(await read(binding)).includes('ada@acme.example'),
    ],
    [
      'our label on the namespace',
      () => system.api.merge(NAMESPACE, { metadata: { labels: { [OWNER_LABEL]: null } } }),
      async () => (await read(NAMESPACE)).metadata.labels?.[OWNER_LABEL] !== undefined,
    ],
  ];
  for (const [name, write, isRestored] of writes) {
    it(`that lost ${name} is restored by one run`, async (t) => {
      const before = runs().length;
      const began = Date.now();
      await write();
      await until('the child is restored', async () => ((await isRestored()) ? true : undefined));
      t.diagnostic(`restored after ${Date.now() - began} ms`);
      await passSentinel();
      assert.deepEqual(runs().slice(before), ['child-changed']);
    });
  }

  it('that is deleted is made again, the namespace with all that was in it', async (t) => {
    for (const path of [QUOTA, binding, NAMESPACE]) {
      const { uid } = (await read(path)).metadata;
      const began = Date.now();
      assert.equal((await system.api.delete(path)).status, 200);
      const anew = async (): Promise<true | undefined> => {
        const { status, body } = await system.api.get(path);
        return (status === 200 && body.metadata.uid !== uid) || undefined;
      };
      await until(`${path} is there again`, anew, 120_000);
      t.diagnostic(`${path} made again after ${Date.now() - began} ms`);
    }
    for (const path of [QUOTA, binding]) {
      await until(`${path} is in the new namespace`, async () => (await system.api.get(path)).status === 200 || undefined, 60_000);
    }
    await passSentinel();
    assert.equal((await system.depth('dead-letters')).total, 0);
  });

  it('costs no message for 300 status updates and 100 foreign annotations', async (t) => {
    await passSentinel();
    const sentBefore = await system.metric(...SENT);
    const [before, sentinelBefore] = [runs().length, runs('sentinel').length];
    for (let used = 0; used < 300; used += 1) {
      assert.equal((await system.api.merge(`${QUOTA}/status`, { status: { used: { pods: String(used) } } })).status, 200);
      if (used % 3 > 0) continue;
      const path = [QUOTA, binding, NAMESPACE][(used % 9) / 3] ?? '';
      assert.equal((await system.api.merge(path, { metadata: { annotations: { 'example.com/note': String(used) } } })).status, 200);
    }
    await passSentinel();
    const sent = (await system.metric(...SENT)) - sentBefore;
    const ofSentinel = runs('sentinel').length - sentinelBefore;
    t.diagnostic(`${sent} sent for 300 status updates, 100 annotations and ${ofSentinel} runs of the sentinel`);
    assert.ok(ofSentinel > 0);
    assert.deepEqual([sent, runs().length], [ofSentinel, before]);
  });

  it('makes no echo of our own values, and at most one of a child that leaves the Plan', async (t) => {
    const before = runs().length;
    await changeTenant(system.api, 'drift', { quota: { cpu: '5', memory: '9Gi', pods: 21 } });
    await settled(system.api, 'drift');
    await passSentinel();
    assert.deepEqual(runs().slice(before), ['generation-changed']);
    await changeTenant(system.api, 'drift', { members: ['grace@acme.example'] });
    await settled(system.api, 'drift');
    await passSentinel();
    await quiet();
    const echoes = runs().slice(before + 2);
    t.diagnostic(`runs after a prune: ${echoes.length}`);
    assert.ok(echoes.length <= 1 && echoes.every((reason) => reason === 'child-changed'), echoes.join(' '));
  });
});
