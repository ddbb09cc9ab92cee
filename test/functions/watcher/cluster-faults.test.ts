/**
 * A whole watcher over real sockets, with a cluster for each fault and one that is well: its changes are sent meanwhile, those of the
 * others once they are well, deletions in the gap too, and none is asked without end. In virtual time, at the port: fleet-faults.test.ts.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { RequestFault } from '../../../infra/local/api-server/faults.ts';
import type { TestCluster } from '../../../infra/local/testing/test-cluster.ts';
import { until } from '../../until.ts';
import { PROBE_SECONDS, put, putSettled, TENANT_CRD, WireScene } from './wire-scene.ts';

/** Begins the fault and has all that is to happen meanwhile happen; what ends it, undefined where it passes by itself. */
type Begin = (happen: () => Promise<void>) => Promise<(() => unknown) | undefined>;

interface Fault {
  readonly what: string;
  /** What is shown meanwhile; undefined where the fault passes by itself. */
  readonly code?: string;
  /** Done before the watcher starts. */
  readonly prepare: (cluster: TestCluster, scene: WireScene) => Begin | Promise<Begin>;
  readonly tls?: true;
  /** What is sent in the end; else {@link SENT}. */
  readonly sent?: readonly string[];
}

/** What happens in the cluster meanwhile, and what is sent of it in the end. */
async function happenIn(east: TestCluster): Promise<void> {
  await east.delete('Tenant', 'goes');
  await put(east, 'changes', 2);
  await put(east, 'comes');
}
const SENT = ['created comes', 'deleted goes', 'generation-changed changes'];

/** Every request of the watcher is answered so, and the open watch breaks off. */
function answering(what: string, code: string, fault: RequestFault): Fault {
  const prepare: Fault['prepare'] = (east) => async (happen) => {
    const lift = east.faults.add(fault);
    east.faults.dropWatches('reset');
    await happen();
    return lift;
  };
  return { what, code, prepare };
}

/** The copy that the cluster is restored from later; after it, the cluster goes on for so many writes. */
async function copyOf(east: TestCluster, writesAfter: number) {
  const copy = east.server.snapshot();
  for (let at = 0; at < writesAfter; at += 1) await east.patchStatus('Tenant', 'stays', { phase: `new ${at}` });
  return copy;
}

const FAULTS: readonly Fault[] = [
  {
    what: 'is down',
    code: 'unreachable',
    tls: true,
    prepare:
      ({ server, faults }) =>
      async (happen) => {
        const resume = faults.stallWatches();
        await happen();
        await server.down();
        return () => {
          resume();
          return server.up();
        };
      },
  },
  answering('accepts connections and never answers (B24)', 'timeout', { kind: 'delay', ms: 3_600_000 }),
  {
    what: 'shows a certificate that is not trusted',
    code: 'unreachable',
    tls: true,
    prepare:
      ({ server, faults }, scene) =>
      async (happen) => {
        const resume = faults.stallWatches();
        await happen();
        await server.down();
        const other = await scene.serve('other', { tls: true, port: server.port, token: server.token });
        return async () => {
          await other.server.down();
          resume();
          await server.up();
        };
      },
  },
  answering('answers 401 (B25)', 'unauthorized', { kind: 'error', code: 401 }),
  answering('answers 403', 'forbidden', { kind: 'error', code: 403 }),
  answering('answers 429 with Retry-After', 'throttled', { kind: 'throttle', retryAfterSeconds: 3 }),
  answering('answers 429 without Retry-After', 'throttled', { kind: 'throttle' }),
  answering('answers 500, as while objects cannot be converted (B28)', 'server-error', { kind: 'error', code: 500 }),
  {
    what: 'loses its CRD, and gets it again (B27)',
    code: 'not-served',
    prepare: (east) => async () => {
      const resume = east.faults.stallWatches();
      await east.delete('CustomResourceDefinition', TENANT_CRD.metadata.name);
      return async () => {
        resume();
        await east.apply({ ...TENANT_CRD });
        for (const name of ['changes', 'comes']) await put(east, name);
      };
    },
    sent: ['created changes', 'created comes', 'deleted changes', 'deleted goes', 'deleted stays'],
  },
  {
    what: 'gets one printer column more',
    prepare: (east) => async (happen) => {
      const [version] = TENANT_CRD.spec['versions'] as [{ additionalPrinterColumns: object[] }];
      const additionalPrinterColumns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }, ...version.additionalPrinterColumns];
      await east.apply({ ...TENANT_CRD, spec: { ...TENANT_CRD.spec, versions: [{ ...version, additionalPrinterColumns }] } });
      await happen();
      return undefined;
    },
  },
  {
    what: 'restarts, which voids its history (B02)',
    prepare:
      ({ server }) =>
      async (happen) => {
        await server.restart();
        await happen();
        return undefined;
      },
  },
  {
    what: 'is restored from an older copy, which makes for silent streams (B19)',
    async prepare(east) {
      const from = await copyOf(east, 6);
      return async (happen) => {
        await east.server.restart({ from });
        await happen();
        return undefined;
      };
    },
  },
  {
    what: 'is restored from an older copy and passes our position (B19)',
    async prepare(east) {
      const from = await copyOf(east, 3);
      const position = east.server.revision;
      return async (happen) => {
        // It sees the cluster when that has passed our position, from which it could then be watched without a word.
        const letIn = east.faults.add({ kind: 'throttle' });
        await east.server.restart({ from });
        assert.ok(east.server.revision < position);
        await happen();
        assert.ok(east.server.revision > position);
        letIn();
        return undefined;
      };
    },
  },
];

