import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransientError } from '../../../functions/core/errors.ts';
import { processBatch } from '../../../functions/reconcile/batch.ts';
import { REFUSED, RETRY } from '../../fakes/queue.ts';
import { Harness, planFor, type WidgetInput, widgets } from './harness.ts';
import { BULK_ARN, DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord, START } from './records.ts';

const NEVER = new Promise<never>(() => {});

/** Widgets `bad` and `good`; the author does `bad` for the first. */
function pair(bad: (input: WidgetInput) => unknown): Harness {
  const harness = new Harness();
  harness.createWidget('bad');
  harness.createWidget('good');
  harness.author = (input) => (input.key.name === 'bad' ? bad(input) : planFor(input.object));
  // As over the wire, nobody else has what is read: the fake's own objects are frozen.
  const { client } = harness.east;
  const get = client.get.bind(client);
  client.get = async (...args) => structuredClone(await get(...args));
  return harness;
}

function invokePair(harness: Harness): Promise<string[]> {
  const first = harness.recordFor({ name: 'bad', reason: 'created' }, { messageId: 'bad' });
  return harness.invoke(first, harness.recordFor({ name: 'good', reason: 'created' }, { messageId: 'good' }));
}

const branchOf = (harness: Harness, name: string): unknown =>
  harness.lines.find(({ fields }) => String(fields['key']).endsWith(`/${name}`) && 'branch' in fields)?.fields['branch'];

describe('a batch: one object’s fault leaves the other alone', () => {
  const faults: { name: string; bad: (input: WidgetInput) => unknown; branch: string; code?: string; fails?: boolean }[] = [
    {
      name: 'throws an error',
      bad: () => {
        throw new TypeError('boom');
      },
      branch: 'author-error',
    },
    {
      name: 'throws undefined',
      bad: () => {
        throw undefined;
      },
      branch: 'author-error',
    },
    {
      name: 'throws something that cannot be read',
      bad: () => {
        throw new Proxy({}, { get: () => assert.fail('read'), getPrototypeOf: () => assert.fail('read') });
      },
      branch: 'author-error',
    },
    { name: 'returns nothing', bad: () => undefined, branch: 'author-error' },
    { name: 'returns a number', bad: () => 42, branch: 'author-error' },
    { name: 'returns a Plan that is nonsense', bad: () => ({ status: { count: 1 }, apply: [{ kind: 7 }] }), branch: 'author-error' },
    { name: 'returns a status that its own schema refuses', bad: () => ({ status: { count: 'many' } }), branch: 'author-error' },
    {
      name: 'changes what it was given',
      bad: ({ object }) => {
        object.spec.config.push('more');
      },
      branch: 'author-error',
    },
    {
      name: 'changes what it read',
      bad: async ({ object, read }) => {
        const found = await read(widgets, { name: object.metadata.name });
        Object.assign(found?.['spec'] as object, { config: ['more'] });
        return planFor(object);
      },
      branch: 'author-error',
    },
    {
      name: 'aborts a call of its own',
      bad: () => {
        const own = new AbortController();
        own.abort();
        own.signal.throwIfAborted();
      },
      branch: 'author-error',
    },
    {
      name: 'has a call that ends with an AbortError when told to',
      bad: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))),
      branch: 'unknown',
      fails: true,
    },
    { name: 'never ends', bad: () => NEVER, branch: 'unknown', fails: true },
    {
      name: 'ends only when told to',
      bad: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
      branch: 'unknown',
      fails: true,
    },
  ];
  for (const { name, bad, branch, fails = false } of faults) {
    it(`settles the good one when the author of the other ${name}`, async () => {
      const harness = pair(bad);
      assert.deepEqual(await invokePair(harness), fails ? ['bad'] : []);
      assert.equal(branchOf(harness, 'bad'), branch);
      assert.equal(branchOf(harness, 'good'), 'reconciled');
      assert.equal(harness.status('good')['observedGeneration'], 1);
      assert.deepEqual(harness.configNames('good'), ['one']);
      assert.equal(harness.queue.envelopes(QUEUE_URLS.live).length, fails ? 0 : 1);
      assert.equal(harness.clock.sleeperCount, 0);
    });
  }

  it('settles the good one when the API server does not answer for the other (B24)', async () => {
    const harness = new Harness();
    harness.createWidget('a', ['one'], harness.east);
    harness.createWidget('a', ['one'], harness.west);
    harness.east.fault({}, { hang: true }, 99);
    const east = harness.recordFor({ cluster: 'east' }, { messageId: 'east' });
    assert.deepEqual(await harness.invoke(east, harness.recordFor({ cluster: 'west' })), ['east']);
    assert.equal(harness.status('a', harness.west)['observedGeneration'], 1);
  });
});

