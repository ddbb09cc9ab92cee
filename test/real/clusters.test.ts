/**
 * Two real clusters under one watcher and one function. Whatever happens to west, east's objects settle meanwhile; west's settle
 * when it is well again.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dump } from 'js-yaml';
import type { ControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { type Api, until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, conditionOf, createTenant, gone, settled, TENANTS, tenant } from './tenants.ts';

/** The longest that a cluster which is well may keep a change waiting, whatever the other does. Two busy cores included. */
const PROMPT_MS = 20_000;
const RECOVERS_MS = 90_000;

/** Short, so that a silent stream is noticed within a test. */
const IMPATIENT = { DOGWATCH_PROBE_SECONDS: '2', DOGWATCH_WATCH_TIMEOUT_SECONDS: '4', DOGWATCH_WATCH_GRACE_SECONDS: '2' };

let system: System;
let east: Api;
let west: Api;
let westPlane: ControlPlane;

before(async () => {
  system = await startSystem({ clusters: ['east', 'west'], idle: true });
  east = system.apiOf('east');
  west = system.apiOf('west');
  westPlane = system.lab.clusters.get('west') as ControlPlane;
  // With the registry of both: a function knows a cluster before the watcher does.
  await system.startFunction();
});
after(() => system?.stop());

interface CellLine {
  readonly cluster: string;
  readonly kind: string;
  readonly phase: string;
  readonly since: string;
}

/** The lines of /readyz about a cluster. */
async function cellsOf(cluster: string): Promise<CellLine[]> {
  const lines = (await system.readyz()).split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as CellLine).filter((line) => line.cluster === cluster);
}

function streaming(cluster: string, withinMs = RECOVERS_MS): Promise<true> {
  return until(
    `all cells of ${cluster} stream`,
    async () => {
      const cells = await cellsOf(cluster);
      return (cells.length > 0 && cells.every(({ phase }) => phase === 'streaming')) || undefined;
    },
    withinMs,
  );
}

/** A Tenant made in east is settled, and soon. */
async function eastWorks(name: string): Promise<void> {
  await createTenant(east, name);
  await settled(east, name, PROMPT_MS);
}

async function removeAll(api: Api): Promise<void> {
  for (const { metadata } of (await api.get(TENANTS)).body.items) await api.delete(`${TENANTS}/${metadata.name}`);
}

