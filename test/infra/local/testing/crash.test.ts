import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, BenchError, forEachCrash, startBench } from '../../../../infra/local/testing/index.ts';
import { greetingObject, greetingWith } from './greeting.ts';

describe('a crash on a bench', () => {
  it('comes before the effect, which the run after it makes up for, when its message is visible again', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    bench.crash({ before: 'apply status' });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.outcomes.map(({ branch, reason, attempt }) => [branch, reason, attempt]),
      [
        ['crashed', 'created', 1],
        ['reconciled', 'created', 1],
      ],
    );
    assert.equal(bench.writes.filter(({ subresource }) => subresource === 'status').length, 1);
    assert.ok(bench.now.getTime() - Date.parse('2026-01-01T00:00:00Z') >= 180_000);
  });

  it('comes after the effect, whose answer nobody hears', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    bench.crash({ after: /^apply status/ });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.writes.filter(({ subresource }) => subresource === 'status').map(({ isNoOp }) => isNoOp),
      [false, true],
    );
    assert.deepEqual(
      bench.effects.filter(({ crashed }) => crashed !== undefined).map(({ index, crashed }) => [index, crashed]),
      [[2, 'after']],
    );
  });

  it('comes as often as is said, or not at all once it is lifted', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    bench.crash({ before: 'apply ConfigMap', times: 2 });
    const lift = bench.crash({ before: 3 });
    lift();
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.outcomes.map(({ branch }) => branch),
      ['crashed', 'crashed', 'reconciled'],
    );
  });

  it('leaves a message that is received too often to the dead letters, as SQS does', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()], settings: { healAfterSeconds: 7200 } });
    bench.crash({ before: 'apply ConfigMap', times: Infinity });
    await bench.apply(greetingObject('hi'));
    await bench.advance(1000);
    assert.equal(bench.outcomes.length, 5);
    assert.deepEqual(
      bench.deadLetters.map(({ name, code }) => [name, code]),
      [['hello', undefined]],
    );
  });

  it('that does not come in the settle or advance after it fails that call, which says what there was to die at', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    bench.crash({ before: 'aply status' });
    bench.crash({ after: 'ConfigMap' });
    await bench.apply(greetingObject('hi'));
    await assert.rejects(bench.settle(), (error) => {
      assert.ok(error instanceof BenchError);
      assert.equal(error.code, 'crash-unused');
      assert.match(
        error.message,
        /^no effect since crash\(\{ before: 'aply status' \}\) is one that it asks for; they are: 1 apply ConfigMap .+; 5 acknow/,
      );
      return true;
    });
    await bench.settle(); // told once
    bench.crash({ before: 1 });
    await assert.rejects(bench.advance(10), /^BenchError: no effect came since crash\(\{ before: 1 \}\); arm it right before/);
  });

  it('may come again in a later settle, or not, once it has come', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    bench.crash({ before: () => bench.outcomes.length === 0, times: Infinity });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    await bench.settle();
    assert.equal(bench.outcomes.length, 2);
  });

  it('is either before or after, once or more often', async () => {
    await using bench = await startBench({ reconcilers: [] });
    for (const point of [{}, { before: 1, after: 1 }, { before: 1, times: 0 }, { before: 1, times: Number.NaN }])
      assert.throws(() => bench.crash(point as never), { name: 'BenchError', code: 'bad-crash-point' });
  });
});

/** A thing outside for each object, made under that name. */
function scene(nameOf: (uid: string) => string) {
  let bench: Bench | undefined;
  const things = new Set<string>();
  const reconciler = greetingWith({
    owns: [],
    finalizer: 'platform.example/thing',
    async reconcile({ object }) {
      const name = nameOf(object.metadata.uid);
      if (!things.has(name)) await bench?.effect('make thing', async () => things.add(name));
      return { status: { configMap: name } };
    },
    async finalize({ uid }) {
      await bench?.effect('remove thing', async () => things.delete(nameOf(uid)));
      return { done: true };
    },
  });
  const begin = async (given: Bench): Promise<void> => {
    bench = given;
    things.clear();
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.equal(things.size, 1);
  };
  return { options: { reconcilers: [reconciler] }, begin };
}

const BEGINNING = [
  'add finalizer of Greeting default/hello',
  'make thing',
  'apply status of Greeting default/hello',
  'create Event Reconciled of Greeting default/hello',
  'acknowledge created of Greeting default/hello',
];

describe('the effects on a bench', () => {
  it('are all that the function does to the world, in order', async () => {
    const { options, begin } = scene((uid) => uid);
    await using bench = await startBench(options);
    await begin(bench);
    await bench.delete('Greeting', 'hello');
    await bench.settle();
    const afterwards = ['remove thing', 'acknowledge deleted of Greeting default/hello'];
    assert.deepEqual(bench.effectTexts, [
      ...BEGINNING,
      'remove thing',
      'send deleted of Greeting default/hello',
      'remove finalizer of Greeting default/hello',
      'acknowledge deleting of Greeting default/hello',
      // The message of the function, and the one of the watcher.
      ...[...afterwards, ...afterwards],
    ]);
  });
});

describe('forEachCrash', () => {
  it('says where one is not, and what was wrong then', async () => {
    let count = 0;
    const { options, begin } = scene((uid) => {
      count += 1;
      return `${uid}-${count}`;
    });
    await assert.rejects(forEachCrash(options, begin), (error) => {
      assert.ok(error instanceof BenchError);
      const told = error.message.split('\n').filter((line) => /effect \d/.test(line));
      assert.match(error.message, /^6 of 10 deaths of the function are not made up for:\n/);
      assert.match(error.message, /and 1 more$/);
      assert.deepEqual(
        told.map((line) => line.trim().replace(/: .*/, '')),
        ['after 2', 'before 3', 'after 3', 'before 4', 'after 4'].map((where) => {
          const [side, index = ''] = where.split(' ');
          return `${side} effect ${index}, ${BEGINNING[Number(index) - 1]}`;
        }),
      );
      assert.ok(error.cause instanceof assert.AssertionError);
      return true;
    });
  });

  it('throws what the story throws without any death as it is', async () => {
    const fault = new Error('the story is wrong');
    await assert.rejects(
      forEachCrash({ reconcilers: [] }, () => Promise.reject(fault)),
      fault,
    );
  });

  it('passes where every death is made up for, takes those effects only that are asked for, and notices where there is none', async () => {
    const { options, begin } = scene((uid) => uid);
    let count = 0;
    const { effects } = await forEachCrash({ ...options, only: /thing/g }, async (bench) => {
      count += 1;
      await begin(bench);
    });
    assert.deepEqual([effects, count], [BEGINNING, 3]);
    await assert.rejects(
      forEachCrash({ ...options, only: /think/ }, begin),
      /none of the effects of the story fits \/think\/: add finalizer/,
    );
    const nothing = forEachCrash({ reconcilers: [] }, async () => {});
    await assert.rejects(nothing, /the story has no effect/);
  });

  it('notices a story that does not do the same each time', async () => {
    let count = 0;
    const run = forEachCrash({ reconcilers: [greetingWith()] }, async (bench) => {
      count += 1;
      if (count === 1) await bench.apply(greetingObject('hi'));
      await bench.settle();
    });
    await assert.rejects(run, /the effect did not come/);
  });
});
