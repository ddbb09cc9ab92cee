/** What an event source mapping relies on: visibility, receive counts, deletes, redrive, limits of requests. */
import assert from 'node:assert/strict';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { type Bench, message, type QueueCase, receiveOne, sendAll, type TestQueue } from './case.ts';

/** Fails unless the endpoint answers with an error of the client's making. */
async function assertRefused(answer: Promise<unknown>): Promise<void> {
  await assert.rejects(answer, (error) => {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;
    return status >= 400 && status < 500;
  });
}

const sendBatch = ({ client }: Bench, { url }: TestQueue, ids: readonly string[]) =>
  client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: ids.map((Id) => ({ Id, MessageBody: 'x' })) }));

/** A queue whose messages become dead letters at the third receive, and that for the dead letters. */
async function makePair(bench: Bench): Promise<{ work: TestQueue; dead: TestQueue }> {
  const dead = await bench.makeQueue();
  const work = await bench.makeQueue({ visibilitySeconds: 1 });
  const { Attributes } = await bench.client.send(new GetQueueAttributesCommand({ QueueUrl: dead.url, AttributeNames: ['QueueArn'] }));
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes?.['QueueArn'], maxReceiveCount: 2 });
  await bench.client.send(new SetQueueAttributesCommand({ QueueUrl: work.url, Attributes: { RedrivePolicy } }));
  return { work, dead };
}

/** Receives a message of `work` twice without deleting it, then finds it in `dead`. */
async function redrive({ work, dead }: { work: TestQueue; dead: TestQueue }) {
  const first = await receiveOne(work);
  const second = await receiveOne(work);
  assert.equal(second.MessageId, first.MessageId);
  const endMs = Date.now() + 8_000;
  for (;;) {
    assert.deepEqual(await work.receive(), []);
    const [letter] = await dead.receive();
    if (letter !== undefined) return { first, letter };
    assert.ok(Date.now() < endMs, 'no dead letter within 8 s');
    await new Promise((done) => setTimeout(done, 50));
  }
}

