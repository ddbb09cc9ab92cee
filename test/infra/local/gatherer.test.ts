import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { createGatherer, type GathererOptions, INVOCATION_BYTES } from '../../../infra/local/event-source/gatherer.ts';
import { recordOf } from '../../../infra/local/event-source/record.ts';
import type { Receiver } from '../../../infra/local/receive.ts';
import { FakeClock } from '../../fakes/clock.ts';

interface Arrival {
  readonly atMs: number;
  readonly body: string;
}

const never = new AbortController().signal;
const bodies = (records: readonly SQSRecord[]): string[] => records.map(({ body }) => body);
const many = (count: number, atMs = 0): Arrival[] => Array.from({ length: count }, (_, index) => ({ atMs, body: `${atMs}-${index}` }));

/** A queue in which messages appear as time goes by. `fails`: numbers of the polls that fail, from 1. */
function setUp(arrivals: readonly Arrival[], options: Partial<GathererOptions> = {}, fails: readonly number[] = []) {
  const clock = new FakeClock();
  const startMs = clock.steadyMs();
  const elapsedMs = (): number => clock.steadyMs() - startMs;
  const left = [...arrivals];
  const polls: number[] = [];
  const receiver: Receiver = {
    async receive({ max, waitSeconds }, signal) {
      polls.push(max);
      if (fails.includes(polls.length)) throw new Error(`poll ${polls.length}`);
      const endMs = elapsedMs() + waitSeconds * 1000;
      for (;;) {
        const due = left.filter(({ atMs }) => atMs <= elapsedMs()).slice(0, max);
        if (due.length > 0 || elapsedMs() >= endMs || signal?.aborted === true)
          return due.map((arrival): Message => ({ MessageId: 'm', Body: left.splice(left.indexOf(arrival), 1)[0]?.body ?? '' }));
        const nextMs = Math.min(endMs, ...left.map(({ atMs }) => atMs));
        await clock.sleep(nextMs - elapsedMs(), signal);
      }
    },
  };
  const toRecord = (message: Message): SQSRecord => recordOf(message, 'arn:aws:sqs:eu-west-1:000000000000:work');
  const gatherer = createGatherer({ receiver, toRecord, batchSize: 10, windowSeconds: 0, clock, ...options });
  /** The next batch, with the time at which it was complete. */
  async function next(signal: AbortSignal = never): Promise<{ records: readonly SQSRecord[]; atMs: number }> {
    let done: { records: readonly SQSRecord[]; atMs: number } | { error: unknown } | undefined;
    gatherer.next(signal).then(
      (records) => {
        done = { records, atMs: elapsedMs() };
      },
      (error: unknown) => {
        done = { error };
      },
    );
    await clock.advanceUntil(() => done !== undefined, 600_000);
    assert.ok(done !== undefined);
    if ('error' in done) throw done.error;
    return done;
  }
  return { clock, gatherer, next, polls };
}

