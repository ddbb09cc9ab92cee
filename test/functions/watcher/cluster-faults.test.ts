/**
 * A whole watcher over HTTPS with two clusters, one of them at fault: the other's changes are sent meanwhile, its own once it is
 * well, deletions in the gap too, and it is not asked without end. In virtual time, at the port: fleet-faults.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { selfSigned } from '../../../infra/local/certificates.ts';
import { hang, type Reply } from '../../fakes/api-stub.ts';
import { type ServedCluster, status } from '../../fakes/served-cluster.ts';
import { until } from '../../until.ts';
import { COLUMNS, tenants } from './scene.ts';
import { WireScene } from './wire-scene.ts';

interface Fault {
  readonly what: string;
  readonly begin: (east: ServedCluster) => void;
  readonly end?: (east: ServedCluster) => void | Promise<void>;
  /** What is shown meanwhile; undefined where the fault passes by itself. */
  readonly code?: string;
  /** What happens in the cluster meanwhile, and what is sent of it in the end; else {@link GAP}. */
  readonly gap?: Gap;
}

interface Gap {
  readonly happens: (east: ServedCluster) => void;
  readonly sent: readonly string[];
}

const GAP: Gap = {
  happens({ cluster }) {
    cluster.delete(tenants, { name: 'goes' });
    cluster.edit(tenants, { name: 'changes' }, (draft) => {
      draft['spec'] = { size: 2 };
    });
    cluster.create(tenants, { name: 'comes' });
  },
  sent: ['created comes', 'deleted goes', 'generation-changed changes'],
};

/** Every request is answered so, and the open watch breaks off. */
function answering(what: string, code: string, reply: Reply): Fault {
  const begin = (east: ServedCluster): void => {
    east.fault = () => reply;
    east.stub.cut('end');
  };
  const end = (east: ServedCluster): void => {
    east.fault = () => undefined;
  };
  return { what, code, begin, end };
}

const rightCertificate = selfSigned(['localhost', '127.0.0.1']);

const FAULTS: readonly Fault[] = [
  { what: 'is down', code: 'unreachable', begin: ({ stub }) => stub.refuse(), end: ({ stub }) => stub.listenAgain() },
  answering('accepts connections and never answers (B24)', 'timeout', hang),
  {
    what: 'shows a certificate that is not trusted',
    code: 'unreachable',
    begin({ stub }) {
      stub.replaceCertificate();
      stub.cut('end');
    },
    end: ({ stub }) => stub.replaceCertificate(rightCertificate),
  },
  answering('answers 401 (B25)', 'unauthorized', status(401, 'Unauthorized')),
  answering('answers 403', 'forbidden', status(403, 'Forbidden')),
  answering('answers 429 with Retry-After', 'throttled', status(429, 'TooManyRequests', { 'retry-after': '3' })),
  answering('answers 429 without Retry-After', 'throttled', status(429, 'TooManyRequests')),
  answering('answers 500, as while objects cannot be converted (B28)', 'server-error', status(500, 'InternalError')),
  {
    what: 'loses its CRD under a silent stream, and gets it again (B27)',
    code: 'not-served',
    begin({ cluster }) {
      for (const watch of cluster.openWatches()) watch.paused = true;
      for (const name of ['changes', 'goes', 'stays']) cluster.delete(tenants, { name });
      cluster.unserve(tenants);
    },
    end({ cluster }) {
      cluster.serve(tenants, COLUMNS);
      for (const name of ['changes', 'comes']) cluster.create(tenants, { name });
    },
    gap: {
      happens: () => {},
      sent: ['created changes', 'created comes', 'deleted changes', 'deleted goes', 'deleted stays'],
    },
  },
  {
    what: 'gets one printer column more',
    begin({ cluster }) {
      cluster.serve(tenants, [{ name: 'Owner', jsonPath: '.spec.owner' }, ...COLUMNS]);
      cluster.restart();
    },
  },
  {
    what: 'restarts, which voids its history (B02)',
    begin({ cluster, stub }) {
      cluster.restart();
      stub.cut('end');
    },
  },
  { what: 'is restored from an older copy, under a silent stream (B19)', begin: (east) => older.get(east)?.() },
  {
    what: 'is restored from an older copy and passes our position (B19)',
    begin: (east) => older.get(east)?.(),
    gap: {
      ...GAP,
      happens(east) {
        for (const watch of east.cluster.openWatches()) watch.paused = true;
        GAP.happens(east);
        east.cluster.store.resourceVersion = 20_000;
      },
    },
  },
];

