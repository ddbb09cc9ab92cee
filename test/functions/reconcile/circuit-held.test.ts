/** What becomes of a message behind an open circuit: it waits, at the cost of no budget, and loses nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { TerminalError } from '../../../functions/core/errors.ts';
import { namespaces } from '../../../functions/core/kinds.ts';
import { down, opened, run, widgetsOf } from './circuit-scene.ts';
import { type Harness, planFor, type WidgetInput, widgets } from './harness.ts';
import { BULK_ARN, DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord, START } from './records.ts';

describe('a message held behind an open circuit', () => {
  it('is no dead letter for the time that it was held, however long', async () => {
    const { harness } = await opened();
    const held = () => harness.queue.accepted.filter(({ message }) => message.body.includes('"name":"w5"')).at(-1)?.message;
    await run(harness, ['w5']);
    let hops = 1;
    for (; harness.clock.now().getTime() - START.getTime() < 12 * 3_600_000; hops += 1) {
      await harness.clock.advance((held()?.delaySeconds ?? 0) * 1000);
      // Somebody else is always the probe, and always fails.
      await run(harness, ['w0'], { firstSeenAt: harness.clock.now().toISOString() });
      await harness.invoke(rawRecord(held()?.body ?? ''));
      assert.equal(harness.lastRun()['branch'], 'circuit-open');
    }
    assert.ok(hops > 100, `${hops}`);
    const { data } = JSON.parse(held()?.body ?? '') as { data: EnvelopeData };
    assert.deepEqual([data.attempt, data.firstSeenAt, data.failures], [1, START.toISOString(), undefined]);
    await harness.clock.advance((held()?.delaySeconds ?? 0) * 1000);
    await harness.invoke(rawRecord(held()?.body ?? ''));
    assert.deepEqual([harness.lastRun()['branch'], harness.lastRun()['disposition']], ['transient', 'requeue']);
    assert.deepEqual(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL), []);
  });

  it('that was received before reads the newest when its time comes, whatever it was about', async () => {
    const { harness, outage } = await opened();
    await harness.invoke(harness.recordFor({ name: 'w9', reason: 'requeue', resourceVersion: '1001' }, { receiveCount: '2' }));
    const data = harness.queue.envelopes()[0]?.data;
    assert.deepEqual([data?.reason, data?.mustRun, data?.resourceVersion, data?.attempt], ['retry', true, undefined, 1]);
    outage.error = undefined;
    assert.equal((await harness.redeliver())['branch'], 'reconciled');
    assert.equal(harness.east.requestsOf('get', 'Widget.platform.example').at(0)?.detail['resourceVersion'], undefined);
  });

  it('goes back to the lane it came from, and is left in the queue where SQS does not take it', async () => {
    const { harness } = await opened();
    await harness.invoke(harness.recordFor({ name: 'w9', reason: 'sweep' }, { arn: BULK_ARN }));
    assert.equal(harness.queue.accepted[0]?.queueUrl, QUEUE_URLS.bulk);
    assert.equal(harness.queue.accepted[0]?.message.groupId, 'east');
    harness.queue.answer = () => ({ kind: 'retry', code: 'ThrottlingException' });
    assert.deepEqual(await harness.invoke(harness.recordFor({ name: 'w9' }, { messageId: 'm' })), ['m']);
  });

  it('is one for all the records of its object', async () => {
    const { harness } = await opened();
    const records = [harness.recordFor({ name: 'w9' }), harness.recordFor({ name: 'w9', reason: 'child-changed', mustRun: true })];
    assert.deepEqual(await harness.invoke(...records), []);
    assert.deepEqual(
      harness.queue.envelopes().map(({ data }) => [data.name, data.mustRun]),
      [['w9', true]],
    );
  });
});

describe('a run that is under way when the circuit of its cluster opens', () => {
  /** Five other runs meet no answer. */
  async function open(harness: Harness): Promise<void> {
    for (const name of ['w0', 'w1', 'w2', 'w3', 'w4']) {
      harness.east.fault({ name }, { throw: down() });
      await harness.begin(harness.recordFor({ name }));
    }
    harness.queue.accepted.length = 0;
  }
  const slowOf = (harness: Harness) => harness.queue.envelopes().find(({ data }) => data.name === 'slow')?.data;

  const authors: { name: string; ask: (harness: Harness, input: WidgetInput) => Promise<unknown> }[] = [
    {
      name: 'whose call hangs',
      ask: async (harness, { read }) => {
        harness.east.fault({ name: 'x' }, { hang: true });
        const answer = read(namespaces, { name: 'x' });
        await open(harness);
        return answer;
      },
    },
    {
      name: 'that has yet to ask',
      ask: async (harness, { read }) => {
        await open(harness);
        return read(namespaces, { name: 'x' });
      },
    },
    {
      name: 'whose author wraps what it is told',
      ask: async (harness, { read }) => {
        await open(harness);
        return read(namespaces, { name: 'x' }).catch((cause: unknown) => {
          throw new Error('my read failed', { cause });
        });
      },
    },
    {
      name: 'whose author goes on without its answer',
      ask: async (harness, { read, object }) => {
        await open(harness);
        await read(namespaces, { name: 'x' }).catch(() => undefined);
        return planFor(object);
      },
    },
  ];
  for (const { name, ask } of authors) {
    it(`waits as those do that come later, and writes nothing: ${name}`, async () => {
      const { harness } = widgetsOf(5);
      harness.createWidget('slow');
      harness.author = (input) => (input.key.name === 'slow' ? ask(harness, input) : planFor(input.object));
      assert.deepEqual(await harness.invoke(harness.recordFor({ name: 'slow', reason: 'created', attempt: 4 })), []);
      assert.equal(harness.clock.now().getTime(), START.getTime(), 'nobody waited');
      assert.deepEqual([harness.lastRun()['branch'], harness.lastRun()['delaySeconds']], ['circuit-open', 12]);
      const { reason, attempt, mustRun, failures, heldSeconds } = slowOf(harness) ?? {};
      assert.deepEqual([reason, attempt, mustRun, failures, heldSeconds], ['created', 4, false, undefined, 12]);
      assert.deepEqual([harness.status('slow'), harness.configNames('slow')], [{}, []]);
    });
  }

  it('goes on where it has written: a confirm costs the cluster less than another run', async () => {
    const { harness } = widgetsOf(5);
    harness.createWidget('slow');
    harness.east.fault({ verb: 'apply', name: 'widget-slow' }, { first: () => open(harness) });
    await harness.invoke(harness.recordFor({ name: 'slow', reason: 'created' }));
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.equal(harness.status('slow')['observedGeneration'], 1);
  });

  it('writes nothing where its first call after that is a write', async () => {
    const { harness } = widgetsOf(5);
    harness.createWidget('slow');
    await harness.invoke(harness.recordFor({ name: 'slow', reason: 'created' }));
    harness.east.edit(widgets, { name: 'slow' }, (draft) => {
      draft['other'] = 'moved';
    });
    harness.author = async ({ object, key }) => {
      if (key.name === 'slow') await open(harness);
      harness.takeRequests();
      return planFor(object);
    };
    await harness.invoke(harness.recordFor({ name: 'slow' }));
    assert.deepEqual([harness.lastRun()['branch'], harness.takeRequests()], ['circuit-open', []]);
  });

  it('is sent again as ever where it is the one that opened it, whatever else it waits for', async () => {
    const { harness } = widgetsOf(4);
    harness.createWidget('slow');
    harness.east.fault({ name: 'fails' }, { throw: down() });
    harness.east.fault({ name: 'hangs' }, { hang: true });
    harness.author = async ({ read }) => {
      const hangs = read(namespaces, { name: 'hangs' });
      for (const name of ['w0', 'w1', 'w2', 'w3']) {
        harness.east.fault({ name }, { throw: down() });
        await harness.begin(harness.recordFor({ name }));
      }
      return Promise.all([hangs, read(namespaces, { name: 'fails' })]);
    };
    assert.deepEqual(await run(harness, ['slow']), ['transient']);
    assert.deepEqual(await run(harness, ['w0']), ['circuit-open']);
  });

  for (const [name, isSilent] of [
    ['it can', false],
    ['it gets no answer: its letter goes all the same', true],
  ] as const)
    it(`shows what it is refused for, as far as ${name}`, async () => {
      const { harness } = widgetsOf(5);
      harness.createWidget('slow');
      harness.author = async () => {
        await open(harness);
        if (isSilent) harness.east.fault({ name: 'slow' }, { hang: true });
        throw new TerminalError('impossible', 'no');
      };
      assert.deepEqual(await harness.invoke(harness.recordFor({ name: 'slow', reason: 'created' })), []);
      assert.equal(harness.lastRun()['disposition'], 'dead-letter');
      assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL).length, 1);
      const shown = ['Ready', 'Stalled'].map((type) => harness.condition(type, 'slow')?.['status']);
      assert.deepEqual(shown, isSilent ? [undefined, undefined] : ['False', 'True']);
      assert.equal(harness.clock.now().getTime() - START.getTime(), isSilent ? 2000 : 0);
    });

  it('is not one of another cluster', async () => {
    const { harness } = widgetsOf(5);
    harness.createWidget('a', ['one'], harness.west);
    harness.author = async ({ object, key }) => {
      if (key.cluster === 'west') await open(harness);
      return planFor(object);
    };
    await harness.invoke(harness.recordFor({ cluster: 'west', reason: 'created' }));
    assert.equal(harness.lastRun()['branch'], 'reconciled');
  });
});