describe('createGatherer', () => {
  describe('without a window', () => {
    it('makes a batch of what one poll finds', async () => {
      const { next, polls } = setUp([...many(3), ...many(2, 1)]);
      const { records, atMs } = await next();
      assert.deepEqual([records.length, atMs], [3, 0]);
      assert.deepEqual(polls, [10]);
    });

    it('gives none after a poll that found nothing', async () => {
      const { next } = setUp([]);
      assert.deepEqual(await next(), { records: [], atMs: 1_000 });
    });

    it('asks for no more than a batch may have', async () => {
      const { next, polls } = setUp(many(9), { batchSize: 4 });
      assert.equal((await next()).records.length, 4);
      assert.deepEqual(polls, [4]);
    });
  });

  describe('with a window', () => {
    it('is done with the size of the batch, however long the window', async () => {
      const { next, polls } = setUp(many(40), { batchSize: 25, windowSeconds: 300 });
      const { records, atMs } = await next();
      assert.deepEqual([records.length, atMs], [25, 0]);
      assert.deepEqual(polls, [10, 10, 5]);
    });

    it('takes what comes in the window, which begins with the first record and ends less than a second late', async () => {
      const arrivals = [...many(1, 30_200), ...many(2, 31_700), ...many(1, 35_300), ...many(1, 36_900)];
      const { next } = setUp(arrivals, { batchSize: 100, windowSeconds: 5 });
      let batch = await next();
      while (batch.records.length === 0) batch = await next();
      assert.deepEqual(bodies(batch.records), ['30200-0', '31700-0', '31700-1', '35300-0']);
      assert.ok(batch.atMs >= 35_200 && batch.atMs < 36_200, String(batch.atMs));
      const second = await next();
      const later = second.records.length === 0 ? await next() : second;
      assert.deepEqual(bodies(later.records), ['36900-0']);
      assert.ok(later.atMs >= 41_900 && later.atMs < 42_900, String(later.atMs));
    });

    for (const byMs of [3_600_000, -3_600_000]) {
      it(`lasts as long where somebody sets the wall clock by ${byMs} ms meanwhile`, async () => {
        const { next, clock } = setUp([...many(1), ...many(1, 4_500)], { batchSize: 100, windowSeconds: 5 });
        void clock.sleep(1_500).then(() => clock.setForward(byMs));
        const { records, atMs } = await next();
        assert.deepEqual(bodies(records), ['0-0', '4500-0']);
        assert.ok(atMs >= 5_000 && atMs < 6_000, String(atMs));
      });
    }

    it('ends it at the signal, and receives nothing more', async () => {
      const { clock, gatherer, polls } = setUp([...many(2), ...many(5, 60_000)], { batchSize: 100, windowSeconds: 300 });
      const end = new AbortController();
      const gathering = gatherer.next(end.signal);
      await clock.advance(10_000);
      assert.equal(gatherer.heldCount, 2);
      const before = polls.length;
      end.abort();
      assert.equal((await gathering).length, 2);
      assert.deepEqual(await gatherer.next(end.signal), []);
      assert.equal(polls.length, before);
    });

    it('hands out what it holds when the queue fails, and throws the fault after that', async () => {
      const { next } = setUp([...many(10), ...many(1, 5_000)], { batchSize: 100, windowSeconds: 60 }, [1, 3]);
      await assert.rejects(next(), /poll 1/);
      assert.equal((await next()).records.length, 10);
      await assert.rejects(next(), /poll 3/);
      assert.deepEqual(bodies((await next()).records), []);
    });
  });

  describe('by bytes', () => {
    const large = (count: number, size = 1_048_576): Arrival[] =>
      Array.from({ length: count }, (_, index) => ({ atMs: 0, body: String(index).padEnd(size, 'x') }));
    const firsts = (records: readonly SQSRecord[]): string[] => records.map(({ body }) => /^\d+/.exec(body)?.[0] ?? '');

    for (const windowSeconds of [0, 300]) {
      it(`cuts a batch before it is larger than an invocation, and begins the next with the rest (window ${windowSeconds})`, async () => {
        const { next, gatherer, polls } = setUp(large(10), { windowSeconds });
        assert.deepEqual(firsts((await next()).records), ['0', '1', '2', '3', '4']);
        assert.equal(gatherer.heldCount, 5);
        assert.deepEqual(firsts((await next()).records), ['5', '6', '7', '8', '9']);
        assert.equal(polls[0], 10);
        assert.equal(polls.length, windowSeconds === 0 ? 1 : polls.length);
      });
    }

    it('counts the window of the rest from when that was received', async () => {
      const { next, clock } = setUp(large(8), { batchSize: 8, windowSeconds: 20 });
      assert.equal((await next()).records.length, 5);
      await clock.advance(15_000); // there was no room for another batch
      const { records, atMs } = await next();
      assert.deepEqual(firsts(records), ['5', '6', '7']);
      assert.ok(atMs >= 20_000 && atMs < 21_000, String(atMs));
    });

    it('hands out a record alone that is too large for any batch', async () => {
      const { next } = setUp([{ atMs: 0, body: 'small' }, ...large(1, INVOCATION_BYTES), { atMs: 0, body: 'last' }]);
      for (const expected of ['small', '0', 'last']) assert.ok(bodies((await next()).records).every((body) => body.startsWith(expected)));
    });

    it('loses nothing, keeps the order, and cuts only where the next record did not fit', async () => {
      const body = fc
        .tuple(fc.constantFrom('a', '"', '\n', 'ü', '😀'), fc.integer({ min: 1, max: 1_048_576 }))
        .map(([character, bytes]) => character.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(character)))));
      await fc.assert(
        fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 10 }), async (texts) => {
          const { next, gatherer } = setUp(texts.map((text, index) => ({ atMs: 0, body: `${index}${text}` })));
          const batches = [(await next()).records];
          while (gatherer.heldCount > 0) batches.push((await next()).records);
          assert.deepEqual(
            batches.flatMap(bodies),
            texts.map((text, index) => `${index}${text}`),
          );
          const bytesOf = (records: readonly SQSRecord[]): number => Buffer.byteLength(JSON.stringify({ Records: records }));
          for (const [index, records] of batches.entries()) {
            assert.ok(records.length > 0 && bytesOf(records) < INVOCATION_BYTES);
            const following = batches[index + 1]?.[0];
            if (following !== undefined) assert.ok(bytesOf([...records, following]) >= INVOCATION_BYTES);
          }
        }),
        { numRuns: 25 },
      );
    });
  });

  for (const limits of [
    { batchSize: 0 },
    { batchSize: 2.5 },
    { batchSize: 11 },
    { batchSize: 10_001, windowSeconds: 1 },
    { windowSeconds: -1 },
    { windowSeconds: 0.5 },
    { windowSeconds: 301 },
  ]) {
    it(`refuses ${JSON.stringify(limits)}, as Lambda does`, () => assert.throws(() => setUp([], limits), RangeError));
  }

  it('takes the largest batch with the shortest window', () => {
    assert.equal(setUp([], { batchSize: 10_000, windowSeconds: 1 }).gatherer.heldCount, 0);
  });
});
