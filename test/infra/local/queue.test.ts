import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DeleteMessageCommand, SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { TransientError } from '../../../functions/core/errors.ts';
import { createLocalClient, type LocalQueues } from '../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';
import { createReceiver, type Receiver } from '../../../infra/local/receive.ts';

describe('startLocalQueues', () => {
  let queues: LocalQueues;
  let client: SQSClient;

  before(async () => {
    const deadLetter = { name: 'dead', maxReceiveCount: 1 };
    queues = await startLocalQueues({
      queues: [{ name: 'work', visibilitySeconds: 30, deadLetter }, { name: 'fast', visibilitySeconds: 1, deadLetter }, { name: 'dead' }],
    });
    client = createLocalClient(queues.endpoint);
  });
  after(async () => {
    client?.destroy();
    await queues?.stop();
  });

  const receiverOf = (name: string): Receiver => createReceiver({ client, queueUrl: queues.queueUrl(name), quirks: queues.quirks });
  const send = (name: string, body: string) =>
    client.send(new SendMessageCommand({ QueueUrl: queues.queueUrl(name), MessageBody: body, MessageGroupId: 'east' }));

  it('gives a message back with its system attributes', async () => {
    await send('work', 'hello');
    const [message, ...others] = await receiverOf('work').receive({ max: 10, waitSeconds: 5 });
    assert.deepEqual(others, []);
    assert.equal(message?.Body, 'hello');
    assert.equal(message.Attributes?.['MessageGroupId'], 'east');
    assert.equal(message.Attributes['ApproximateReceiveCount'], '1');
    await client.send(new DeleteMessageCommand({ QueueUrl: queues.queueUrl('work'), ReceiptHandle: message.ReceiptHandle }));
  });

  it('hides a received message for the visibility of its queue, and moves it to the dead letters after the last receive', async () => {
    await send('fast', 'doomed');
    const fast = receiverOf('fast');
    assert.equal((await fast.receive({ max: 1, waitSeconds: 1 })).length, 1);
    assert.deepEqual(await fast.receive({ max: 1, waitSeconds: 0 }), []);
    assert.deepEqual(await fast.receive({ max: 1, waitSeconds: 2 }), []);
    const [letter] = await receiverOf('dead').receive({ max: 1, waitSeconds: 5 });
    assert.equal(letter?.Body, 'doomed');
  });

  it('names the queues it has when asked for another one', () => {
    assert.throws(() => queues.queueUrl('other'), /no queue other at .*work, fast, dead/);
  });

  it('refuses a dead-letter queue that is not in the list', async () => {
    const spec = { name: 'lonely', deadLetter: { name: 'missing', maxReceiveCount: 3 } };
    await assert.rejects(startLocalQueues({ queues: [spec] }), /no queue missing/);
  });

  it('rejects when its port is taken', async () => {
    await assert.rejects(startLocalQueues({ queues: [], port: Number(new URL(queues.endpoint).port) }), { code: 'EADDRINUSE' });
  });

  it('answers nothing any more once it is stopped', async () => {
    const other = await startLocalQueues({ queues: [{ name: 'work' }] });
    await other.stop();
    await assert.rejects(fetch(other.endpoint));
  });
});