describe('a registry that changes while the watcher runs', () => {
  let dir: string;
  let registry: string;

  /** Replaces a file at once, by a rename, as a mounted ConfigMap is. */
  const put = (path: string, content: string): void => {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  };
  const kubeconfigOf = (cluster: string, user: string): string =>
    readFileSync(system.lab.clusters.get(cluster)?.kubeconfigFor(user).path ?? '', 'utf8');
  const register = (...clusters: string[]): void =>
    put(registry, dump({ clusters: clusters.map((name) => ({ name, kubeconfig: `./${name}.yaml` })) }));
  /** What east's streams cost so far. */
  const eastStreams = async (): Promise<unknown[]> => {
    const since = (await cellsOf('east')).map((cell) => `${cell.kind} ${cell.phase} ${cell.since}`);
    return [
      await system.metric('dogwatch_relists_total', 'cluster="east"'),
      await system.metric('dogwatch_reconnects_total', 'cluster="east"'),
      ...since,
    ];
  };

  before(async () => {
    dir = mkdtempSync(join(system.lab.dir, 'registry-'));
    registry = join(dir, 'clusters.yml');
    for (const cluster of ['east', 'west']) put(join(dir, `${cluster}.yaml`), kubeconfigOf(cluster, 'dogwatch-watcher'));
    register('east');
    system.override({ DOGWATCH_CLUSTERS: registry });
    await system.startWatcher();
    await streaming('east');
  });
  after(async () => {
    await system.watcher.stop();
  });

  it('begins with a cluster that was added, without touching the stream of the other', async () => {
    await createTenant(west, 'early');
    await eastWorks('first');
    const streams = await eastStreams();
    assert.deepEqual(await cellsOf('west'), []);
    register('east', 'west');
    await settled(west, 'early');
    await streaming('west');
    assert.deepEqual(await eastStreams(), streams);
  });

  it('goes on as it was while the registry cannot be used', async () => {
    const streams = await eastStreams();
    put(registry, 'clusters:\n  - kubeconfig: ./east.yaml\n');
    await system.watcher.line(/the cluster registry cannot be used.*name is missing/);
    await createTenant(west, 'unbothered');
    await settled(west, 'unbothered', PROMPT_MS);
    register('east', 'west');
    await system.watcher.line(/the cluster registry can be used again/);
    assert.deepEqual(await eastStreams(), streams);
  });

  it('goes on as it was, in this cluster and in others, while an entry is faulty', async () => {
    const streams = await eastStreams();
    put(registry, 'clusters:\n  - name: east\n    kubeconfg: ./east.yaml\n  - name: west\n    kubeconfig: ./west.yaml\n');
    await system.watcher.line(/registry entry cannot be used; the cluster is watched as before.*kubeconfg/);
    await eastWorks('faulty-entry');
    await createTenant(west, 'beside-faulty');
    await settled(west, 'beside-faulty', PROMPT_MS);
    register('east', 'west');
    await system.watcher.line(/registry entry can be used again/);
    assert.deepEqual(await eastStreams(), streams);
  });

  it('begins nothing anew for another token', async () => {
    const streams = await eastStreams();
    const lineCount = system.watcher.lines.length;
    put(join(dir, 'east.yaml'), kubeconfigOf('east', 'dogwatch'));
    // A change that does take effect, made afterwards: by then the token's would have.
    register('east', 'west', 'nowhere');
    await system.watcher.line(/cluster cannot be connected.*nowhere/);
    assert.deepEqual(await eastStreams(), streams);
    const touched = system.watcher.lines.slice(lineCount).filter((line) => line.includes('"cluster":"east"'));
    assert.deepEqual(touched, []);
  });

  it('shows a cluster whose kubeconfig is not there as failing, while the others go on', async () => {
    const cells = await cellsOf('nowhere');
    assert.deepEqual([...new Set(cells.map(({ phase }) => phase))], ['failing']);
    assert.match(JSON.stringify(cells), /nowhere\.yaml does not exist/);
    await eastWorks('beside-nowhere');
  });

  it('lets a cluster go that was taken out: nothing more happens there, and its metrics are gone', async () => {
    const streams = await eastStreams();
    register('east');
    await system.watcher.line(/cluster taken from the registry.*"cluster":"west"|"cluster":"west".*cluster taken from the registry/);
    const generation = await changeTenant(west, 'early', { members: ['grace@acme.example'] });
    await eastWorks('second');
    assert.deepEqual([await cellsOf('west'), await cellsOf('nowhere')], [[], []]);
    const text = await system.metrics();
    assert.deepEqual([text.includes('cluster="west"'), text.includes('cluster="east"')], [false, true]);
    assert.deepEqual(await eastStreams(), streams);
    const { body } = await west.get(`${TENANTS}/early`);
    assert.equal(body.metadata.generation, generation);
    assert.ok((body.status?.observedGeneration ?? 0) < generation);
  });
});

