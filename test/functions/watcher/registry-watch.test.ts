import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { CONFIRM_MS, READ_MS, type RegisteredCluster, watchRegistry } from '../../../functions/watcher/registry-watch.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeLog } from './scene.ts';

const UNUSABLE = 'the cluster registry cannot be used; the clusters stay as they are';
const USABLE = 'the cluster registry can be used again';

function cluster(name: string, server = `https://${name}`): RegisteredCluster {
  const access = { kind: 'file', path: `/etc/${name}.yaml`, context: undefined } as const;
  return { entry: { name: clusterName(name), access, where: `clusters.yml (${name})` }, server };
}

/** Ends every watch that a test started. */
const stops: AbortController[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort();
});

class RegistryScene {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  readonly stop = new AbortController();
  /** What a reading finds: clusters, or what it throws. */
  content: readonly RegisteredCluster[] | Error = [cluster('east')];
  readonly applied: string[] = [];
  readCount = 0;
  readonly run: Promise<void>;

  constructor() {
    stops.push(this.stop);
    this.run = watchRegistry(
      {
        read: async () => {
          this.readCount += 1;
          if (this.content instanceof Error) throw this.content;
          return this.content;
        },
        apply: (clusters) => this.applied.push(clusters.map(({ entry }) => entry.name).join(' ')),
        clock: this.clock,
        log: this.log,
      },
      this.stop.signal,
    );
  }

  /** Lets time pass until the registry was read once more. */
  async nextReading(): Promise<void> {
    const before = this.readCount;
    await this.clock.advanceUntil(() => this.readCount > before, READ_MS);
  }

  /** What was applied since the last call. */
  takeApplied(): string[] {
    return this.applied.splice(0);
  }
}

describe('watchRegistry', () => {
  it('hands on a change once a second reading agrees', async () => {
    const scene = new RegistryScene();
    await scene.clock.advance(3 * READ_MS);
    scene.takeApplied();
    scene.content = [cluster('east'), cluster('west')];
    await scene.nextReading();
    assert.deepEqual([scene.takeApplied(), scene.clock.nextInMs], [[], CONFIRM_MS]);
    await scene.clock.advance(CONFIRM_MS);
    assert.deepEqual(scene.takeApplied(), ['east west']);
  });

  it('takes nothing from a file that is just being written, though it would be valid', async () => {
    const scene = new RegistryScene();
    scene.content = [cluster('east'), cluster('west')];
    await scene.clock.advance(3 * READ_MS);
    scene.takeApplied();
    scene.content = [cluster('east')];
    await scene.nextReading();
    scene.content = [cluster('east'), cluster('west')];
    await scene.clock.advance(2 * READ_MS);
    assert.deepEqual([...new Set(scene.takeApplied())], ['east west']);
  });

  it('notices where a kubeconfig leads although the registry is the same', async () => {
    const scene = new RegistryScene();
    await scene.clock.advance(3 * READ_MS);
    scene.content = [cluster('east', 'https://elsewhere')];
    scene.takeApplied();
    await scene.nextReading();
    assert.deepEqual([scene.takeApplied(), scene.clock.nextInMs], [[], CONFIRM_MS]);
    await scene.clock.advance(CONFIRM_MS);
    assert.deepEqual(scene.takeApplied(), ['east']);
  });

  for (const [what, error, code] of [
    ['cannot be read', new ConfigError('registry-unreadable', 'clusters.yml: the cluster registry does not exist'), 'registry-unreadable'],
    ['is not valid', new ConfigError('registry-invalid', 'clusters.yml: clusters is empty; name at least one cluster'), 'registry-invalid'],
    ['makes us throw what nobody foresaw', new RangeError('a bug of ours'), 'unclassified'],
  ] as const) {
    it(`that ${what}: says so once, changes nothing, and says when it is good again`, async () => {
      const scene = new RegistryScene();
      await scene.clock.advance(3 * READ_MS);
      scene.takeApplied();
      scene.content = error;
      await scene.clock.advance(20 * READ_MS);
      assert.deepEqual([scene.takeApplied(), scene.log.count(UNUSABLE), scene.log.count(USABLE)], [[], 1, 0]);
      const line = scene.log.lines.find(({ message }) => message === UNUSABLE);
      assert.deepEqual([line?.level, line?.fields['code'], line?.fields['reason']], ['error', code, error.message]);
      assert.equal(line?.fields['error'], code === 'unclassified' ? error : undefined);
      scene.content = [cluster('east')];
      await scene.clock.advance(2 * READ_MS);
      assert.deepEqual([[...new Set(scene.takeApplied())], scene.log.count(USABLE)], [['east'], 1]);
    });
  }

  it('says each new reason, and none for a fault of one reading', async () => {
    const scene = new RegistryScene();
    await scene.clock.advance(3 * READ_MS);
    scene.content = new ConfigError('registry-unparsable', 'line 3');
    await scene.nextReading();
    scene.content = [cluster('east')];
    await scene.clock.advance(2 * READ_MS);
    assert.equal(scene.log.lines.length, 0);
    for (const reason of ['line 3', 'line 4']) {
      scene.content = new ConfigError('registry-unparsable', reason);
      await scene.clock.advance(4 * READ_MS);
    }
    assert.deepEqual(
      scene.log.lines.map(({ fields }) => fields['reason']),
      ['line 3', 'line 4'],
    );
  });

  it('ends at once when it is told to', async () => {
    const scene = new RegistryScene();
    scene.stop.abort();
    await scene.run;
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('ends at once also while a store does not answer, and applies nothing that it says then', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const answer = Promise.withResolvers<readonly RegisteredCluster[]>();
    let readCount = 0;
    const read = (): Promise<readonly RegisteredCluster[]> => {
      readCount += 1;
      return readCount === 1 ? Promise.resolve([cluster('east')]) : answer.promise;
    };
    const run = watchRegistry({ read, apply: () => assert.fail('applied'), clock, log: new FakeLog() }, stop.signal);
    await clock.advance(READ_MS + CONFIRM_MS);
    assert.equal(readCount, 2);
    stop.abort();
    await run;
    answer.resolve([cluster('east')]);
    await clock.settle();
  });

  it('rejects where what it hands on cannot be applied: that is a fault of ours', async () => {
    const clock = new FakeClock();
    const apply = (): never => {
      throw new RangeError('a bug of ours');
    };
    const run = watchRegistry({ read: async () => [cluster('east')], apply, clock, log: new FakeLog() }, new AbortController().signal);
    const rejected = assert.rejects(run, /a bug of ours/);
    await clock.advance(2 * READ_MS);
    await rejected;
  });
});
