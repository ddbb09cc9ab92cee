import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../../functions/adapters/clusters.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { CONFIRM_MS, READ_MS } from '../../../functions/watcher/registry-watch.ts';
import { type Host, processHost, runWatcher, type StartAdapters } from '../../../functions/watcher/start.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeQueue } from '../../fakes/queue.ts';
import { COLUMNS, FakeLog, tenants } from './scene.ts';

const env = {
  DOGWATCH_CLUSTERS: 'clusters.yml',
  DOGWATCH_QUEUE_URL: 'https://sqs.test/live',
  DOGWATCH_BULK_QUEUE_URL: 'https://sqs.test/bulk',
  DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
};

/** Ends what a failed test left running. */
const scenes: StartScene[] = [];
afterEach(() => {
  for (const { stop } of scenes.splice(0)) stop();
});

function entryOf(name: string): ClusterEntry {
  return { name: clusterName(name), access: { kind: 'in-cluster' }, where: `clusters.yml: (${name})` };
}

class StartScene {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  readonly cluster = new FakeCluster();
  readonly errors: string[] = [];
  isReleased = false;
  isClosed = false;
  stop: () => void = () => undefined;
  fault: (error: unknown) => void = () => assert.fail('nobody listens for faults');

  run(environment: Record<string, string> = env, overrides: Partial<StartAdapters> = {}): ReturnType<typeof runWatcher> {
    scenes.push(this);
    this.cluster.serve(tenants, COLUMNS);
    const host: Host = {
      onStop: (stop) => {
        this.stop = stop;
      },
      onFault: (fault) => {
        this.fault = fault;
      },
      release: () => {
        this.isReleased = true;
      },
      writeError: (line) => this.errors.push(line),
    };
    const client = { ...this.cluster.client, close: () => (this.isClosed = true) } as typeof this.cluster.client;
    return runWatcher(environment, {
      readClusters: async () => [entryOf(this.cluster.name)],
      serverOf: async () => undefined,
      connectCluster: () => client,
      createQueue: async () => new FakeQueue(),
      reconcilers: [{ resource: tenants as never, revision: 1 }],
      clock: this.clock,
      createLog: () => this.log,
      host,
      ...overrides,
    });
  }

  async isUp(): Promise<void> {
    while (this.log.count('watcher started') === 0) {
      assert.deepEqual([this.errors, this.isReleased], [[], false]);
      await this.clock.settle();
    }
  }
}