describe('two clusters', () => {
  before(async () => {
    for (const api of [east, west]) await removeAll(api);
    system.override({ ...IMPATIENT, DOGWATCH_CLUSTERS: system.lab.registryFor('dogwatch-watcher') });
    await system.startWatcher();
    await Promise.all([streaming('east'), streaming('west')]);
  });

  it('keep objects of one name apart, also when one of them goes (B23)', async () => {
    await Promise.all([
      createTenant(east, 'same', { owner: 'east@acme.example' }),
      createTenant(west, 'same', { owner: 'west@acme.example' }),
    ]);
    const [one, other] = await Promise.all([settled(east, 'same'), settled(west, 'same')]);
    assert.notEqual(one.metadata.uid, other.metadata.uid);
    const namespace = '/api/v1/namespaces/tenant-same';
    const label = async (api: Api): Promise<string | undefined> => (await api.get(namespace)).body.metadata.labels?.['dogwatch.dev/owner'];
    assert.deepEqual([await label(east), await label(west)], [one.metadata.uid, other.metadata.uid]);
    await east.delete(`${TENANTS}/same`);
    await gone(east, namespace, 120_000);
    assert.equal(await label(west), other.metadata.uid);
    const generation = await changeTenant(west, 'same', { members: [] });
    const after = await settled(west, 'same', PROMPT_MS);
    assert.deepEqual([after.metadata.generation, conditionOf(after, 'Ready')?.status], [generation, 'True']);
  });

  it('are no matter to each other when one refuses connections', async () => {
    await westPlane.stopApiServer('kill');
    await eastWorks('while-west-is-down');
    await until('west shows that it is down', async () => (await cellsOf('west')).every(({ phase }) => phase !== 'streaming') || undefined);
    await westPlane.startApiServer();
    await createTenant(west, 'after-the-fall');
    await settled(west, 'after-the-fall', RECOVERS_MS);
  });

  it('are no matter to each other when one accepts connections and never answers, in the middle of a run (B24)', async () => {
    await createTenant(west, 'caught');
    westPlane.pause();
    try {
      for (const name of ['one', 'two', 'three']) await eastWorks(`while-west-hangs-${name}`);
      await until(
        'west shows that it hangs',
        async () => (await cellsOf('west')).every(({ phase }) => phase !== 'streaming') || undefined,
        60_000,
      );
      await eastWorks('while-west-is-known-to-hang');
    } finally {
      westPlane.resume();
    }
    await createTenant(west, 'after-the-hang');
    await Promise.all(['caught', 'after-the-hang'].map((name) => settled(west, name, RECOVERS_MS)));
  });

  it('all settle when one API server is restarted in the middle of 200 changes', async () => {
    for (const api of [east, west]) await removeAll(api);
    const count = 100;
    const write = async (index: number, verb: 'create' | 'change'): Promise<void> => {
      const name = `many-${index}`;
      const path = `${TENANTS}/${name}`;
      await until(
        `${verb} of ${name} is taken`,
        async () => {
          try {
            const answer =
              verb === 'create'
                ? await west.post(TENANTS, tenant(name))
                : await west.merge(path, { spec: { members: ['grace@acme.example'] } });
            return [200, 201, 409].includes(answer.status) || undefined;
          } catch {
            return undefined; // down, for now
          }
        },
        RECOVERS_MS,
      );
    };
    const changes = (async () => {
      for (const verb of ['create', 'change'] as const) {
        for (let from = 0; from < count; from += 10) {
          await Promise.all(Array.from({ length: 10 }, (_, index) => write(from + index, verb)));
          if (verb === 'change' && from === 0) {
            await westPlane.stopApiServer('kill');
            await westPlane.startApiServer();
          }
        }
      }
    })();
    const meanwhile = (async () => {
      for (let index = 0; index < 5; index += 1) await eastWorks(`meanwhile-${index}`);
    })();
    await Promise.all([changes, meanwhile]);
    const settledTenants = await allSettled(west, count, RECOVERS_MS);
    assert.ok(settledTenants.every(({ metadata }) => metadata.generation === 2));
  });

  it('follow what is true after one was restored from an older copy (B19)', async (t) => {
    for (const api of [east, west]) await removeAll(api);
    await createTenant(west, 'kept');
    await settled(west, 'kept', RECOVERS_MS);
    const copy = join(system.lab.dir, 'etcd-copy');
    await westPlane.restart(async () => cpSync(westPlane.etcdDataDir, copy, { recursive: true }));
    await streaming('west');
    await changeTenant(west, 'kept', { members: ['grace@acme.example'] });
    for (let index = 0; index < 20; index += 1) await createTenant(west, `lost-${index}`);
    await settled(west, 'kept', RECOVERS_MS);
    await streaming('west');
    const began = Date.now();
    const restored = westPlane.restart(async () => {
      await westPlane.removeData();
      cpSync(copy, westPlane.etcdDataDir, { recursive: true });
      rmSync(copy, { recursive: true });
    });
    await eastWorks('while-west-is-restored');
    await restored;
    assert.equal((await west.get(`${TENANTS}/lost-0`)).status, 404, 'it is the older state');
    const generation = await changeTenant(west, 'kept', { members: ['linus@acme.example'] });
    await createTenant(west, 'found');
    const [kept] = await Promise.all([settled(west, 'kept', RECOVERS_MS), settled(west, 'found', RECOVERS_MS)]);
    assert.deepEqual([generation, kept.metadata.generation], [2, 2], 'a generation that there was before, and means something else now');
    await system.watcher.line(/the cluster went back in time.*"cluster":"west"|"cluster":"west".*the cluster went back in time/);
    t.diagnostic(`settled ${Date.now() - began} ms after the restore began`);
  });
});
