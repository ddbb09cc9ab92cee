import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import type { Target } from '../../../functions/replay/letter-record.ts';
import type { ObjectSource } from '../../../functions/replay/read-objects.ts';
import type { Reading } from '../../../functions/replay/verdict.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { TARGET } from './letters.ts';
import { readingsOf } from './plans.ts';

const RECONCILERS = [tenant, queueClaim] as unknown as Reconciler[];
const unreachable = new TransientError('unreachable', 'the cluster cannot be reached');

class Scene {
  readonly clock = new FakeClock();
  readonly east = new FakeCluster({ name: 'east' });
  readonly west = new FakeCluster({ name: 'west' });
  readonly stop = new AbortController();
  readonly told: string[] = [];

  tenants(count: number, cluster = this.east): Target[] {
    return Array.from({ length: count }, (_, at) => {
      cluster.create(tenant.resource, { name: `t-${at}` }, { spec: {} });
      return { ...TARGET, cluster: cluster.name, name: `t-${at}` };
    });
  }

  read(targets: readonly Target[], over: Partial<ObjectSource> = {}): Promise<Map<Target, Reading>> {
    const clients: Readonly<Record<string, KubernetesClient>> = { east: this.east.client, west: this.west.client };
    const source: ObjectSource = {
      clientOf: (cluster) => clients[cluster] ?? 'unknown-cluster',
      reconcilers: RECONCILERS,
      clock: this.clock,
      signal: this.stop.signal,
      tell: (cluster, says) => this.told.push(`${cluster}: ${says}`),
      ...over,
    };
    return this.clock.finish(readingsOf(targets, source));
  }
}

const codes = (readings: ReadonlyMap<Target, Reading>): string[] =>
  [...readings.values()].map((reading) => (reading.kind === 'untold' ? reading.code : reading.kind));

describe('readObjects', () => {
  it('asks once for each object, for the newest', async () => {
    const scene = new Scene();
    const readings = await scene.read([...scene.tenants(50), { ...TARGET, name: 'absent' }]);
    assert.deepEqual([codes(readings).filter((code) => code === 'found').length, codes(readings).at(-1)], [50, 'absent']);
    assert.equal(scene.east.requests.length, 51);
    assert.ok(scene.east.requests.every(({ verb, detail }) => verb === 'get' && detail['resourceVersion'] === undefined));
  });

  it('leaves a cluster alone that does not answer, and reads the others', async () => {
    const scene = new Scene();
    const targets = [...scene.tenants(200), ...scene.tenants(10, scene.west)];
    scene.east.fault({ verb: 'get' }, { throw: unreachable }, 1000);
    const found = codes(await scene.read(targets));
    assert.deepEqual(new Set(found.slice(0, 200)), new Set(['unreachable', 'given-up']));
    assert.deepEqual(new Set(found.slice(200)), new Set(['found']));
    assert.ok(scene.east.requests.length <= 16, String(scene.east.requests.length));
    assert.deepEqual(scene.told, ['east: the cluster cannot be reached']);
  });

  it('goes on where a cluster fails now and then', async () => {
    const scene = new Scene();
    const targets = scene.tenants(30);
    for (const at of [3, 9, 20]) scene.east.fault({ verb: 'get', name: `t-${at}` }, { throw: unreachable });
    const found = codes(await scene.read(targets));
    assert.equal(found.filter((code) => code === 'found').length, 27);
  });

  it('waits as told by a cluster that throttles, and then asks again', async () => {
    const scene = new Scene();
    scene.east.fault({ verb: 'get' }, { throw: new TransientError('throttled', 'too much', { retryAfterSeconds: 7 }) }, 2);
    const startMs = scene.clock.steadyMs();
    assert.deepEqual(codes(await scene.read(scene.tenants(1))), ['found']);
    assert.equal(scene.clock.steadyMs() - startMs, 14_000);
  });

  const refusals = [
    ['forbidden', new TransientError('forbidden', 'no right')],
    ['not-served', new TransientError('not-served', 'no such kind')],
    ['throttled', new TransientError('throttled', 'too much')],
  ] as const;
  for (const [code, error] of refusals) {
    it(`takes no object for gone where the answer is ${code}`, async () => {
      const scene = new Scene();
      scene.east.fault({ verb: 'get' }, { throw: error }, 100);
      assert.deepEqual(codes(await scene.read([{ ...TARGET, name: 'absent' }])), [code]);
    });
  }

  it('asks nobody about a cluster, a kind or a scope that it does not know', async () => {
    const scene = new Scene();
    const targets = [
      { ...TARGET, cluster: 'north' },
      { ...TARGET, kind: 'Widget', plural: 'widgets' },
      { ...TARGET, namespace: 'team' },
      { ...TARGET, kind: 'QueueClaim', plural: 'queueclaims' },
    ];
    const readings = await scene.read(targets);
    assert.deepEqual(
      targets.map((target) => (readings.get(target) as { code?: string }).code),
      ['unknown-cluster', 'unknown-kind', 'other-scope', 'other-scope'],
    );
    assert.equal(scene.east.requests.length, 0);
  });

  it('ends when it is stopped', async () => {
    const scene = new Scene();
    const targets = scene.tenants(50);
    scene.east.fault({ verb: 'get', name: 't-20' }, { first: () => scene.stop.abort(new Error('stopped')) });
    await assert.rejects(scene.read(targets), /stopped/);
    assert.ok(scene.east.requests.length < 40);
  });

  it('hides no fault of ours', async () => {
    const scene = new Scene();
    scene.east.fault({ verb: 'get' }, { throw: new RangeError('a bug') });
    await assert.rejects(scene.read(scene.tenants(1)), RangeError);
  });
});
