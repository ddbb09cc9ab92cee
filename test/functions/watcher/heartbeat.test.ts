import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { decodeHeartbeat, type Heartbeat } from '../../../events/heartbeat.ts';
import { clusterName } from '../../../events/resource.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { runHeartbeat } from '../../../functions/watcher/heartbeat.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeQueue, RETRY, SENT } from '../../fakes/queue.ts';
import { FakeLog } from './scene.ts';

const LIVE = 'https://sqs.test/live';

function statusOf(cluster: string, over: Partial<CellStatus> = {}): CellStatus {
  return {
    cluster: clusterName(cluster),
    kind: 'Tenant.platform.example',
    role: 'primary',
    phase: 'streaming',
    sinceMs: 0,
    lastEventMs: undefined,
    objectCount: 1,
    unsettledCount: 0,
    oldestUnsettledSeconds: 0,
    relistCount: 0,
    reconnectCount: 0,
    ...over,
  };
}

const scenes: HeartbeatScene[] = [];
afterEach(() => {
  for (const { stop } of scenes.splice(0)) stop.abort();
});

class HeartbeatScene {
  readonly clock = new FakeClock();
  readonly queue = new FakeQueue();
  readonly log = new FakeLog();
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  statuses: readonly CellStatus[];

  constructor(...statuses: CellStatus[]) {
    this.statuses = statuses;
    const { clock, queue, log } = this;
    const options = { statuses: () => this.statuses, queue, queueUrl: LIVE, intervalSeconds: 60, clock, log };
    this.running = runHeartbeat(options, this.stop.signal);
    scenes.push(this);
  }

  sent(): Heartbeat[] {
    return this.queue.accepted.map(({ message }) => {
      const decoded = decodeHeartbeat(message.body);
      assert.ok(decoded.kind === 'heartbeat');
      return decoded.heartbeat;
    });
  }
}

