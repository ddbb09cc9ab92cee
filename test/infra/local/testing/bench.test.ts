import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, conditionOf, startBench } from '../../../../infra/local/testing/index.ts';
import { greetingObject, greetingWith } from './greeting.ts';

/** A message that is worked on for half an hour is not sent again beside that. */
const NO_HEALING = { healAfterSeconds: 7200 };

describe('a bench', () => {
  const branches = (bench: Bench): string[] => bench.outcomes.map(({ reason, branch }) => `${reason} ${branch}`);

  it('takes an object to its status and its children, and shows the messages and writes of it', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    const greeting = await bench.apply(greetingObject('hi'));
    await bench.settle();
    const stored = await bench.get('Greeting', 'hello');
    assert.deepEqual([stored?.status?.['observedGeneration'], stored?.status?.['configMap']], [1, 'hello']);
    assert.deepEqual([conditionOf(stored, 'Ready')?.status, conditionOf(stored, 'Stalled')], ['True', undefined]);
    const children = await bench.children(greeting);
    assert.deepEqual(
      children.map(({ kind, metadata, data }) => [kind, metadata.name, data]),
      [['ConfigMap', 'hello', { text: 'hi' }]],
    );
    assert.deepEqual(
      bench.messages.map(({ reason, lane, delaySeconds, sentBy }) => [reason, lane, delaySeconds, sentBy]),
      [['created', 'live', 0, 'watcher']],
    );
    assert.deepEqual(
      bench.writes.map(({ verb, kind, subresource, manager }) => [verb, kind, subresource, manager]),
      [
        ['apply', 'Greeting', '', 'bench'],
        ['apply', 'ConfigMap', '', 'dogwatch'],
        ['apply', 'Greeting', 'status', 'dogwatch'],
        ['create', 'Event', '', 'dogwatch'],
      ],
    );
    assert.deepEqual(bench.deadLetters, []);
  });

  it('tells writes that change nothing from others, and what is refused', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    bench.clearRecords();
    await bench.reconcile('Greeting', 'hello');
    await bench.settle();
    assert.deepEqual(branches(bench), ['manual reconciled']);
    assert.ok(bench.writes.length >= 2 && bench.writes.every(({ isNoOp }) => isNoOp));
    await assert.rejects(bench.apply(greetingObject('')));
    assert.deepEqual([bench.writes.at(-1)?.refusedWith, bench.writes.at(-1)?.isNoOp], [422, true]);
  });

  it('records a delete of many by its objects, and what is refused before it is tried', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    for (const name of ['one', 'two']) await bench.apply(greetingObject('hi', name));
    bench.clearRecords();
    const { url, token } = bench.server;
    const ask = async (method: string, more: RequestInit = {}): Promise<number> => {
      const { status } = await fetch(`${url}/apis/platform.example/v1/namespaces/default/greetings`, {
        ...{ method, ...more },
        headers: { authorization: `Bearer ${token}`, 'user-agent': 'somebody', 'content-type': 'application/json' },
      });
      return status;
    };
    assert.deepEqual([await ask('POST', { body: '{' }), await ask('DELETE')], [400, 200]);
    assert.deepEqual(
      bench.writes.map(({ verb, kind, name, manager, isNoOp, refusedWith }) => [verb, kind, name, manager, isNoOp, refusedWith]),
      [
        ['create', 'Greeting', '', 'somebody', true, 400],
        ['delete', 'Greeting', 'one', 'somebody', false, undefined],
        ['delete', 'Greeting', 'two', 'somebody', false, undefined],
      ],
    );
  });

  it('applies the items of a list', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    const list = { apiVersion: 'v1', kind: 'List', items: [greetingObject('hi', 'one'), greetingObject('ho', 'two')] };
    const applied = await bench.apply(JSON.stringify(list));
    assert.deepEqual(
      applied.map(({ metadata }) => metadata.name),
      ['one', 'two'],
    );
  });

  it('lets drift be repaired, follows a change of the spec, and collects what is deleted', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    bench.clearRecords();
    await bench.patch('ConfigMap', 'hello', { data: { text: 'no' } });
    await bench.settle();
    await bench.apply(greetingObject('ho'));
    await bench.settle();
    assert.deepEqual(branches(bench), ['child-changed reconciled', 'generation-changed reconciled']);
    assert.deepEqual((await bench.get('ConfigMap', 'hello'))?.data, { text: 'ho' });
    assert.equal(await bench.delete('Greeting', 'hello'), true);
    await bench.settle();
    assert.equal(await bench.get('ConfigMap', 'hello'), undefined);
    assert.equal(await bench.delete('Greeting', 'hello'), false);
  });

  it('follows retries to their dead letter, in no time', async () => {
    const reconcile = async (): Promise<never> => {
      throw new Error('no such luck');
    };
    await using bench = await startBench({ reconcilers: [greetingWith({ reconcile })], settings: { maxAttempts: 4 } });
    const began = bench.now.getTime();
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.outcomes.map(({ branch, attempt, disposition }) => [branch, attempt, disposition]),
      [1, 2, 3, 4].map((attempt) => ['author-error', attempt, attempt === 4 ? 'dead-letter' : 'requeue']),
    );
    const [letter] = bench.deadLetters;
    assert.deepEqual([letter?.name, letter?.diagnosis?.attempts.length], ['hello', 4]);
    assert.match(letter?.message ?? '', /no such luck/);
    assert.match(bench.outcomes[0]?.stack ?? '', /bench\.test\.ts/);
    assert.ok(bench.now.getTime() - began > 5_000, 'virtual time has passed');
  });

  it('takes a wake-up that was asked for as rest, and goes on to it when time is let pass', async () => {
    const reconcile = async () => ({ status: { configMap: '' }, requeueAfterSeconds: 1800 });
    await using bench = await startBench({ reconcilers: [greetingWith({ reconcile })] });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(branches(bench), ['created requeue-after']);
    await bench.advance(1799);
    assert.deepEqual(
      branches(bench).filter((branch) => !branch.endsWith('not-due')),
      ['created requeue-after'],
    );
    await bench.advance(3000);
    assert.equal(branches(bench).filter((branch) => branch === 'requeue requeue-after').length, 2);
  });

  it('follows the wake-ups of a deletion to its end', async () => {
    let asked = 0;
    const finalize = async () => {
      asked += 1;
      return asked < 3 ? ({ done: false, requeueAfterSeconds: 60 } as const) : ({ done: true } as const);
    };
    await using bench = await startBench({ reconcilers: [greetingWith({ finalizer: 'platform.example/greeting', finalize })] });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    await bench.delete('Greeting', 'hello');
    await bench.settle();
    assert.equal(await bench.get('Greeting', 'hello'), undefined);
    assert.equal(asked, 5, 'twice more once all runs that saw it alive are over: function and watcher tell of it');
  });

  it('lists objects of a kind, all or those with a label', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    const greeting = await bench.apply(greetingObject('hi'));
    await bench.apply('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other, labels: { mine: "no" } }\n');
    await bench.settle();
    const names = async (selector?: string): Promise<string[]> =>
      (await bench.list('ConfigMap', selector)).map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['hello', 'other']);
    assert.deepEqual(await names(`dogwatch.dev/owner=${greeting.metadata.uid}`), ['hello']);
    assert.deepEqual(await names('mine!=no'), ['hello']);
  });

  it('has as many clusters as are named, each for itself', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()], clusters: ['east', 'west'] });
    await bench.cluster('west').apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.outcomes.map(({ cluster, branch }) => [cluster, branch]),
      [['west', 'reconciled']],
    );
    assert.equal(await bench.cluster('east').get('ConfigMap', 'hello'), undefined);
    assert.throws(() => bench.cluster('north'), /no cluster north; there are: east, west/);
  });

  it('goes on with another watcher after the death of one', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    const resume = bench.faults.stallWatches();
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(bench.messages, []);
    await bench.restartWatcher();
    resume();
    await bench.settle();
    assert.deepEqual(branches(bench), ['sweep reconciled']);
  });

  it('ends a reconciler that hangs by its deadline, and redrives its message in the end', async () => {
    const reconcile = (): Promise<never> => new Promise(() => {});
    await using bench = await startBench({ reconcilers: [greetingWith({ reconcile })], hangMs: 20, settings: NO_HEALING });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.outcomes.map(({ disposition }) => disposition),
      Array(5).fill('fail-item'),
    );
    assert.deepEqual(
      bench.deadLetters.map(({ name, code }) => [name, code]),
      [['hello', undefined]],
    );
  });
});