/** Restores a cluster to what it was before the watcher started. */
const older = new WeakMap<ServedCluster, () => void>();

describe('over HTTPS, beside a cluster that', { concurrency: 4 }, () => {
  for (const { what, code, begin, end, gap = GAP } of FAULTS) {
    it(`${what}, the others go on; what happened in it is sent when it is well`, async (t) => {
      const scene = new WireScene();
      t.after(() => scene.stop());
      const east = await scene.add('east');
      await scene.add('west');
      east.stub.replaceCertificate(rightCertificate);
      scene.connect('east', east.stub.kubeconfig());
      const settled = { spec: { size: 1 }, status: { observedGeneration: 1 } };
      for (const name of ['changes', 'goes', 'stays']) east.cluster.create(tenants, { name }, settled);
      older.set(east, east.cluster.store.snapshot());
      east.cluster.store.resourceVersion = 9_000;
      east.cluster.edit(tenants, { name: 'stays' }, (draft) => {
        draft['status'] = { observedGeneration: 1, phase: 'new' };
      });
      await scene.start();
      await until('both stream', () => scene.allStream());

      begin(east);
      gap.happens(east);
      const [before, began] = [scene.requestCount('east'), scene.clock.now().getTime()];
      await scene.works('west', 'meanwhile');
      if (code !== undefined) {
        await until('it is tried several times', () => scene.requestCount('east') >= before + 8);
        const seconds = (scene.clock.now().getTime() - began) / 1000;
        assert.ok(seconds >= 2, `8 requests within ${seconds} s`);
        await until(`it shows ${code}`, () => scene.status('east')?.error?.code === code);
        assert.equal(scene.status('east')?.phase, 'failing');
        assert.deepEqual(scene.sent('east'), [], 'nothing is inferred meanwhile');
        await scene.works('west', 'later');
      }

      await end?.(east);
      await until('it is well', () => scene.sent('east').length >= gap.sent.length && scene.allStream());
      assert.deepEqual(scene.sent('east'), gap.sent);
      await scene.works('east', 'afterwards');
      const { relistCount = 0 } = scene.status('east') ?? {};
      // Of a kind that is not served, each try is a list.
      if (code === 'not-served') assert.ok(relistCount <= 12, `listed ${relistCount} times more`);
      else assert.ok(relistCount <= 2, `listed ${relistCount} times more`);
      if (code === undefined) assert.ok(scene.requestCount('east') <= before + 10, 'it is not asked without end');
      assert.deepEqual(scene.status('west')?.relistCount, 0);
    });
  }
});

describe('over HTTPS, a watcher that starts', () => {
  const scenes: WireScene[] = [];
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.stop();
  });

  it('beside a cluster that hangs, one without name and one without CRD, works with the one that is well (B24, B27)', async () => {
    const scene = new WireScene();
    scenes.push(scene);
    const [east, south] = [await scene.add('east'), await scene.add('south')];
    const west = await scene.add('west');
    scene.connect('north', west.stub.kubeconfig({}, { server: 'https://north.invalid:6443' }, 'north.yaml'));
    east.fault = () => hang;
    south.cluster.unserve(tenants);
    for (const { cluster } of [east, south, west]) cluster.create(tenants, { name: 'early' });
    await scene.start();
    await until('west is swept', () => scene.sent('west').length === 1);
    const codes = (): unknown[] => ['east', 'north', 'south', 'west'].map((name) => scene.status(name)?.error?.code);
    await until('each shows its fault', () => codes().join() === 'timeout,unreachable,not-served,');
    await scene.works('west', 'meanwhile');
    await until('south is tried again', () => scene.requestCount('south') >= 6);

    east.fault = () => undefined;
    south.cluster.serve(tenants, COLUMNS);
    for (const name of ['east', 'south']) {
      await until(`${name} is swept`, () => scene.sent(name).length === 1);
      assert.deepEqual(scene.sent(name), ['sweep early']);
    }
    assert.equal(scene.status('north')?.phase, 'failing');
  });
});
