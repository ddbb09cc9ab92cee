/** Two clusters, one of them at fault: the other's changes are sent meanwhile, its own once it is well, also deletions in the gap. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { TransientError } from '../../../functions/core/errors.ts';
import type { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { COLUMNS, tenants } from './scene.ts';
import { stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

/** How long the fault lasts, in milliseconds. */
const FAULT_MS = 120_000;
/** The longest pause between two tries, and a probe. */
const RECOVERS_MS = 40_000;

interface Fault {
  readonly what: string;
  readonly begin: (east: FakeCluster) => void;
  readonly end: (east: FakeCluster) => void;
  /** What /readyz shows meanwhile; undefined where the fault passes at once. */
  readonly code?: string;
}

/** Every call fails, and the open watch with it. */
function failing(what: string, error: TransientError): Fault {
  let isOn = false;
  return {
    what,
    begin(east) {
      isOn = true;
      const first = (): void => {
        if (isOn) throw error;
      };
      east.fault({}, { first }, Number.POSITIVE_INFINITY);
      for (const watch of east.openWatches()) watch.fail(error);
    },
    end() {
      isOn = false;
    },
    code: error.code,
  };
}

const FAULTS: readonly Fault[] = [
  failing('is down', new TransientError('unreachable', 'connection refused', { facts: { errorCode: 'ECONNREFUSED' } })),
  failing('accepts connections and never answers', new TransientError('timeout', 'no answer in time')),
  failing('cannot be trusted', new TransientError('unreachable', 'TLS failed', { facts: { errorCode: 'SELF_SIGNED_CERT_IN_CHAIN' } })),
  failing('answers 401', new TransientError('unauthorized', 'log in')),
  failing('answers 403', new TransientError('forbidden', 'tenants may not be listed')),
  failing('answers 429 with Retry-After', new TransientError('throttled', 'too many requests', { retryAfterSeconds: 30 })),
  failing('answers 429 without Retry-After', new TransientError('throttled', 'too many requests')),
  failing('answers 500', new TransientError('server-error', 'etcd has no leader')),
  {
    what: 'loses its CRD and gets it again',
    begin(east) {
      east.unserve(tenants);
      for (const watch of east.openWatches()) watch.end();
    },
    end: (east) => east.serve(tenants, COLUMNS),
    code: 'not-served',
  },
  {
    what: 'gets one printer column more',
    begin(east) {
      east.serve(tenants, [{ name: 'Owner', jsonPath: '.spec.owner' }, ...COLUMNS]);
      east.restart();
    },
    end: () => undefined,
  },
  { what: 'restarts', begin: (east) => east.restart(), end: () => undefined },
  {
    what: 'is restored from an older copy, under a silent stream',
    begin(east) {
      east.store.resourceVersion = 2_000;
      for (const watch of east.openWatches()) watch.paused = true;
    },
    end: () => undefined,
  },
];

function settle(cluster: FakeCluster, name: string): void {
  cluster.edit(tenants, { name }, (draft) => {
    draft['status'] = { observedGeneration: 1 };
  });
}

describe('beside a cluster that', () => {
  for (const { what, begin, end, code } of FAULTS) {
    it(`${what}, the others go on; what happened in it is sent when it is well`, async () => {
      const scene = new WatcherScene('east', 'west');
      const [east, west] = [scene.cluster('east'), scene.cluster('west')];
      for (const name of ['changes', 'goes', 'stays']) {
        east.create(tenants, { name }, { spec: { size: 1 } });
        settle(east, name);
      }
      east.store.resourceVersion = 9_000;
      settle(east, 'stays');
      await scene.start();
      assert.deepEqual(scene.sent(), []);

      begin(east);
      east.delete(tenants, { name: 'goes' });
      east.edit(tenants, { name: 'changes' }, (draft) => {
        draft['spec'] = { size: 2 };
      });
      east.create(tenants, { name: 'comes' });
      const [watch] = west.openWatches();
      for (let minute = 0; minute < FAULT_MS / 60_000; minute += 1) {
        west.create(tenants, { name: `w-${minute}` });
        await scene.clock.settle();
        assert.ok(scene.sent().includes(`west Tenant created w-${minute}`), `minute ${minute}`);
        await scene.clock.advance(60_000);
      }
      if (code !== undefined) {
        const { phase, error } = scene.watcher.statuses()[0] ?? {};
        assert.deepEqual([phase, error?.code, (await scene.get('/readyz')).status], ['failing', code, 200]);
        assert.ok(
          scene.sent().every((sent) => sent.startsWith('west')),
          'nothing is inferred meanwhile',
        );
      }
      assert.ok(watch?.open, 'the stream of the other cluster is the one it was');

      end(east);
      await scene.clock.advance(code === undefined ? 300_000 : RECOVERS_MS);
      const sent = scene.sent().filter((one) => one.startsWith('east'));
      assert.deepEqual(sent.sort(), ['east Tenant created comes', 'east Tenant deleted goes', 'east Tenant generation-changed changes']);
      assert.deepEqual(scene.phases(), ['east Tenant.platform.example streaming', 'west Tenant.platform.example streaming']);
      assert.ok(east.requests.length < 120, `${east.requests.length} calls`);
    });
  }
});
