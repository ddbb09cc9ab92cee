/** A cluster that does not answer: left alone by all runs but one at a time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { processBatch } from '../../../functions/reconcile/batch.ts';
import { breakEast, circuitLines, down, opened, run, widgetsOf } from './circuit-scene.ts';
import { type Harness, planFor } from './harness.ts';
import { QUEUE_URLS, START } from './records.ts';

const NEVER = new Promise<never>(() => {});

describe('a cluster that does not answer', () => {
  it('is asked by those of a batch that began together, and by nobody after them; another cluster’s run settles', async () => {
    const { harness, names } = widgetsOf(25);
    harness.createWidget('a', ['one'], harness.west);
    breakEast(harness, down());
    const west = harness.recordFor({ cluster: 'west', reason: 'created' });
    const east = names.map((name) => harness.recordFor({ name, reason: 'created' }));
    assert.deepEqual(await harness.invoke(...east, west), []);
    assert.equal(harness.status('a', harness.west)['observedGeneration'], 1);
    assert.equal(harness.east.requests.length, 10);
    const branches = harness.lines.filter(({ message }) => message === 'record processed').map(({ fields }) => fields['branch']);
    assert.equal(branches.filter((branch) => branch === 'transient').length, 10);
    assert.equal(branches.filter((branch) => branch === 'circuit-open').length, 15);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live).length, 25, 'none is lost');
  });

  it('takes the time of one time-out of a batch, however many records are about it', async () => {
    const { harness, names } = widgetsOf(40);
    const hang = async (): Promise<never> => {
      await harness.clock.sleep(15_000);
      throw down('timeout');
    };
    harness.east.fault({}, { first: hang }, 1e9);
    harness.remainingMs = 60_000;
    await run(harness, names);
    assert.equal(harness.clock.now().getTime() - START.getTime(), 15_000);
  });

  it('counts as silent where our own deadline ends its calls before their time-out does', async () => {
    const { harness, names } = widgetsOf(7);
    harness.remainingMs = 5_000;
    harness.east.fault({}, { hang: true }, 1e9);
    for (const name of names.slice(0, 5)) assert.deepEqual(await run(harness, [name]), ['unknown']);
    const before = harness.clock.now().getTime();
    assert.deepEqual(await run(harness, names.slice(5)), ['circuit-open', 'circuit-open']);
    assert.equal(harness.clock.now().getTime(), before, 'nobody waited');
  });

  it('does not count as silent where a run ends right after it asked', async () => {
    const { harness, names } = widgetsOf(6);
    harness.author = async ({ object, key }) => {
      if (key.name !== 'w5') await harness.clock.sleep(19_999);
      return planFor(object);
    };
    harness.east.fault({ verb: 'list' }, { hang: true }, 10);
    for (const name of names.slice(0, 5)) assert.deepEqual(await run(harness, [name]), ['unknown']);
    assert.deepEqual(await run(harness, ['w5']), ['reconciled']);
  });

  for (const code of ['unreachable', 'timeout', 'throttled', 'unauthorized']) {
    it(`opens its circuit with the fifth ${code}: that message is sent again as ever, the next one only waits`, async () => {
      const { harness } = widgetsOf(6);
      breakEast(harness, down(code));
      for (const name of ['w0', 'w1', 'w2', 'w3']) await run(harness, [name]);
      await run(harness, ['w4'], { attempt: 3, failures: { transient: 2 } });
      assert.equal(harness.queue.envelopes(QUEUE_URLS.live).at(-1)?.data.attempt, 4);
      assert.equal(harness.queue.envelopes(QUEUE_URLS.live).at(-1)?.data.reason, 'retry');
      const record = harness.recordFor({ name: 'w5', reason: 'created', attempt: 3, failures: { transient: 2 } });
      await harness.invoke(record);
      const data = harness.queue.envelopes(QUEUE_URLS.live).at(-1)?.data;
      const delaySeconds = harness.queue.accepted.at(-1)?.message.delaySeconds ?? 0;
      assert.ok(delaySeconds >= 10 && delaySeconds <= 13, `${delaySeconds}`);
      assert.deepEqual(data, { ...JSON.parse(record.body).data, lane: 'live', heldSeconds: delaySeconds });
      assert.equal(harness.lastRun()['apiRequestCount'], 0);
    });
  }

  it('is one that answers nothing: any answer about an object keeps its circuit closed', async () => {
    const { harness } = widgetsOf(1);
    const answers = [
      new TransientError('server-error', 'x'),
      new TransientError('forbidden', 'x'),
      new TerminalError('invalid', 'x'),
      new TerminalError('final-server-error', 'x'),
      new ConflictError('field-manager-conflict', 'x'),
    ];
    for (const answer of answers) {
      for (const error of [down(), down('timeout'), down('throttled'), down('unauthorized'), answer]) {
        harness.east.fault({ verb: 'get' }, { throw: error });
        assert.notDeepEqual(await run(harness, ['w0']), ['circuit-open']);
      }
    }
    assert.deepEqual(await run(harness, ['w0']), ['reconciled']);
  });

  it('is not found by an author whose own calls fail with the same code', async () => {
    const { harness } = widgetsOf(6);
    harness.author = () => {
      throw down('unreachable');
    };
    for (const name of ['w0', 'w1', 'w2', 'w3', 'w4', 'w5']) assert.deepEqual(await run(harness, [name]), ['transient']);
  });

  it('is not found by one object whose writes go unanswered side by side', async () => {
    const { harness } = widgetsOf(2);
    harness.author = ({ object }) => ({
      ...planFor(object),
      apply: Array.from({ length: 8 }, (_, index) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `n${index}` } })),
    });
    harness.east.fault({ verb: 'apply' }, { throw: down('timeout') }, 8);
    assert.deepEqual(await run(harness, ['w0']), ['transient']);
    assert.deepEqual(await run(harness, ['w1']), ['reconciled']);
  });
});

describe('a probe', () => {
  it('is one run of a batch, and its success lets the next ones go', async () => {
    const { harness, names, outage } = await opened();
    outage.error = undefined;
    await harness.clock.advance(10_000);
    const branches = await run(harness, names.slice(0, 10));
    assert.deepEqual(branches, ['reconciled', ...Array(9).fill('circuit-open')]);
    for (const { message } of harness.queue.accepted) assert.ok(message.delaySeconds >= 10 && message.delaySeconds <= 13);
    assert.deepEqual(await run(harness, names.slice(1)), Array(11).fill('reconciled'));
  });

  it('doubles the wait when it fails, and its own message is sent again as ever', async () => {
    const { harness } = await opened();
    const waits: unknown[] = [];
    for (const waitedSeconds of [10, 20, 40, 80, 160, 300]) {
      await harness.clock.advance(waitedSeconds * 1000);
      assert.deepEqual(await run(harness, ['w0', 'w1']), ['transient', 'circuit-open']);
      waits.push(circuitLines(harness)[0]?.fields['waitSeconds']);
      const sent = harness.queue.envelopes().map(({ data }) => `${data.name} ${data.reason} ${data.attempt}`);
      assert.deepEqual(sent.sort().slice(-2), ['w0 retry 2', 'w1 created 1']);
      harness.queue.accepted.length = 0;
    }
    assert.deepEqual(waits, [20, 40, 80, 160, 300, 300]);
  });

  it('waits at least as long as a 429 asks', async () => {
    const { harness, outage } = await opened();
    outage.error = down('throttled', 700);
    await harness.clock.advance(10_000);
    await run(harness, ['w0', 'w1']);
    const delays = Object.fromEntries(
      harness.queue.accepted.map(({ message }, at) => [harness.queue.envelopes()[at]?.data.name, message.delaySeconds]),
    );
    assert.equal(delays['w0'], 700);
    assert.ok((delays['w1'] ?? 0) >= 10 && (delays['w1'] ?? 0) <= 13, 'while nobody knows, it asks again soon');
    harness.queue.accepted.length = 0;
    await run(harness, ['w2']);
    assert.ok((harness.queue.accepted[0]?.message.delaySeconds ?? 0) >= 700);
  });

  const ends: { name: string; prepare: (harness: Harness) => Promise<unknown>; after: string }[] = [
    {
      name: 'asks nothing, because no time is left',
      prepare: async (harness) => {
        harness.remainingMs = 0;
        await run(harness, ['w0']);
        harness.remainingMs = 30_000;
      },
      after: 'reconciled',
    },
    { name: 'finds its object gone', prepare: (harness) => run(harness, ['nobody']), after: 'reconciled' },
    {
      name: 'ends at its deadline after an answer',
      prepare: async (harness) => {
        harness.author = ({ object, key }) => (key.name === 'w0' ? NEVER : planFor(object));
        assert.deepEqual(await run(harness, ['w0']), ['unknown']);
      },
      after: 'reconciled',
    },
    {
      name: 'has a call that ends neither with an answer nor with the signal',
      prepare: async (harness) => {
        const { get } = harness.east.client;
        Object.assign(harness.east.client, { get: () => NEVER });
        assert.deepEqual(await run(harness, ['w0']), ['unknown']);
        Object.assign(harness.east.client, { get });
        await harness.clock.advance(20_000);
      },
      after: 'reconciled',
    },
    {
      name: 'meets a fault of ours',
      prepare: async (harness) => {
        harness.author = () => {
          throw new Error('boom');
        };
        const budgets = { retryBaseSeconds: 0, maxAgeSeconds: 1, maxAttempts: 9, overtakenMaxAttempts: 1 };
        const event = { Records: [harness.recordFor({ name: 'w0', reason: 'created' })] };
        const invocation = { remainingMs: () => 30_000 };
        await harness.finish(processBatch(event, invocation, { ...harness.dependencies(), budgets }));
        assert.equal(harness.lines.at(-1)?.fields['branch'], 'unforeseen');
        harness.author = ({ object }) => planFor(object);
      },
      after: 'reconciled',
    },
  ];
  for (const { name, prepare, after } of ends) {
    it(`keeps nobody waiting when it ${name}`, async () => {
      const { harness, outage } = await opened();
      outage.error = undefined;
      await harness.clock.advance(10_000);
      await prepare(harness);
      assert.deepEqual(await run(harness, ['w7']), [after]);
    });
  }

  it('is no record that is not due, nor one of an unknown kind', async () => {
    const { harness, outage } = await opened();
    outage.error = undefined;
    await harness.clock.advance(10_000);
    const notBefore = new Date(harness.clock.now().getTime() + 60_000).toISOString();
    const others = [harness.recordFor({ name: 'w1', notBefore }), harness.recordFor({ kind: 'Gadget' })];
    await harness.invoke(...others, harness.recordFor({ name: 'w0', reason: 'created' }));
    assert.equal(harness.lastRun()['branch'], 'reconciled');
  });

  it('hears nothing from runs that began before the circuit opened, also once it has closed again', async () => {
    const { harness } = widgetsOf(12);
    const late = async (): Promise<never> => {
      await harness.clock.sleep(15_000);
      throw down('timeout');
    };
    const slow = ['w6', 'w7', 'w8', 'w9', 'w10'];
    // They have written, so they wait for the answer to their confirm.
    for (const name of slow) harness.east.fault({ verb: 'applyStatus', name }, { first: late });
    const before = harness.begin(...slow.map((name) => harness.recordFor({ name })));
    await harness.clock.settle();
    for (const name of ['w0', 'w1', 'w2', 'w3', 'w4']) {
      harness.east.fault({ name }, { throw: down() });
      await harness.begin(harness.recordFor({ name }));
    }
    await harness.clock.advance(10_000);
    assert.deepEqual(await run(harness, ['w0']), ['reconciled']);
    await harness.finish(before);
    assert.deepEqual(await run(harness, ['w11']), ['reconciled'], 'five late time-outs of another era');
  });

  it('is let in when either clock says that it is time', async () => {
    const { harness, outage } = await opened();
    outage.error = undefined;
    harness.clock.setForward(-3_600_000);
    assert.deepEqual(await run(harness, ['w0']), ['circuit-open']);
    await harness.clock.advance(10_000);
    assert.deepEqual(await run(harness, ['w0']), ['reconciled'], 'a clock set back keeps nothing open');
    outage.error = down();
    for (const name of ['w1', 'w2', 'w3', 'w4', 'w5']) await run(harness, [name]);
    outage.error = undefined;
    harness.clock.setForward(10_000);
    assert.deepEqual(await run(harness, ['w6']), ['reconciled'], 'frozen for ten seconds, as Lambda does');
  });
});

describe('what is logged of a circuit', () => {
  it('is one line when it opens, one for each probe that fails, and one when it closes', async () => {
    const { harness } = widgetsOf(8);
    const outage = breakEast(harness, down());
    const lines: unknown[] = [];
    const collect = (): void => void lines.push(...circuitLines(harness).map(({ level, message, fields }) => [level, message, fields]));
    for (const name of ['w0', 'w1', 'w2', 'w3', 'w4', 'w5', 'w6']) {
      await run(harness, [name]);
      collect();
    }
    await harness.clock.advance(10_000);
    await run(harness, ['w0', 'w1']);
    collect();
    outage.error = undefined;
    await harness.clock.advance(20_000);
    await run(harness, ['w0']);
    collect();
    await run(harness, ['w1']);
    collect();
    const code = 'unreachable';
    assert.deepEqual(lines, [
      ['warn', 'circuit opened: runs of the cluster wait', { cluster: 'east', failures: 5, waitSeconds: 10, code }],
      ['warn', 'circuit stays open: the probe failed', { cluster: 'east', failures: 6, waitSeconds: 20, code }],
      ['info', 'circuit closed: the cluster answers again', { cluster: 'east', failures: 6, code }],
    ]);
  });
});
