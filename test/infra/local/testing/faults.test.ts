import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Bench, startBench } from '../../../../infra/local/testing/index.ts';
import { greetingObject, greetingWith } from './greeting.ts';

describe('the faults of a bench', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench({ reconcilers: [greetingWith()] });
    await bench.apply(greetingObject('one'));
    await bench.settle();
    bench.clearRecords();
  });
  afterEach(() => bench.close());

  const text = async (): Promise<unknown> => (await bench.get('ConfigMap', 'hello'))?.data;

  it('429 with Retry-After: the retry waits for as long, in virtual time', async () => {
    bench.faults.add({ kind: 'throttle', retryAfterSeconds: 400, times: 1, where: ({ method }) => method === 'PATCH' });
    await bench.apply(greetingObject('two'));
    await bench.settle();
    const [first, second] = bench.outcomes;
    assert.equal(first?.code, 'throttled');
    assert.ok((first?.delaySeconds ?? 0) >= 400);
    assert.deepEqual([second?.reason, second?.branch, second?.attempt], ['retry', 'reconciled', 2]);
    assert.deepEqual(await text(), { text: 'two' });
  });

  for (const [name, fault, code, writes] of [
    ['429 without Retry-After', { kind: 'throttle' }, 'throttled', { isNoOp: true, refusedWith: 429 }],
    ['503', { kind: 'error', code: 503 }, 'server-error', { isNoOp: true, refusedWith: 503 }],
    ['a reset', { kind: 'reset' }, 'unreachable', { isNoOp: true }],
    ['an answer that is lost', { kind: 'lose-answer' }, 'unreachable', { isNoOp: false }],
  ] as const) {
    it(`${name}: the run is tried again, the test is not hit, and the write is recorded`, async () => {
      // Twice: a connection that breaks at once is taken for one that died while idle, and asked on again.
      bench.faults.add({ ...fault, times: 2, where: ({ method }) => method === 'PATCH' });
      await bench.apply(greetingObject('two'));
      await bench.settle();
      assert.equal(bench.outcomes[0]?.code, code);
      assert.equal(bench.outcomes.at(-1)?.branch, 'reconciled');
      assert.deepEqual(await text(), { text: 'two' });
      const [hit] = bench.writes.filter(({ kind }) => kind === 'ConfigMap');
      const place = { cluster: 'test', kind: 'ConfigMap', namespace: 'default', name: 'hello' };
      assert.deepEqual(hit, { ...place, verb: 'apply', subresource: '', manager: 'dogwatch', ...writes });
    });
  }

  it('history that expired under a watch that told nothing: the kind is listed again', async () => {
    const resume = bench.faults.stallWatches();
    await bench.apply(greetingObject('two'));
    await bench.settle();
    assert.deepEqual(bench.outcomes, []);
    bench.faults.expireHistory();
    bench.faults.dropWatches('end');
    resume();
    await bench.settle();
    assert.deepEqual(await text(), { text: 'two' });
    assert.ok(bench.logs.some(({ message }) => message.startsWith('the watch position has expired')));
  });

  it('watches that break: they go on from where they were', async () => {
    bench.faults.dropWatches('reset');
    await bench.apply(greetingObject('two'));
    await bench.settle();
    assert.deepEqual(await text(), { text: 'two' });
  });

  it('a cache that lags behind: nothing is seen until it moves on', async () => {
    const release = bench.faults.holdCache();
    await bench.apply(greetingObject('two'));
    await bench.settle();
    assert.deepEqual(bench.messages, []);
    release();
    await bench.settle();
    assert.deepEqual(await text(), { text: 'two' });
  });

  it('a server that is down and comes back with an older store: what is true then is made true', async () => {
    const older = bench.server.snapshot();
    await bench.apply(greetingObject('two'));
    await bench.settle();
    await bench.server.restart({ from: older });
    await bench.settle();
    assert.equal((await bench.get('Greeting', 'hello'))?.metadata.generation, 1);
    assert.deepEqual(await text(), { text: 'one' });
  });

  it('a server that stays down: settle says which watches wait for it, and why', async () => {
    await bench.server.down();
    await assert.rejects(bench.settle(), /the watch of Greeting\.platform\.example in test, of its reconciler, is failing \(unreachable/);
  });
});
