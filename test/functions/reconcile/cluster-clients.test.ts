import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../../functions/adapters/clusters.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { openClusterClients, REGISTRY_AGE_MS } from '../../../functions/reconcile/cluster-clients.ts';
import { ApiStub, json } from '../../fakes/api-stub.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeLog, tenants } from '../watcher/scene.ts';

const UNCONNECTED = 'cluster cannot be connected; the others go on';
const UNUSABLE = 'the cluster registry cannot be used; the clusters stay as they are';
const FAULTY = 'registry entry cannot be used; the cluster is reached as before';
const USABLE = 'the cluster registry can be used again';
const at = { name: 'acme' };

let stub: ApiStub;
let dir = '';
before(async () => {
  stub = await ApiStub.start();
  stub.otherwise = json(404, { kind: 'Status', reason: 'NotFound', details: { kind: 'tenants', name: 'acme' } });
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-clients-'));
});
after(async () => {
  await stub.close();
  rmSync(dir, { recursive: true, force: true });
});

function entry(name: string, path: string): ClusterEntry {
  return { name: clusterName(name), access: { kind: 'file', path, context: undefined }, where: `clusters.yml: (${name})` };
}

function faulty(name: string, problem: string): ClusterEntry {
  return { name: clusterName(name), access: { kind: 'faulty', problem }, where: `clusters.yml: (${name})` };
}

class ClientsScene {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  content: readonly ClusterEntry[] | Error;
  readCount = 0;

  constructor(content: readonly ClusterEntry[]) {
    this.content = content;
  }

  open(registry = 'ssm:/dogwatch/clusters') {
    return openClusterClients({
      registry,
      clock: this.clock,
      log: this.log,
      read: async () => {
        this.readCount += 1;
        if (this.content instanceof Error) throw this.content;
        return this.content;
      },
    });
  }
}

