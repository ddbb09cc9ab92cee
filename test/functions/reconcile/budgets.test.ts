/** How long a message is tried: conflicts, odd counters, ages, and the time that there is. Beside it another object settles. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { processBatch } from '../../../functions/reconcile/batch.ts';
import { Harness, planFor } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord, recordOf, START } from './records.ts';

const NEVER = new Promise<never>(() => {});
const letters = (harness: Harness) => harness.queue.envelopes(DEAD_LETTER_QUEUE_URL).map(({ data }) => data);
const usedMs = (harness: Harness): number => harness.clock.now().getTime() - START.getTime();

/** Widget `a`, whose spec moves before each of its next `times` confirms, so that it is always overtaken. */
function contended(times: number): Harness {
  const harness = new Harness();
  harness.createWidget();
  let edits = 0;
  const first = (): void => {
    edits += 1;
    harness.setConfig([`c${edits}`]);
  };
  harness.east.fault({ verb: 'applyStatus', name: 'a' }, { first }, times);
  return harness;
}

/** Delivers a first message and every one that follows; the lines of all runs. */
async function chain(harness: Harness, most = 50): Promise<LogFields[]> {
  const lines = [await harness.deliver({ reason: 'created' })];
  while (lines.at(-1)?.['disposition'] === 'requeue' && lines.length < most) lines.push(await harness.redeliver());
  return lines;
}

describe('an object that changes under each of its runs', () => {
  it('gets its 20th try, with a wait before each, and settles with it (B42)', async () => {
    const harness = contended(19);
    const lines = await chain(harness);
    assert.equal(lines.length, 20);
    assert.deepEqual([lines.at(-1)?.['branch'], lines.at(-1)?.['attempt']], ['reconciled', 20]);
    assert.ok(lines.slice(0, -1).every((line) => line['branch'] === 'overtaken-newer-spec' && Number(line['delaySeconds']) >= 1));
    assert.equal(harness.status()['observedGeneration'], harness.widget()?.metadata.generation);
    assert.deepEqual(harness.configNames(), ['c19']);
    assert.deepEqual(letters(harness), []);
  });

  it('ends with its own limit, as one letter that says why, and not without a word (B42)', async () => {
    const harness = contended(1e9);
    const lines = await chain(harness);
    assert.equal(lines.length, 20);
    assert.deepEqual([lines.at(-1)?.['disposition'], lines.at(-1)?.['because']], ['dead-letter', 'attempts']);
    const [letter, ...more] = letters(harness);
    assert.deepEqual([letter?.diagnosis?.code, more], ['overtaken', []]);
    assert.match(String(letter?.diagnosis?.message), /find who else writes it/);
  });

  it('waits longer each time, up to a minute, and then as long (B40)', async () => {
    const harness = contended(1e9);
    harness.retry = { overtakenMaxAttempts: 1000 };
    const delays = (await chain(harness, 31)).map((line) => Number(line['delaySeconds']));
    assert.equal(delays.length, 31);
    for (const [at, delay] of delays.entries()) {
      const longest = Math.min(60, 2 ** at);
      assert.ok(Number.isInteger(delay) && delay >= longest / 2 && delay <= longest, `${delay} s after attempt ${at + 1}`);
    }
  });

  it('has one letter with its reason, tries and first sight, and its repaired spec a budget of its own (B41)', async () => {
    const harness = contended(5);
    harness.retry = { overtakenMaxAttempts: 5 };
    assert.equal((await chain(harness)).length, 5);
    const [letter, ...more] = letters(harness);
    assert.deepEqual(more, []);
    assert.deepEqual(
      letter?.diagnosis?.attempts.map(({ attempt, code }) => [attempt, code]),
      [
        [1, 'overtaken-newer-spec'],
        [2, 'overtaken-newer-spec'],
        [3, 'overtaken-newer-spec'],
        [4, 'overtaken-newer-spec'],
        [5, 'overtaken'],
      ],
    );
    assert.equal(letter?.diagnosis?.firstSeenAt, START.toISOString());
    harness.setConfig(['repaired']);
    assert.deepEqual([(await harness.deliver())['branch'], harness.lastRun()['attempt']], ['reconciled', 1]);
    assert.equal(letters(harness).length, 1);
  });

  it('has one copy more where the function dies between sending and acknowledging, never none (B41)', async () => {
    const harness = contended(1);
    const record = harness.recordFor({ reason: 'created' }, { messageId: 'm' });
    await harness.invoke(record);
    assert.equal(harness.queue.accepted.length, 1);
    // It died then: SQS hands the record out again.
    const again = { ...record, attributes: { ...record.attributes, ApproximateReceiveCount: '2' } };
    assert.deepEqual(await harness.invoke(again), []);
    assert.equal(harness.queue.accepted.length, 1);
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    const before = harness.widget()?.metadata.resourceVersion;
    await harness.redeliver();
    assert.deepEqual([harness.lastRun()['branch'], harness.widget()?.metadata.resourceVersion], ['reconciled', before]);
    assert.deepEqual([harness.queue.accepted.length, letters(harness)], [1, []]);
  });
});

