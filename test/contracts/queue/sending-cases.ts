/** What becomes of messages that our adapter sends. */
import assert from 'node:assert/strict';
import { BATCH_MAX_BYTES } from '../../../functions/adapters/sqs-batches.ts';
import { message, type QueueCase, receiveOne, sendAll } from './case.ts';

const kindsOf = (results: readonly { readonly kind: string }[]): string[] => results.map(({ kind }) => kind);

export const sendingCases: readonly QueueCase[] = [
  {
    rule: 'takes more messages than a batch holds and gives each out once, letter by letter',
    async run(bench) {
      const work = await bench.makeQueue();
      const bodies = Array.from({ length: 23 }, (_, index) => `${index} "é€😀\t\n\\u0001`);
      await sendAll(bench, work, ...bodies.map((body) => message(body)));
      const received = await work.receiveAll(23);
      assert.deepEqual(received.map(({ Body }) => Body).sort(), bodies.sort());
      assert.deepEqual(await work.receive(), []);
    },
  },
  {
    rule: 'says per entry what it takes, and takes the others of the batch',
    async run(bench) {
      const work = await bench.makeQueue();
      const results = await bench.queue.send(work.url, [message('a'), message('b', { delaySeconds: 901 }), message('c')]);
      assert.deepEqual(kindsOf(results), ['sent', 'refused', 'sent']);
      assert.equal((await work.receiveAll(2)).length, 2);
    },
  },
  {
    rule: 'refuses a character that SQS does not carry, and only that entry',
    async run(bench) {
      const work = await bench.makeQueue();
      const results = await bench.queue.send(work.url, [message('good'), message('bad \u0001')]);
      assert.deepEqual(kindsOf(results), ['sent', 'refused']);
    },
  },
  {
    rule: 'refuses an empty body',
    async run(bench) {
      const work = await bench.makeQueue();
      assert.deepEqual(kindsOf(await bench.queue.send(work.url, [message('')])), ['refused']);
    },
  },
  {
    rule: 'takes a message of 1 MiB, and two that fill two batches',
    async run(bench) {
      const work = await bench.makeQueue();
      const large = 'x'.repeat(BATCH_MAX_BYTES);
      await sendAll(bench, work, message(large), message(large.slice(0, 600_000)), message(large.slice(0, 600_000)));
      const sizes = (await work.receiveAll(3)).map(({ Body }) => Body?.length ?? 0).sort((a, b) => a - b);
      assert.deepEqual(sizes, [600_000, 600_000, BATCH_MAX_BYTES]);
    },
  },
  {
    rule: 'refuses a message over 1 MiB and takes the one beside it',
    async run(bench) {
      const work = await bench.makeQueue();
      const results = await bench.queue.send(work.url, [message('small'), message('x'.repeat(BATCH_MAX_BYTES + 1))]);
      assert.deepEqual(kindsOf(results), ['sent', 'refused']);
    },
  },
  {
    rule: 'counts a body in bytes of UTF-8',
    async run(bench) {
      const work = await bench.makeQueue();
      assert.deepEqual(kindsOf(await bench.queue.send(work.url, [message('é'.repeat(600_000))])), ['refused']);
    },
  },
  {
    rule: 'counts attributes to the size',
    async run(bench) {
      const work = await bench.makeQueue();
      const full = message('x'.repeat(BATCH_MAX_BYTES), { attributes: { code: 'invalid' } });
      assert.deepEqual(kindsOf(await bench.queue.send(work.url, [full])), ['refused']);
    },
  },
  {
    rule: 'knows no queue that is not there, and says so as something that may pass',
    async run(bench) {
      const work = await bench.makeQueue();
      const results = await bench.queue.send(`${work.url}-absent`, [message('a')]);
      assert.deepEqual(results, [{ kind: 'retry', code: 'QueueDoesNotExist' }]);
    },
  },
  {
    rule: 'gives attributes and group back',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a', { groupId: 'west', attributes: { code: 'invalid', name: 'ü' } }));
      const received = await receiveOne(work);
      assert.equal(received.Attributes?.MessageGroupId, 'west');
      assert.deepEqual(
        Object.entries(received.MessageAttributes ?? {}).map(([name, { DataType, StringValue }]) => [name, DataType, StringValue]),
        [
          ['code', 'String', 'invalid'],
          ['name', 'String', 'ü'],
        ],
      );
    },
  },
  {
    rule: 'hides a delayed message until its time',
    async run(bench) {
      const work = await bench.makeQueue();
      const sentAtMs = Date.now();
      await sendAll(bench, work, message('later', { delaySeconds: 2 }), message('now'));
      assert.equal((await receiveOne(work)).Body, 'now');
      assert.equal((await receiveOne(work)).Body, 'later');
      assert.ok(Date.now() - sentAtMs >= 1_900, 'not before its time');
    },
  },
  {
    rule: 'lets a delay of zero win over the delay of the queue',
    async run(bench) {
      const work = await bench.makeQueue({ delaySeconds: 60 });
      await sendAll(bench, work, message('now'));
      assert.equal((await receiveOne(work)).Body, 'now');
    },
  },
  {
    rule: 'gives two messages of one group out at the same time',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'), message('b'));
      assert.equal((await work.receiveAll(2)).length, 2);
    },
  },
];