describe('a batch: time', () => {
  it('ends a run at its own deadline, and a late author writes nothing any more', async () => {
    const late = Promise.withResolvers<void>();
    const harness = pair(async ({ object }) => {
      await late.promise;
      return planFor(object);
    });
    assert.deepEqual(await invokePair(harness), ['bad']);
    assert.equal(harness.clock.now().getTime() - START.getTime(), 20_000);
    const before = harness.east.requests.length;
    late.resolve();
    await harness.clock.settle();
    assert.equal(harness.east.requests.length, before);
    assert.deepEqual(harness.configNames('bad'), []);
  });

  for (const [remainingMs, usedMs] of [
    [22_000, 17_000],
    [12_000, 9_000],
    [5_000, 3_750],
  ] as const) {
    it(`uses ${usedMs} of ${remainingMs} ms: five seconds or a quarter are left to what is to be sent`, async () => {
      const harness = pair(() => NEVER);
      harness.remainingMs = remainingMs;
      assert.deepEqual(await invokePair(harness), ['bad']);
      assert.equal(harness.clock.now().getTime() - START.getTime(), usedMs);
    });
  }

  it('starts nothing where no time is left', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.remainingMs = 0;
    assert.deepEqual(await harness.invoke(harness.recordFor({}, { messageId: 'm' })), ['m']);
    assert.deepEqual(harness.east.requests, []);
  });

  it('runs ten objects at once and no more, and every one of them', async () => {
    const harness = new Harness();
    const names = Array.from({ length: 25 }, (_, index) => `w${index}`);
    for (const name of names) harness.createWidget(name, []);
    let running = 0;
    let most = 0;
    harness.author = async ({ object }) => {
      running += 1;
      most = Math.max(most, running);
      await harness.clock.sleep(100);
      running -= 1;
      return planFor(object);
    };
    assert.deepEqual(await harness.invoke(...names.map((name) => harness.recordFor({ name }))), []);
    assert.equal(most, 10);
    for (const name of names) assert.equal(harness.status(name)['observedGeneration'], 1);
  });

  it('keeps what was decided when showing it does not end in time', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    harness.east.fault({ verb: 'applyStatus', name: 'bad' }, { hang: true }, 9);
    assert.deepEqual(await invokePair(harness), []);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.attempt, 2);
  });

  it('waits for no call that ignores the signal', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    Object.assign(harness.east.client, { applyStatus: () => NEVER });
    // What is known of the bad one is sent although it cannot be shown; of the good one nothing is known.
    assert.deepEqual(await invokePair(harness), ['good']);
    assert.equal(harness.clock.now().getTime() - START.getTime(), 20_000);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.attempt, 2);
  });

  it('answers in time when a send does not', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    harness.queue.hold();
    assert.deepEqual(await invokePair(harness), ['bad']);
    assert.equal(harness.clock.now().getTime() - START.getTime(), 29_000);
  });
});