describe('a confirm whose resourceVersion has moved by foreign fields', () => {
  for (const [times, branch, rereads] of [
    [1, 'reconciled', 1],
    [3, 'reconciled', 3],
    [1e9, 'overtaken-foreign-fields', 3],
  ] as const) {
    it(`${times > 3 ? 'always' : `${times} times`} is read again ${rereads} times and is ${branch}`, async () => {
      const harness = new Harness();
      harness.createWidget();
      harness.createWidget('good');
      let edits = 0;
      const edit = (): void => {
        edits += 1;
        harness.label(`${edits}`);
      };
      harness.east.fault({ verb: 'applyStatus', name: 'a' }, { first: edit }, times);
      await harness.invoke(harness.recordFor({ reason: 'created' }), harness.recordFor({ name: 'good', reason: 'created' }));
      const line = harness.lines.find(({ fields }) => String(fields['key']).endsWith('/a'))?.fields;
      assert.deepEqual([line?.['branch'], line?.['rereadCount'], line?.['attempt']], [branch, rereads, 1]);
      assert.equal(harness.status('good')['observedGeneration'], 1);
      assert.equal(harness.status()['observedGeneration'], branch === 'reconciled' ? 1 : undefined);
      if (branch !== 'reconciled') assert.ok(Number(line?.['delaySeconds']) >= 1, 'never at once');
    });
  }
});

describe('a kind whose author says how long it is tried', () => {
  it('is, also where its object could not be read, and no other kind is', async () => {
    const harness = new Harness();
    harness.retry = { maxAgeSeconds: 60, retryBaseSeconds: 40 };
    harness.createWidget();
    harness.east.fault({ verb: 'get' }, { throw: new TransientError('server-error', 'down') }, 9);
    const line = await harness.deliver({ reason: 'created' });
    assert.ok(Number(line['delaySeconds']) >= 20 && Number(line['delaySeconds']) <= 40);
    await harness.clock.advance(60_000);
    const [young, old] = [harness.clock.now().toISOString(), START.toISOString()];
    assert.equal((await harness.deliver({ firstSeenAt: young }))['disposition'], 'requeue');
    assert.equal((await harness.deliver({ firstSeenAt: old }))['because'], 'age');
    assert.equal((await harness.deliver({ firstSeenAt: old, kind: 'Gadget' }))['disposition'], 'requeue');
  });
});

describe('a message with an odd counter', () => {
  const odd: unknown[] = [-1, 0, 1e6, 1.5, '7', 'seven', null, undefined, [], {}, true, 2 ** 60, Number.MAX_VALUE];
  for (const field of ['attempt', 'heldSeconds', 'failures'] as const) {
    it(`in ${field} is tried again with a delay that SQS takes, or is a letter: never lost, never thrown for (B40)`, async () => {
      for (const value of odd) {
        const harness = contended(1e9);
        harness.createWidget('good');
        const envelope = JSON.parse(harness.recordFor({ reason: 'created' }).body) as { data: Record<string, unknown> };
        const body = JSON.stringify({
          ...envelope,
          data: { ...envelope.data, [field]: field === 'failures' ? { overtaken: value } : value },
        });
        assert.deepEqual(await harness.invoke(rawRecord(body), harness.recordFor({ name: 'good', reason: 'created' })), []);
        assert.equal(harness.status('good')['observedGeneration'], 1);
        assert.equal(harness.queue.accepted.length, 1, JSON.stringify(value));
        const { delaySeconds } = harness.queue.accepted[0]?.message ?? {};
        assert.ok(Number.isInteger(delaySeconds) && Number(delaySeconds) >= 0 && Number(delaySeconds) <= 900, `${delaySeconds}`);
      }
    });
  }
});