describe('createReceiver', () => {
  let queues: LocalQueues;
  let client: SQSClient;
  let queueUrl: string;
  let receiver: Receiver;

  before(async () => {
    queues = await startLocalQueues({ queues: [{ name: 'work' }] });
    client = createLocalClient(queues.endpoint);
    queueUrl = queues.queueUrl('work');
    receiver = createReceiver({ client, queueUrl, quirks: queues.quirks });
  });
  after(async () => {
    client?.destroy();
    await queues?.stop();
  });

  it('wakes for a message that arrives while it waits', async () => {
    const startedAt = performance.now();
    const waiting = receiver.receive({ max: 1, waitSeconds: 20 });
    await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'late' }));
    assert.deepEqual(
      (await waiting).map(({ Body }) => Body),
      ['late'],
    );
    assert.ok(performance.now() - startedAt < 5000, 'long before the 20 s are over');
  });

  it('takes up to ten at once', async () => {
    const Entries = Array.from({ length: 10 }, (_, index) => ({ Id: String(index), MessageBody: String(index) }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    assert.equal((await receiver.receive({ max: 10, waitSeconds: 1 })).length, 10);
  });

  it('returns nothing after an abort, soon and without an error', async () => {
    const stopping = new AbortController();
    const startedAt = performance.now();
    const waiting = receiver.receive({ max: 1, waitSeconds: 20 }, stopping.signal);
    stopping.abort();
    assert.deepEqual(await waiting, []);
    assert.ok(performance.now() - startedAt < 5000, 'long before the 20 s are over');
  });

  it('never ends a poll of its own accord, so that a message on its way is not lost in it', async () => {
    const seen: AbortSignal[] = [];
    const { promise, resolve } = Promise.withResolvers<{ Messages: { MessageId: string }[] }>();
    const slow = {
      send: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) => {
        seen.push(abortSignal);
        return promise;
      },
    } as unknown as SQSClient;
    const stopping = new AbortController();
    const waiting = createReceiver({ client: slow, queueUrl, quirks: 'none' }).receive({ max: 1, waitSeconds: 20 }, stopping.signal);
    stopping.abort();
    const wasAborted = seen[0]?.aborted;
    resolve({ Messages: [{ MessageId: 'caught' }] });
    assert.deepEqual(await waiting, [{ MessageId: 'caught' }]);
    assert.deepEqual([seen.length, wasAborted], [1, false], 'one poll, whose own limit is far away');
  });

  for (const quirks of ['none', 'local-aws-sqs'] as const) {
    it(`gives up a poll without an answer after 6 s, with quirks ${quirks}`, async (t) => {
      const limits: number[] = [];
      const limit = new AbortController();
      t.mock.method(AbortSignal, 'timeout', (ms: number) => {
        limits.push(ms);
        return limit.signal;
      });
      const hung = {
        send: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
          new Promise((__, reject) => abortSignal.addEventListener('abort', () => reject(new Error('Request aborted')))),
      } as unknown as SQSClient;
      const waiting = createReceiver({ client: hung, queueUrl, quirks }).receive({ max: 1, waitSeconds: 20 });
      limit.abort();
      await assert.rejects(waiting, (error) => error instanceof TransientError && error.code === 'poll-timeout');
      assert.deepEqual(limits, [6_000]);
    });
  }

  it('rests between polls of an endpoint that cannot wait', async () => {
    let count = 0;
    const empty = {
      send: async () => {
        count++;
        return {};
      },
    } as unknown as SQSClient;
    await createReceiver({ client: empty, queueUrl, quirks: 'local-aws-sqs' }).receive({ max: 1, waitSeconds: 1 });
    assert.ok(count >= 2 && count <= 25, `${count} polls in a second`);
  });

  it('gives a message once per answer even with visibility 0', async () => {
    await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'once' }));
    const messages = await receiver.receive({ max: 10, waitSeconds: 1, visibilitySeconds: 0 });
    assert.deepEqual(
      messages.map(({ Body }) => Body),
      ['once'],
    );
  });

  const outOfBounds = [
    { name: 'max 0', request: { max: 0, waitSeconds: 0 } },
    { name: 'max 11', request: { max: 11, waitSeconds: 0 } },
    { name: 'half a message', request: { max: 1.5, waitSeconds: 0 } },
    { name: 'a negative wait', request: { max: 1, waitSeconds: -1 } },
    { name: 'a wait of 21 s', request: { max: 1, waitSeconds: 21 } },
  ];
  for (const { name, request } of outOfBounds) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(receiver.receive(request), RangeError);
    });
  }
});
