/** A fault of a cluster: the processes stay up and say so, and the objects settle when it ends, without a restart. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { createTenant, settled, TENANTS } from './tenants.ts';

describe('a cluster that', () => {
  let system: System | undefined;

  afterEach(async () => {
    await system?.stop();
    system = undefined;
  });
  after(async () => {
    await system?.stop();
  });

  it('refuses connections: /readyz says so, and what changed meanwhile settles after it is back', async (t) => {
    system = await startSystem();
    await createTenant(system.api, 'steady');
    await settled(system.api, 'steady');
    await plane(system).stopApiServer();
    const failing = await cell(system, (state) => state.phase === 'failing' || state.phase === 'recovering');
    t.diagnostic(`readyz while down: ${JSON.stringify(failing)}`);
    await system.watcher.line(/unreachable/);
    const began = Date.now();
    await plane(system).startApiServer();
    await createTenant(system.api, 'afterwards');
    await settled(system.api, 'afterwards', 90_000);
    t.diagnostic(`settled ${Date.now() - began} ms after the API server began to start`);
  });

  it('answers 401: /readyz names it, and the objects settle once the token is good', async (t) => {
    system = await startSystem({ idle: true });
    const { url, caFile, kubeconfigFor } = plane(system);
    const tokenFile = join(system.lab.dir, 'token');
    writeFileSync(tokenFile, 'not-the-token');
    const kubeconfig = join(system.lab.dir, 'rotating.yaml');
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': caFile } }],
        users: [{ name: 'u', user: { tokenFile } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      }),
    );
    const registry = join(system.lab.dir, 'rotating-clusters.yml');
    writeFileSync(registry, `clusters:\n  - name: east\n    kubeconfig: ${kubeconfig}\n`);
    system.override({ DOGWATCH_CLUSTERS: registry });
    await system.startWatcher();
    await system.startFunction();
    await createTenant(system.api, 'locked-out');
    const failing = await cell(system, (state) => state.phase === 'failing');
    t.diagnostic(`readyz with a bad token: ${JSON.stringify(failing)}`);
    assert.match(JSON.stringify(failing), /unauthorized/);
    await system.watcher.line(/unauthorized/);
    assert.equal(system.watcher.lines.join('\n').includes('not-the-token'), false, 'no token in the log');
    writeFileSync(tokenFile, `${kubeconfigFor('dogwatch').token}\n`);
    await settled(system.api, 'locked-out', 90_000);
  });

  it('lacks the CRD: /readyz names it, and the objects settle once it is installed', async (t) => {
    system = await startSystem({ idle: true, crds: '' });
    await system.startWatcher();
    await system.startFunction();
    const failing = await cell(system, (state) => state.phase === 'failing');
    t.diagnostic(`readyz without the CRD: ${JSON.stringify(failing)}`);
    assert.match(JSON.stringify(failing), /not-served/);
    await system.watcher.line(/not-served/);
    await system.applyCrds();
    const api = system.api;
    await until('tenants are served', async () => (await api.get(TENANTS)).status === 200 || undefined);
    await createTenant(system.api, 'early');
    await settled(system.api, 'early', 90_000);
  });
});

interface CellState {
  readonly cluster: string;
  readonly phase: string;
}

function plane(system: System) {
  const found = system.lab.clusters.get('east');
  if (found === undefined) throw new Error('no cluster east');
  return found;
}

/** The line of /readyz about the first cell that is as wanted, once there is one. */
function cell(system: System, wanted: (state: CellState) => boolean): Promise<CellState> {
  return until('a cell in the wanted state', async () => {
    const text = await system.readyz();
    const states = text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as CellState);
    return states.find(wanted);
  });
}