export const receivingCases: readonly QueueCase[] = [
  {
    rule: 'gives a message out again when its visibility ends, and counts that',
    async run(bench) {
      const work = await bench.makeQueue({ visibilitySeconds: 1 });
      await sendAll(bench, work, message('a'));
      const first = await receiveOne(work);
      assert.deepEqual(await work.receive(), []);
      const again = await receiveOne(work);
      assert.equal(again.MessageId, first.MessageId);
      assert.deepEqual(
        [first, again].map(({ Attributes }) => Attributes?.ApproximateReceiveCount),
        ['1', '2'],
      );
      assert.equal(again.Attributes?.SentTimestamp, first.Attributes?.SentTimestamp);
    },
  },
  {
    rule: 'gives a message out at once when its visibility is set to zero',
    async run(bench) {
      const work = await bench.makeQueue({ visibilitySeconds: 60 });
      await sendAll(bench, work, message('a'));
      const { ReceiptHandle } = await receiveOne(work);
      await bench.client.send(new ChangeMessageVisibilityCommand({ QueueUrl: work.url, ReceiptHandle, VisibilityTimeout: 0 }));
      assert.equal((await receiveOne(work)).Body, 'a');
    },
  },
  {
    rule: 'counts receives by one after a change of visibility too',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'));
      const counts: (string | undefined)[] = [];
      for (let round = 0; round < 3; round += 1) {
        const { ReceiptHandle, Attributes } = await receiveOne(work);
        counts.push(Attributes?.ApproximateReceiveCount);
        await bench.client.send(new ChangeMessageVisibilityCommand({ QueueUrl: work.url, ReceiptHandle, VisibilityTimeout: 0 }));
      }
      assert.deepEqual(counts, ['1', '2', '3']);
    },
  },
  {
    rule: 'moves a message that was received too often to the dead letters, as it is',
    async run(bench) {
      const pair = await makePair(bench);
      await sendAll(bench, pair.work, message('a', { groupId: 'west', attributes: { code: 'x' } }));
      const { first, letter } = await redrive(pair);
      assert.deepEqual([letter.MessageId, letter.Body], [first.MessageId, 'a']);
      assert.equal(letter.Attributes?.MessageGroupId, 'west');
      assert.equal(letter.MessageAttributes?.['code']?.StringValue, 'x');
      assert.match(letter.Attributes?.DeadLetterQueueSourceArn ?? '', new RegExp(`:${pair.work.name}$`));
    },
  },
  {
    rule: 'keeps the time of sending in the dead letters',
    async run(bench) {
      const pair = await makePair(bench);
      await sendAll(bench, pair.work, message('a'));
      const { first, letter } = await redrive(pair);
      assert.equal(letter.Attributes?.SentTimestamp, first.Attributes?.SentTimestamp);
    },
  },
  {
    rule: 'goes on counting receives in the dead letters',
    async run(bench) {
      const pair = await makePair(bench);
      await sendAll(bench, pair.work, message('a'));
      const { letter } = await redrive(pair);
      assert.ok(Number(letter.Attributes?.ApproximateReceiveCount) >= 3);
    },
  },
  {
    rule: 'deletes what it can of a batch and says what it cannot',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'));
      const { ReceiptHandle } = await receiveOne(work);
      const Entries = [
        { Id: 'good', ReceiptHandle },
        { Id: 'bad', ReceiptHandle: 'not a handle' },
      ];
      const answer = await bench.client.send(new DeleteMessageBatchCommand({ QueueUrl: work.url, Entries }));
      assert.deepEqual([answer.Successful?.map(({ Id }) => Id), answer.Failed?.map(({ Id }) => Id)], [['good'], ['bad']]);
    },
  },
  {
    rule: 'takes a second delete of a message',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'));
      const { ReceiptHandle } = await receiveOne(work);
      const deletion = () => bench.client.send(new DeleteMessageCommand({ QueueUrl: work.url, ReceiptHandle }));
      await deletion();
      await assert.doesNotReject(deletion());
    },
  },
  {
    rule: 'counts what is visible, in flight and delayed',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'));
      await receiveOne(work);
      await sendAll(bench, work, message('b'), message('c', { delaySeconds: 60 }));
      const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'] as const;
      const { Attributes } = await bench.client.send(new GetQueueAttributesCommand({ QueueUrl: work.url, AttributeNames: [...names] }));
      assert.deepEqual(
        names.map((name) => Attributes?.[name]),
        ['1', '1', '1'],
      );
    },
  },
  {
    rule: 'tells our adapter how many messages could be received now',
    async run(bench) {
      const work = await bench.makeQueue();
      assert.equal(await bench.queue.depth(work.url), 0);
      await sendAll(bench, work, message('a'));
      await receiveOne(work);
      await sendAll(bench, work, message('b'), message('c'), message('d', { delaySeconds: 60 }));
      assert.equal(await bench.queue.depth(work.url), 2);
    },
  },
  {
    rule: 'ends a long poll for ten when one message comes',
    async run(bench) {
      const work = await bench.makeQueue();
      const startedAtMs = Date.now();
      const poll = bench.client.send(new ReceiveMessageCommand({ QueueUrl: work.url, WaitTimeSeconds: 4, MaxNumberOfMessages: 10 }));
      await bench.makeQueue(); // by when this is answered, the poll has begun
      await sendAll(bench, work, message('a'));
      const { Messages } = await poll;
      assert.equal(Messages?.length, 1);
      assert.ok(Date.now() - startedAtMs < 3_000, 'long before the poll would have ended');
    },
  },
  {
    rule: 'refuses eleven entries and equal ids',
    async run(bench) {
      const work = await bench.makeQueue();
      await assertRefused(sendBatch(bench, work, [...'abcdefghijk']));
      await assertRefused(sendBatch(bench, work, ['a', 'a']));
    },
  },
  {
    rule: 'refuses an empty batch',
    async run(bench) {
      await assertRefused(sendBatch(bench, await bench.makeQueue(), []));
    },
  },
  {
    rule: 'refuses an entry id with a space in it',
    async run(bench) {
      await assertRefused(sendBatch(bench, await bench.makeQueue(), ['a b']));
    },
  },
  {
    rule: 'refuses to receive eleven messages, or to wait 21 s',
    async run(bench) {
      const { url } = await bench.makeQueue();
      await assertRefused(bench.client.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 11 })));
      await assertRefused(bench.client.send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 21 })));
    },
  },
  {
    rule: 'refuses a visibility over 12 h',
    async run(bench) {
      const work = await bench.makeQueue();
      await sendAll(bench, work, message('a'));
      const { ReceiptHandle } = await receiveOne(work);
      const change = new ChangeMessageVisibilityCommand({ QueueUrl: work.url, ReceiptHandle, VisibilityTimeout: 43_201 });
      await assertRefused(bench.client.send(change));
    },
  },
];
