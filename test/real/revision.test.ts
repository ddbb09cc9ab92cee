/** A release whose code does something else runs every object once, and a paused one not before its pause ends. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiObject, until } from './api.ts';
import { runsOf } from './runs.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, conditionOf, createTenant, gone, isSettled, settled, TENANTS } from './tenants.ts';

const OBJECTS = 30;
const PAUSED = 'dogwatch.dev/paused';
const QUOTA = '/api/v1/namespaces/tenant-paused/resourcequotas/tenant';

describe('Tenants, one of them paused', () => {
  let system: System;
  const names = Array.from({ length: OBJECTS }, (_, index) => `revised-${index}`);

  before(async () => {
    system = await startSystem();
    await Promise.all([...names, 'paused'].map((name) => createTenant(system.api, name)));
    await allSettled(system.api, OBJECTS + 1);
    await pause('paused', '');
    await until('the pause is noted', () => runsOf(system, '/paused').some(({ branch }) => branch === 'paused') || undefined);
    await quiet();
  });
  after(async () => {
    await system?.stop();
  });

  const read = async (name: string): Promise<ApiObject> => (await system.api.get(`${TENANTS}/${name}`)).body;
  async function pause(name: string, value: string | null): Promise<void> {
    assert.equal((await system.api.merge(`${TENANTS}/${name}`, { metadata: { annotations: { [PAUSED]: value } } })).status, 200);
  }
  async function quiet(): Promise<void> {
    await until('nothing waits in the watcher', async () => (await system.metric('dogwatch_outbox_depth')) === 0 || undefined);
    await system.drained();
  }

  it('leave the paused one alone: its spec, its children and its status stay as they are', async () => {
    const before = await read('paused');
    const [runs, pods] = [runsOf(system, '/paused').length, { 'requests.cpu': '4', 'requests.memory': '8Gi', pods: '99' }];
    await changeTenant(system.api, 'paused', { quota: { cpu: '9', memory: '9Gi', pods: 9 } });
    assert.equal((await system.api.merge(QUOTA, { spec: { hard: { pods: '99' } } })).status, 200);
    // Whatever the watcher would send of these it has sent once another object has settled that was changed later.
    await changeTenant(system.api, 'revised-0', { owner: 'new@acme.example' });
    await settled(system.api, 'revised-0');
    await quiet();
    const after = await read('paused');
    assert.deepEqual(after.status, before.status);
    assert.notEqual(after.status?.observedGeneration, after.metadata.generation);
    assert.deepEqual((await system.api.get(QUOTA)).body.spec, { hard: pods });
    assert.equal(runsOf(system, '/paused').length, runs);
  });

  it('run once each when the revision is raised, the paused one not', async (t) => {
    await Promise.all([system.watcher.stop(), system.functionHost.stop()]);
    await system.rebuild('test/real/reconcilers/revised.ts');
    await Promise.all([system.startWatcher(), system.startFunction()]);
    const began = Date.now();
    const isRevised = ({ status }: ApiObject): boolean => status?.['observedRevision'] === 2;
    await until(
      'every Tenant that is not paused has the revision',
      async () => (await system.api.get(TENANTS)).body.items.filter(isRevised).length === OBJECTS || undefined,
      60_000,
    );
    t.diagnostic(`${OBJECTS} objects have the new revision ${Date.now() - began} ms after the start`);
    await quiet();
    const runs = runsOf(system);
    const counts = names.map((name) => runs.filter(({ key }) => key.endsWith(`/${name}`)).length);
    assert.deepEqual([...new Set(counts)], [1]);
    assert.deepEqual([...new Set(runs.map(({ reason, branch }) => `${reason} ${branch}`))], ['sweep reconciled']);
    assert.ok((await allExceptPaused()).every(isSettled));
    assert.ok(!isRevised(await read('paused')));
  });

  async function allExceptPaused(): Promise<readonly ApiObject[]> {
    return (await system.api.get(TENANTS)).body.items.filter(({ metadata }) => metadata.name !== 'paused');
  }

  it('run the paused one when its pause ends, with all that was due', async () => {
    const before = conditionOf(await read('paused'), 'Ready');
    await pause('paused', null);
    const object = await settled(system.api, 'paused');
    assert.equal(object.status?.['observedRevision'], 2);
    assert.deepEqual(conditionOf(object, 'Ready')?.lastTransitionTime, before?.lastTransitionTime);
    assert.deepEqual((await system.api.get(QUOTA)).body.spec, { hard: { pods: '9', 'requests.cpu': '9', 'requests.memory': '9Gi' } });
    await quiet();
    assert.deepEqual(
      runsOf(system, '/paused').map(({ reason, branch }) => `${reason} ${branch}`),
      ['resumed reconciled'],
    );
  });

  it('let a paused one go that is deleted', async () => {
    await pause('paused', '');
    assert.equal((await system.api.delete(`${TENANTS}/paused`)).status, 200);
    await gone(system.api, `${TENANTS}/paused`);
  });
});