describe('a batch: one run for the records of one object', () => {
  it('acknowledges all of them, sends one message for all, and fails all', async () => {
    for (const { answer, failed, sent } of [
      { answer: undefined, failed: [], sent: 1 },
      { answer: RETRY, failed: ['m1', 'm2'], sent: 0 },
    ]) {
      const harness = pair(() => {
        throw new Error('boom');
      });
      if (answer !== undefined) harness.queue.answer = () => answer;
      const records = ['m1', 'm2'].map((messageId) => harness.recordFor({ name: 'bad', reason: 'created' }, { messageId }));
      assert.deepEqual(await harness.invoke(...records), failed);
      assert.equal(harness.inputs.length, 1);
      assert.equal(harness.queue.accepted.length, sent);
    }
  });

  it('reconciles the living object for a deletion message of an earlier one, and deletes nothing of it (B10)', async () => {
    const harness = new Harness();
    harness.createWidget();
    await harness.deliver({ reason: 'created' });
    const gone = { uid: 'uid-of-old', reason: 'deleted' } as const;
    assert.deepEqual(await harness.invoke(harness.recordFor(gone), harness.recordFor(gone)), []);
    assert.equal(harness.lastRun()['branch'], 'settled');
    assert.deepEqual(harness.east.requestsOf('delete'), []);
    assert.deepEqual(harness.configNames(), ['one']);
  });

  it('names a message once, also where the batch holds it twice', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.remainingMs = 0;
    const record = harness.recordFor({}, { messageId: 'm' });
    assert.deepEqual(await harness.invoke(record, record), ['m']);
  });
});