describe('runWatcher', () => {
  it('is 0 after a request to stop, with nothing left open', async () => {
    const scene = new StartScene();
    const code = scene.run();
    await scene.isUp();
    scene.stop();
    scene.stop();
    assert.deepEqual([await code, scene.errors, scene.isReleased, scene.isClosed], [0, [], true, true]);
    assert.equal(scene.log.count('watcher stopped'), 1);
  });

  it('is 0 when it is asked to stop while the registry does not come', async () => {
    const scene = new StartScene();
    const createQueue = (): never => assert.fail('it goes on');
    const code = scene.run(env, { readClusters: () => new Promise(() => undefined), createQueue });
    scene.stop();
    assert.deepEqual([await code, scene.errors, scene.isReleased], [0, [], true]);
  });

  it('asks where clusters are reached a few at a time', async () => {
    const scene = new StartScene();
    const entries = Array.from({ length: 50 }, (_, index) => entryOf(`c${index}`));
    let [underWay, most] = [0, 0];
    const serverOf = async (): Promise<undefined> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
    };
    const connectCluster = (): never => {
      throw new ConfigError('kubeconfig-invalid', 'none is there');
    };
    assert.equal(await scene.run(env, { readClusters: async () => entries, serverOf, connectCluster }), 2);
    assert.ok(most > 1 && most <= 10, `${most} at once`);
  });

  it('is 2 with one line for a wrong configuration, before a cluster or the queue is asked', async () => {
    const scene = new StartScene();
    const touched = (): never => assert.fail('touched');
    const { DOGWATCH_QUEUE_URL: _, ...missing } = env;
    const code = await scene.run(missing, { readClusters: touched, createQueue: touched });
    assert.equal(code, 2);
    assert.match(scene.errors.join('\n'), /^dogwatch: .*DOGWATCH_QUEUE_URL[^\n]*$/);
  });

  it('is 2 with one line for a registry that cannot be read', async () => {
    const scene = new StartScene();
    const readClusters = (): never => {
      throw new ConfigError('registry', 'clusters.yml: clusters[0]:\n  name is missing');
    };
    assert.equal(await scene.run(env, { readClusters }), 2);
    assert.deepEqual(scene.errors, ['dogwatch: clusters.yml: clusters[0]: name is missing']);
  });

  it('watches the other clusters where one cannot be connected, and is 2 where none can', async () => {
    const scene = new StartScene();
    const entries = ['bad', scene.cluster.name].map(entryOf);
    const connectCluster = (entry: ClusterEntry): typeof scene.cluster.client => {
      if (entry.name !== scene.cluster.name) throw new ConfigError('kubeconfig-invalid', `${entry.where}: bad.yaml does not exist`);
      return scene.cluster.client;
    };
    const code = scene.run(env, { readClusters: async () => entries, connectCluster });
    await scene.isUp();
    const [line] = scene.log.lines.filter(({ message }) => message === 'cluster cannot be connected; the others go on');
    assert.deepEqual([line?.fields['cluster'], line?.fields['reason']], ['bad', 'clusters.yml: (bad): bad.yaml does not exist']);
    assert.equal(scene.log.lines.filter(({ message }) => message.startsWith('cluster added')).length, 0);
    scene.stop();
    assert.equal(await code, 0);
    const hopeless = new StartScene();
    assert.equal(await hopeless.run(env, { readClusters: async () => entries.slice(0, 1), connectCluster }), 2);
    assert.deepEqual(hopeless.errors, ['dogwatch: clusters.yml: (bad): bad.yaml does not exist']);
  });

  it('is 2 when the health address is taken, and nothing was asked of a cluster', async () => {
    const first = new StartScene();
    const running = first.run();
    await first.isUp();
    const taken = String(first.log.lines.find(({ message }) => message === 'watcher started')?.fields['address']);
    const scene = new StartScene();
    assert.equal(await scene.run({ ...env, DOGWATCH_HTTP_ADDRESS: taken }), 2);
    assert.deepEqual([scene.errors.length, scene.cluster.requests.length], [1, 0]);
    assert.match(scene.errors[0] ?? '', /DOGWATCH_HTTP_ADDRESS/);
    first.stop();
    await running;
  });

  it('follows where the kubeconfigs lead while it runs', async () => {
    const scene = new StartScene();
    let server = 'https://one';
    const code = scene.run(env, { serverOf: async () => server });
    await scene.isUp();
    server = 'https://two';
    await scene.clock.advance(READ_MS + CONFIRM_MS);
    assert.equal(scene.log.count('cluster is reached in another way; it is watched anew'), 1);
    scene.stop();
    assert.equal(await code, 0);
  });

  it('is 1 after an error that nothing caught, which is logged and what is dirty sent', async () => {
    const scene = new StartScene();
    const queue = new FakeQueue();
    const code = scene.run(env, { createQueue: async () => queue });
    await scene.isUp();
    scene.cluster.create(tenants, { name: 'a' });
    const error = new RangeError('nobody caught this');
    scene.fault(error);
    assert.equal(await code, 1);
    assert.ok(scene.log.lines.some(({ level, fields }) => level === 'error' && fields['error'] === error));
    assert.equal(scene.log.count('watcher stopped'), 1);
  });

  it('is 1 when something unexpected happens before it is up', async () => {
    const scene = new StartScene();
    const code = await scene.run(env, { createQueue: () => Promise.reject(new RangeError('no SDK')) });
    assert.deepEqual([code, scene.isClosed, scene.log.lines.map(({ level }) => level)], [1, true, ['error']]);
  });
});

describe('processHost', () => {
  it('passes signals and uncaught errors on until it is released', () => {
    const target = Object.assign(new EventEmitter(), { stderr: { write: () => true } }) as unknown as NodeJS.Process;
    const seen: unknown[] = [];
    const host = processHost(target);
    host.onStop(() => seen.push('stop'));
    host.onFault((error) => seen.push(error));
    for (const event of ['SIGTERM', 'SIGINT', 'unhandledRejection', 'uncaughtException'])
      target.emit(event as 'SIGTERM', event as 'SIGTERM');
    host.release();
    assert.deepEqual(seen, ['stop', 'stop', 'unhandledRejection', 'uncaughtException']);
    assert.equal(target.emit('SIGTERM', 'SIGTERM'), false);
  });
});