describe('over the wire, beside a cluster that', { concurrency: true }, () => {
  const scene = new WireScene();
  /** What begins each fault. */
  const begins: Begin[] = [];
  const nameOf = (at: number): string => `fault-${at}`;

  before(async () => {
    const west = await scene.add('west');
    await putSettled(west, ['changes', 'goes', 'stays']);
    const from = west.server.snapshot();
    for (const [at, { prepare, tls = false }] of FAULTS.entries())
      begins.push(await prepare(await scene.add(nameOf(at), { from, tls }), scene));
    await scene.start();
    await until('all stream', () => scene.streams());
  });
  after(() => scene.stop());

  for (const [at, { what, code, sent = SENT }] of FAULTS.entries()) {
    const name = nameOf(at);
    it(`${what}, the others go on; what happened in it is sent when it is well`, async () => {
      const cluster = scene.clusters.get(name) as TestCluster;
      const end = await begins[at]?.(() => happenIn(cluster));
      const [requests, began] = [scene.requestCount(name), scene.clock.now().getTime()];
      const seconds = (): number => (scene.clock.now().getTime() - began) / 1000;
      await scene.works('west', `beside-${at}`);
      if (code !== undefined) {
        await until('it is tried several times', () => scene.requestCount(name) >= requests + 8);
        assert.ok(seconds() >= 2, `8 requests within ${seconds()} s`);
        await until(`it shows ${code}`, () => scene.status(name)?.error?.code === code);
        assert.equal(scene.status(name)?.phase, 'failing');
        assert.deepEqual(scene.sent(name), [], 'nothing is inferred meanwhile');
        await scene.works('west', `later-${at}`);
      }

      await end?.();
      await until('it is well', () => scene.sent(name).length >= sent.length && scene.streams(name));
      assert.deepEqual(scene.sent(name), sent);
      await scene.works(name, 'afterwards');
      const { relistCount = 0 } = scene.status(name) ?? {};
      // Of a kind that is not served, each try is a list.
      if (code === 'not-served') assert.ok(relistCount <= 12, `listed ${relistCount} times more`);
      else assert.ok(relistCount <= 2, `listed ${relistCount} times more`);
      if (code === undefined)
        assert.ok(scene.requestCount(name) <= requests + 10 + seconds() / PROBE_SECONDS, 'it is not asked without end');
      assert.deepEqual(scene.status('west')?.relistCount, 0);
    });
  }
});

describe('over the wire, a watcher that starts', () => {
  const scenes: WireScene[] = [];
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.stop();
  });

  it('beside a cluster that hangs, one without name and one without CRD, works with the one that is well (B24, B27)', async () => {
    const scene = new WireScene();
    scenes.push(scene);
    const [east, south, west] = [await scene.add('east'), await scene.add('south'), await scene.add('west')];
    const { server } = west;
    scene.connect('north', scene.writeKubeconfig('north', server.kubeconfig().replace(server.url, 'https://north.invalid:6443')));
    const answerAgain = east.faults.add({ kind: 'delay', ms: 3_600_000 });
    for (const cluster of [east, west]) await put(cluster, 'early');
    await south.delete('CustomResourceDefinition', TENANT_CRD.metadata.name);
    await scene.start();
    await until('west is swept', () => scene.sent('west').length === 1);
    const codes = (): unknown[] => ['east', 'north', 'south', 'west'].map((name) => scene.status(name)?.error?.code);
    await until('each shows its fault', () => codes().join() === 'timeout,unreachable,not-served,');
    await scene.works('west', 'meanwhile');
    await until('south is tried again', () => scene.requestCount('south') >= 6);

    answerAgain();
    const letIn = south.faults.add({ kind: 'throttle' });
    await south.apply({ ...TENANT_CRD });
    await put(south, 'early');
    letIn();
    for (const name of ['east', 'south']) {
      await until(`${name} is swept`, () => scene.sent(name).length === 1);
      assert.deepEqual(scene.sent(name), ['sweep early']);
    }
    assert.equal(scene.status('north')?.phase, 'failing');
  });
});