describe('openClusterClients', () => {
  it('reads a registry that is a file once', async () => {
    const scene = new ClientsScene([entry('east', stub.kubeconfig())]);
    const clients = await scene.open('clusters.yml');
    await scene.clock.advance(10 * REGISTRY_AGE_MS);
    assert.deepEqual([[...(await clients()).keys()], scene.readCount], [['east'], 1]);
  });

  it('reads one in AWS again once it is five minutes old, and keeps the clients of clusters that are reached as before', async () => {
    const east = entry('east', stub.kubeconfig());
    const scene = new ClientsScene([east, entry('west', stub.kubeconfig())]);
    const clients = await scene.open();
    const first = await clients();
    await scene.clock.advance(REGISTRY_AGE_MS - 1);
    scene.content = [east, entry('north', stub.kubeconfig()), entry('west', stub.kubeconfig({ token: 'x' }, {}, 'elsewhere.yaml'))];
    assert.deepEqual([[...(await clients()).keys()], scene.readCount], [['east', 'west'], 1]);
    await scene.clock.advance(1);
    const second = await clients();
    assert.deepEqual([[...second.keys()], scene.readCount], [['east', 'north', 'west'], 2]);
    assert.equal(second.get(east.name), first.get(east.name));
    assert.notEqual(second.get(clusterName('west')), first.get(clusterName('west')));
    await clients();
    assert.equal(scene.readCount, 2);
  });

  it('reads it again also where the environment was frozen and only the wall clock went on', async () => {
    const scene = new ClientsScene([entry('east', stub.kubeconfig())]);
    const clients = await scene.open();
    scene.clock.setForward(REGISTRY_AGE_MS);
    await clients();
    assert.equal(scene.readCount, 2);
  });

  it('keeps the clusters it has while the registry cannot be read, and says so once', async () => {
    const scene = new ClientsScene([entry('east', stub.kubeconfig())]);
    const clients = await scene.open();
    scene.content = new ConfigError('aws-refused', 'ssm:/dogwatch/clusters: cannot be read: ParameterNotFound');
    for (let reading = 0; reading < 3; reading += 1) {
      await scene.clock.advance(REGISTRY_AGE_MS);
      assert.deepEqual([...(await clients()).keys()], ['east']);
    }
    scene.content = [entry('east', stub.kubeconfig())];
    await scene.clock.advance(REGISTRY_AGE_MS);
    await clients();
    assert.deepEqual([scene.log.count(UNUSABLE), scene.log.count(USABLE), scene.readCount], [1, 1, 5]);
  });

  it('goes on after two seconds without an answer, and takes the news with the next invocation', async () => {
    const scene = new ClientsScene([entry('east', stub.kubeconfig())]);
    const slow = Promise.withResolvers<readonly ClusterEntry[]>();
    let readCount = 0;
    const read = async (): Promise<readonly ClusterEntry[]> => {
      readCount += 1;
      return readCount === 1 ? [entry('east', stub.kubeconfig())] : slow.promise;
    };
    const clients = await openClusterClients({ registry: 'ssm:/x', clock: scene.clock, log: scene.log, read });
    await scene.clock.advance(REGISTRY_AGE_MS);
    const waiting = clients();
    await scene.clock.advance(2_000);
    assert.deepEqual([...(await waiting).keys()], ['east']);
    slow.resolve([entry('west', stub.kubeconfig())]);
    await scene.clock.settle();
    assert.deepEqual([[...(await clients()).keys()], readCount, scene.clock.sleeperCount], [['west'], 2, 0]);
  });

  it('rejects where the registry cannot be read at first', async () => {
    const scene = new ClientsScene([]);
    scene.content = new ConfigError('registry-invalid', 'clusters is empty');
    await assert.rejects(scene.open(), { name: 'ConfigError', code: 'registry-invalid' });
  });

  it('has the calls to a cluster whose kubeconfig is bad refused, until it is mended, and the others go on', async () => {
    const bad = join(stub.dir, 'late.yaml');
    const scene = new ClientsScene([entry('bad', bad), entry('east', stub.kubeconfig())]);
    const clients = await (await scene.open())();
    const [line] = scene.log.lines;
    assert.deepEqual([scene.log.lines.length, line?.message, line?.fields['cluster']], [1, UNCONNECTED, 'bad']);
    assert.match(String(line?.fields['reason']), /clusters\.yml: \(bad\): .*late\.yaml does not exist/);
    await assert.rejects(async () => clients.get(clusterName('bad'))?.get(tenants, at), { name: 'TransientError', code: 'unauthorized' });
    assert.equal(await clients.get(clusterName('east'))?.get(tenants, at), undefined);
  });

  it('has the calls to a cluster whose entry is faulty refused, and the others go on', async () => {
    const scene = new ClientsScene([faulty('bad', 'clusters.yml: (bad): unknown key kubeconfg'), entry('east', stub.kubeconfig())]);
    const clients = await (await scene.open())();
    assert.deepEqual(
      scene.log.lines.map(({ message, fields }) => [message, fields]),
      [[UNCONNECTED, { cluster: 'bad', code: 'entry-invalid', reason: 'clusters.yml: (bad): unknown key kubeconfg' }]],
    );
    await assert.rejects(async () => clients.get(clusterName('bad'))?.get(tenants, at), {
      ...{ name: 'TransientError', code: 'unauthorized' },
      facts: { verb: 'get', kind: 'Tenant', name: 'acme', detail: 'clusters.yml: (bad): unknown key kubeconfg' },
    });
    assert.equal(await clients.get(clusterName('east'))?.get(tenants, at), undefined);
  });

  it('keeps the client of a cluster whose entry becomes faulty, and says so once for each reason', async () => {
    const east = entry('east', stub.kubeconfig());
    const scene = new ClientsScene([east]);
    const clients = await scene.open();
    const first = (await clients()).get(east.name);
    const again = async (content: readonly ClusterEntry[]) => {
      scene.content = content;
      await scene.clock.advance(REGISTRY_AGE_MS);
      return (await clients()).get(east.name);
    };
    for (const problem of ['a', 'a', 'b']) assert.equal(await again([faulty('east', problem)]), first);
    assert.equal(await first?.get(tenants, at), undefined);
    assert.equal(await again([east]), first);
    assert.deepEqual(
      scene.log.lines.map(({ message, fields }) => [message, fields['reason']]),
      [
        [FAULTY, 'a'],
        [FAULTY, 'b'],
      ],
    );
    const other = await again([entry('east', stub.kubeconfig({ token: 'x' }, {}, 'other.yaml'))]);
    assert.notEqual(other, first);
  });
});
