/** Which clusters take part in a development run: embedded servers stand for clusters that are somebody's. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { customResourceDefinition } from '../../../../functions/core/custom-resource-definition.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { queueClaim } from '../../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { createClusterCalls } from '../../../../infra/local/dev/cluster-calls.ts';
import type { Crd } from '../../../../infra/local/dev/crd-calls.ts';
import type { DevCluster } from '../../../../infra/local/dev/dev-clusters.ts';
import { type SessionClusters, sessionClusters } from '../../../../infra/local/dev/session-clusters.ts';
import { type ContextSpec, writeKubeconfig } from './kubeconfigs.ts';

const TENANT = { ...customResourceDefinition(tenant.resource) } as unknown as Crd;
const QUEUE_CLAIM = { ...customResourceDefinition(queueClaim.resource) } as unknown as Crd;

describe('sessionClusters', () => {
  let dir: string;
  let servers: readonly [ApiServer, ApiServer];
  let told: string[];
  let left: string[] | undefined;
  const opened: SessionClusters<DevCluster>[] = [];

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-members-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    servers = await Promise.all([startApiServer(), startApiServer()]);
    told = [];
    left = undefined;
  });
  afterEach(async () => {
    for (const clusters of opened.splice(0)) clusters.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  function open(contexts: Readonly<Record<string, ContextSpec & Partial<DevCluster>>>): SessionClusters<DevCluster> {
    const kubeconfigPath = writeKubeconfig(dir, contexts);
    const all = Object.entries(contexts).map(([name, { isOwn = false, isTakenOver = false }]) => ({
      ...{ name, context: name, kubeconfigPath, isOwn, isTakenOver },
    }));
    const clusters = sessionClusters(
      all,
      (event) => told.push('text' in event ? `${event.kind}: ${event.text}` : event.kind),
      (some) => (left = some.map(({ name }) => name)),
    );
    opened.push(clusters);
    return clusters;
  }

  async function applyAs(manager: string, crd: Crd, server = servers[1]): Promise<void> {
    const calls = createClusterCalls({ kubeconfigPath: writeKubeconfig(dir, { any: { server } }), context: 'any' });
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}?fieldManager=${manager}&force=true`;
    const answer = await calls.send({ method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: JSON.stringify(crd) });
    assert.ok(answer.kind === 'answer' && answer.status < 300);
    calls.close();
  }

  const namesOf = (clusters: SessionClusters<DevCluster>): string[] => clusters.all().map(({ name }) => name);

  it('takes in a cluster without the kinds, and one where only a development run has applied them', async () => {
    await applyAs('dogwatch-dev', TENANT);
    const clusters = open({ one: { server: servers[0] }, two: { server: servers[1] } });
    await clusters.admit([TENANT, QUEUE_CLAIM]);
    assert.deepEqual([namesOf(clusters), [...clusters.appliers().keys()], told, left], [['one', 'two'], ['one', 'two'], [], undefined]);
  });

  for (const [who, managers] of [
    ['a Dogwatch that is deployed', ['dogwatch']],
    ['somebody who has taken it over from a development run', ['dogwatch-dev', 'argocd']],
  ] as const)
    it(`leaves out a cluster where ${who} has applied one of them, and goes on with the other`, async () => {
      for (const manager of managers) await applyAs(manager, { ...QUEUE_CLAIM, spec: { ...QUEUE_CLAIM.spec } });
      const conflicting = managers.at(-1);
      if (managers.length > 1) await applyAs(conflicting ?? '', withShortName(QUEUE_CLAIM));
      const clusters = open({ one: { server: servers[0] }, two: { server: servers[1] } });
      await clusters.admit([TENANT, QUEUE_CLAIM]);
      assert.deepEqual([namesOf(clusters), Array.from(clusters.kept, ({ name }) => name), left], [['one'], ['one'], ['one']]);
      assert.equal(told.length, 1);
      assert.match(
        told[0] ?? '',
        new RegExp(`^notice: context two is left out: the definition of QueueClaim there is applied by ${conflicting}, .*--take-over$`),
      );
    });

  it('is not held up by a definition of a kind that this code has not', async () => {
    await applyAs('dogwatch', QUEUE_CLAIM);
    const clusters = open({ two: { server: servers[1] } });
    await clusters.admit([TENANT]);
    assert.deepEqual([namesOf(clusters), told], [['two'], []]);
  });

  it('refuses where none is left, and has it taken part until then', async () => {
    await applyAs('dogwatch', QUEUE_CLAIM);
    const clusters = open({ two: { server: servers[1] } });
    await clusters.admit([TENANT]);
    await assert.rejects(
      clusters.admit([TENANT, QUEUE_CLAIM]),
      (error: unknown) => error instanceof ConfigError && /^context two is left out: .*QueueClaim/.test(error.message),
    );
    assert.deepEqual([namesOf(clusters), left], [['two'], undefined]);
  });

  it('takes in one that was taken over, and its own, whoever has applied what there', async () => {
    await Promise.all(servers.map((server) => applyAs('dogwatch', TENANT, server)));
    const clusters = open({ own: { server: servers[0], isOwn: true }, two: { server: servers[1], isTakenOver: true } });
    await clusters.admit([TENANT]);
    assert.deepEqual([namesOf(clusters), told], [['own', 'two'], []]);
  });

  it('leaves out one that does not say who has applied them', async () => {
    const clusters = open({ one: { server: servers[0] }, two: { server: servers[1], token: 'old' } });
    await clusters.admit([TENANT]);
    assert.deepEqual(namesOf(clusters), ['one']);
    assert.match(
      told.join('\n'),
      /^notice: context two is left out: whether another Dogwatch reconciles Tenant there is not known: .*\(401\); /,
    );
  });

  it('does not ask a second time for what was found to be nobody’s', async () => {
    const clusters = open({ two: { server: servers[1] } });
    await clusters.admit([TENANT]);
    await servers[1].down();
    await clusters.admit([TENANT]);
    assert.deepEqual([namesOf(clusters), told], [['two'], []]);
  });

  for (const isTakenOver of [false, true])
    it(`leaves out one that is another one under another address${isTakenOver ? ', taken over or not' : ''}`, async () => {
      const [one] = servers;
      const url = one.url.replace('127.0.0.1', 'localhost');
      const clusters = open({ one: { server: one, isTakenOver }, two: { server: one, url, isTakenOver } });
      await clusters.admit([TENANT]);
      assert.deepEqual(namesOf(clusters), ['one']);
      assert.match(told.join('\n'), /^notice: context two is left out: it leads to the same cluster as context one, /);
    });
});

function withShortName(crd: Crd): Crd {
  const names = { ...crd.spec.names, shortNames: ['qc'] };
  return { ...crd, spec: { ...crd.spec, names } };
}