describe('a batch: what is sent', () => {
  it('sends a retry to the lane it came from, in its cluster’s group, with the trace and a new id', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await harness.invoke(harness.recordFor({ name: 'bad', reason: 'sweep' }, { arn: BULK_ARN, traceparent }));
    const [sent] = harness.queue.accepted;
    assert.equal(sent?.queueUrl, QUEUE_URLS.bulk);
    assert.equal(sent?.message.groupId, 'east');
    assert.equal(sent?.message.attributes, undefined);
    assert.ok(Number(sent?.message.delaySeconds) >= 1);
    assert.equal(harness.queue.envelopes()[0]?.traceparent, traceparent);
  });

  it('sends a dead letter with its diagnosis and attributes, then acknowledges', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    const failed = await harness.invoke(harness.recordFor({ name: 'bad', reason: 'retry', attempt: 10, mustRun: true }));
    assert.deepEqual(failed, []);
    const [sent] = harness.queue.accepted;
    assert.equal(sent?.queueUrl, DEAD_LETTER_QUEUE_URL);
    assert.equal(sent?.message.delaySeconds, 0);
    const expected = { cluster: 'east', kind: 'Widget', name: 'bad', code: 'author-error', generation: '1' };
    assert.deepEqual(sent?.message.attributes, expected);
    const data = harness.queue.envelopes()[0]?.data;
    assert.equal(data?.lane, 'live');
    assert.equal(data?.diagnosis?.attempts.at(-1)?.attempt, 10);
  });

  it('ends a chain of failures in exactly one letter, and a new generation begins with a new budget (B41)', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    await harness.deliver({ name: 'bad', reason: 'created' });
    let runs = 1;
    while (harness.lastRun()['disposition'] === 'requeue') {
      await harness.redeliver();
      runs += 1;
    }
    assert.equal(runs, 10);
    assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL).length, 1);
    assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)[0]?.data.diagnosis?.attempts.length, 10);
    harness.author = ({ object }) => planFor(object);
    harness.setConfig(['two'], 'bad');
    assert.equal((await harness.deliver({ name: 'bad' }))['attempt'], 1);
    assert.equal(harness.lastRun()['branch'], 'reconciled');
  });

  for (const { name, fault } of [
    { name: 'does not take it now', fault: () => RETRY },
    { name: 'refuses it', fault: () => REFUSED },
    { name: 'does not mention it', fault: () => undefined },
    {
      name: 'throws',
      fault: () => {
        throw new Error('no network');
      },
    },
  ]) {
    it(`fails the item when SQS ${name}`, async () => {
      for (const attempt of [1, 10]) {
        const harness = pair(() => {
          throw new Error('boom');
        });
        harness.queue.answer = fault;
        const record = harness.recordFor({ name: 'bad', reason: 'retry', attempt, mustRun: true }, { messageId: 'm' });
        assert.deepEqual(await harness.invoke(record), ['m']);
        assert.ok(harness.lines.some(({ level, message }) => level === 'error' && message.startsWith('message not sent')));
      }
    });
  }

  it('fails the item when the queue cannot be loaded', async () => {
    const harness = pair(() => {
      throw new Error('boom');
    });
    const dependencies = { ...harness.dependencies(), queue: () => Promise.reject(new Error('no sqs.cjs')) };
    const event = { Records: [harness.recordFor({ name: 'bad' }, { messageId: 'm' })] };
    const answer = await harness.finish(processBatch(event, { remainingMs: () => 30_000 }, dependencies));
    assert.deepEqual(answer, { batchItemFailures: [{ itemIdentifier: 'm' }] });
  });

  it('keeps the body of a newer type of ours waiting, and makes it a letter once it is too old', async () => {
    const harness = new Harness();
    const body = (time: Date) => JSON.stringify({ type: 'dev.dogwatch.reconcile.v2', time, data: { cluster: 'west', fresh: [1] } });
    const young = body(START);
    await harness.invoke(rawRecord(young, { arn: BULK_ARN }));
    assert.deepEqual(harness.queue.accepted, [{ queueUrl: QUEUE_URLS.bulk, message: { body: young, delaySeconds: 300, groupId: 'west' } }]);
    const old = body(new Date(START.getTime() - 21_600_000));
    await harness.invoke(rawRecord(old));
    const letter = harness.queue.accepted.at(-1);
    assert.equal(letter?.queueUrl, DEAD_LETTER_QUEUE_URL);
    assert.equal(letter?.message.body, old);
    assert.equal(letter?.message.attributes?.['code'], 'newer-type');
    assert.equal(harness.lines.at(-1)?.fields['because'], 'age');
  });

  it('does not send a newer type on for ever where its time says nothing of its age', async () => {
    for (const time of [undefined, 'soon', '2999-01-01T00:00:00Z']) {
      const harness = new Harness();
      await harness.invoke(rawRecord(JSON.stringify({ type: 'dev.dogwatch.reconcile.v2', time, data: {} })));
      assert.deepEqual(
        harness.queue.accepted.map(({ queueUrl, message }) => [queueUrl, message.attributes?.['code']]),
        [[DEAD_LETTER_QUEUE_URL, 'bad-envelope']],
      );
    }
  });

  it('fails the item for a fault of our own', async () => {
    const harness = new Harness();
    harness.createWidget();
    const dependencies = {
      ...harness.dependencies(),
      budgets: { retryBaseSeconds: 0, maxAgeSeconds: 1, maxAttempts: 1, overtakenMaxAttempts: 1 },
    };
    harness.east.fault({}, { throw: new TransientError('server-error', 'down') });
    const event = { Records: [harness.recordFor({}, { messageId: 'm' })] };
    const answer = await harness.finish(processBatch(event, { remainingMs: () => 30_000 }, dependencies));
    assert.deepEqual(answer.batchItemFailures, [{ itemIdentifier: 'm' }]);
    assert.equal(harness.lines.at(-1)?.fields['branch'], 'unforeseen');
  });

  it('answers an empty event with no failures', async () => {
    const harness = new Harness();
    assert.deepEqual(await harness.invoke(), []);
    const answer = await harness.finish(processBatch({} as never, { remainingMs: () => 30_000 }, harness.dependencies()));
    assert.deepEqual(answer, { batchItemFailures: [] });
  });
});