describe('a target that this function does not know', () => {
  for (const [what, envelope] of [
    ['cluster', { cluster: 'nowhere' }],
    ['kind', { kind: 'Gadget' }],
  ] as const) {
    it(`waits 300 s at a time for the ${what}, and is a letter with its name after six hours`, async () => {
      const harness = new Harness();
      harness.createWidget('good');
      let body = recordOf({ ...envelope, reason: 'created' }).body;
      let runs = 0;
      do {
        const good = harness.recordFor({ name: 'good', reason: 'created' });
        assert.deepEqual(await harness.invoke(rawRecord(body), good), []);
        const last = harness.queue.accepted.at(-1);
        body = last?.message.body ?? '';
        runs += 1;
        if (last?.queueUrl === QUEUE_URLS.live) assert.equal(last.message.delaySeconds, 300);
        await harness.clock.advance((last?.message.delaySeconds ?? 0) * 1000);
      } while (letters(harness).length === 0 && runs < 100);
      assert.equal(runs, 73);
      assert.equal(harness.status('good')['observedGeneration'], 1);
      const [letter] = letters(harness);
      assert.equal(letter?.diagnosis?.code, `unknown-${what}`);
      assert.match(String(letter?.diagnosis?.message), what === 'cluster' ? /nowhere/ : /Gadget/);
    });
  }
});

describe('the time that a record has', () => {
  it('is what is left of the invocation when its turn comes, less what the sends need', async () => {
    const harness = new Harness();
    const names = Array.from({ length: 20 }, (_, index) => `w${index}`);
    for (const name of names) harness.createWidget(name);
    harness.author = () => NEVER;
    const failed = await harness.invoke(...names.map((name) => harness.recordFor({ name, reason: 'created' }, { messageId: name })));
    assert.deepEqual(failed.toSorted(), names.toSorted());
    // Ten until 20 s, the others until a quarter of the 10 s that remained is left.
    assert.equal(usedMs(harness), 27_500);
  });

  it('is over when the configured time-out is, also where the platform would wait for longer', async () => {
    const harness = new Harness();
    harness.remainingMs = 900_000;
    const names = Array.from({ length: 20 }, (_, index) => `w${index}`);
    for (const name of names) harness.createWidget(name);
    harness.author = () => NEVER;
    await harness.invoke(...names.map((name) => harness.recordFor({ name, reason: 'created' })));
    // The message of a deletion comes 5 s after those 30 s, and nobody may act later than that.
    assert.equal(usedMs(harness), 27_500);
  });

  it('is used up alone by an object about which the API server says nothing', async () => {
    const harness = new Harness();
    harness.createWidget('silent');
    harness.createWidget('good');
    harness.east.fault({ name: 'silent' }, { hang: true }, 9);
    const silent = harness.recordFor({ name: 'silent', reason: 'created' }, { messageId: 'silent' });
    assert.deepEqual(await harness.invoke(silent, harness.recordFor({ name: 'good', reason: 'created' })), ['silent']);
    assert.equal(harness.status('good')['observedGeneration'], 1);
    assert.equal(usedMs(harness), 20_000);
  });

  it('is over for the sends too a second before the invocation: what was not sent is left in the queue', async () => {
    const harness = new Harness();
    for (const name of ['a', 'good']) harness.createWidget(name);
    harness.author = ({ object, key }) => {
      if (key.name === 'a') throw new TransientError('busy', 'wait');
      return planFor(object);
    };
    harness.queue.hold();
    const begun = harness.begin(
      harness.recordFor({ reason: 'created' }, { messageId: 'a' }),
      harness.recordFor({ name: 'good', reason: 'created' }, { messageId: 'good' }),
    );
    assert.deepEqual((await harness.finish(begun)).batchItemFailures, [{ itemIdentifier: 'a' }]);
    assert.equal(usedMs(harness), 29_000);
  });

  it('ends the invocation with an answer also where the clock is set while it runs', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.author = () => {
      harness.clock.setForward(-3_600_000);
      return NEVER;
    };
    const event = { Records: [harness.recordFor({ reason: 'created' }, { messageId: 'm' })] };
    const invocation = { remainingMs: () => 30_000 - usedOf(harness) };
    const answer = await harness.finish(processBatch(event, invocation, harness.dependencies()));
    assert.deepEqual(answer.batchItemFailures, [{ itemIdentifier: 'm' }]);
    assert.equal(harness.lastRun()['durationMs'], 20_000);
  });
});

function usedOf(harness: Harness): number {
  return harness.clock.steadyMs() - START.getTime();
}