describe('runHeartbeat', () => {
  it('sends one of each cluster an interval, the first after one interval, on the live lane and in the cluster’s group', async () => {
    const scene = new HeartbeatScene(statusOf('east'), statusOf('west'), statusOf('east', { kind: 'Project.x', phase: 'failing' }));
    await scene.clock.advance(59_999);
    assert.equal(scene.queue.calls.length, 0);
    await scene.clock.advance(1);
    assert.deepEqual(
      scene.queue.accepted.map(({ queueUrl, message }) => [queueUrl, message.groupId, message.delaySeconds]),
      [
        [LIVE, 'east', 0],
        [LIVE, 'west', 0],
      ],
    );
    assert.deepEqual(
      scene.sent().map(({ data }) => [data.cluster, data.cellCount, data.streamingCount]),
      [
        ['east', 2, 1],
        ['west', 1, 1],
      ],
    );
    await scene.clock.advance(600_000);
    assert.equal(scene.queue.calls.length, 11);
    assert.equal(new Set(scene.sent().map(({ id }) => id)).size, 22);
  });

  it('carries what a cell is like now', async () => {
    const scene = new HeartbeatScene();
    await scene.clock.advance(30_000);
    const lastEventMs = scene.clock.now().getTime();
    const error = { code: 'unreachable', message: 'connect ECONNREFUSED 10.0.0.1' };
    scene.statuses = [statusOf('east', { phase: 'failing', lastEventMs, unsettledCount: 4, oldestUnsettledSeconds: 12, error })];
    await scene.clock.advance(30_000);
    const [heartbeat] = scene.sent();
    assert.deepEqual(heartbeat?.data.cells, [
      {
        kind: 'Tenant.platform.example',
        role: 'primary',
        phase: 'failing',
        objectCount: 1,
        unsettledCount: 4,
        oldestUnsettledSeconds: 12,
        lastEventAt: new Date(lastEventMs).toISOString(),
        code: 'unreachable',
      },
    ]);
    assert.equal(heartbeat?.time, scene.clock.now().toISOString());
  });

  it('sends one and not many after an outage, with the state as it is by then', async () => {
    const scene = new HeartbeatScene(statusOf('east'), statusOf('west'));
    scene.queue.answer = () => RETRY;
    await scene.clock.advance(600_000);
    assert.ok(scene.queue.calls.length < 100, `${scene.queue.calls.length} calls in 10 min`);
    scene.statuses = [statusOf('east', { unsettledCount: 7 }), statusOf('west')];
    scene.queue.answer = () => SENT;
    await scene.clock.advance(60_000);
    assert.ok(scene.sent().length >= 2 && scene.sent().length <= 4, `${scene.sent().length} sent`);
    assert.equal(scene.sent()[0]?.data.unsettledCount, 7);
    const said = scene.log.lines.map(({ message }) => message);
    assert.deepEqual(said, ['heartbeats not taken by SQS now; they are tried again', 'SQS takes heartbeats again']);
  });

  it('tries again only those that were not taken, within the interval', async () => {
    const scene = new HeartbeatScene(statusOf('east'), statusOf('west'));
    scene.queue.answer = (message, { call }) => (call === 0 && message.groupId === 'west' ? RETRY : SENT);
    await scene.clock.advance(70_000);
    assert.deepEqual(
      scene.sent().map(({ data }) => data.cluster),
      ['east', 'west'],
    );
  });

  it('gives up a send without an answer after 5 s, says so, and tries again within the interval', async () => {
    const scene = new HeartbeatScene(statusOf('east'));
    scene.queue.hold();
    await scene.clock.advance(64_999);
    assert.equal(scene.log.lines.length, 0);
    await scene.clock.advance(1);
    assert.deepEqual(scene.log.lines, [
      {
        level: 'warn',
        message: 'heartbeats not taken by SQS now; they are tried again',
        fields: { clusters: ['east'], code: 'no-answer' },
      },
    ]);
    await scene.clock.advance(20_000);
    assert.ok(scene.queue.calls.length >= 3, `${scene.queue.calls.length} calls`);
    scene.queue.release();
    await scene.clock.advance(5_000);
    assert.equal(scene.sent().length, 1);
    assert.equal(scene.log.count('SQS takes heartbeats again'), 1);
    scene.stop.abort();
    await scene.running;
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('skips those that a hanging send made late', async () => {
    const scene = new HeartbeatScene(statusOf('east'));
    const released = Promise.withResolvers<void>();
    const send = scene.queue.send.bind(scene.queue);
    scene.queue.send = async (queueUrl, messages) => {
      const results = await send(queueUrl, messages);
      await released.promise; // whatever the signal says
      return results;
    };
    await scene.clock.advance(330_000);
    assert.equal(scene.queue.calls.length, 1);
    released.resolve();
    await scene.clock.settle();
    await scene.clock.advance(30_000);
    assert.equal(scene.queue.calls.length, 2);
  });

  it('follows the clusters that there are', async () => {
    const scene = new HeartbeatScene(statusOf('east'));
    await scene.clock.advance(60_000);
    scene.statuses = [statusOf('west')];
    await scene.clock.advance(60_000);
    scene.statuses = [];
    await scene.clock.advance(60_000);
    assert.deepEqual(
      scene.sent().map(({ data }) => data.cluster),
      ['east', 'west'],
    );
  });

  it('ends at once, also with a send under way', async () => {
    const scene = new HeartbeatScene(statusOf('east'));
    scene.queue.hold();
    await scene.clock.advance(60_000);
    scene.stop.abort();
    await scene.running;
    assert.equal(scene.clock.sleeperCount, 0);
  });

  it('goes on after a throw of the queue, save for one that says we are deployed wrong', async () => {
    const scene = new HeartbeatScene(statusOf('east'));
    scene.queue.answer = () => {
      throw new TypeError('boom');
    };
    await scene.clock.advance(60_000);
    const error = new ConfigError('region-missing', 'no AWS region is configured: set AWS_REGION');
    scene.queue.answer = () => {
      throw error;
    };
    const ended = assert.rejects(scene.running, error);
    await scene.clock.advance(60_000);
    await ended;
  });
});
