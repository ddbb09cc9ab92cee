import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Message, SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import type { Clock } from '../../../functions/adapters/clock.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { InvocationResult } from '../../../infra/local/function-host/invocation.ts';
import type { Receiver } from '../../../infra/local/receive.ts';
import { answer, functionOf, type Run, type RunOptions, receiverOf, type Scene, startScene, until } from './event-source-scene.ts';

const QUEUES = ['plain', 'partial', 'thrown', 'shape', 'busy', 'lasting', 'short', 'undeletable', 'large', 'cut'];

const timedOut: InvocationResult = {
  ...answer(null),
  kind: 'error',
  error: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' },
};

describe('createEventSource', () => {
  let scene: Scene;

  before(async () => {
    const dead = { name: 'dead' };
    const work = QUEUES.map((name) => ({ name, visibilitySeconds: 1, deadLetter: { name: 'dead', maxReceiveCount: 2 } }));
    scene = await startScene([...work, dead]);
  });
  after(() => scene?.stop());

  function start(
    queue: string,
    invoke: (event: SQSEvent) => InvocationResult | Promise<InvocationResult>,
    { timeoutMs, ...options }: RunOptions & { timeoutMs?: number } = {},
  ): Run & { readonly events: SQSEvent[] } {
    const pool = functionOf(invoke, timeoutMs);
    return { ...scene.run(queue, pool, options), events: pool.events };
  }

  it('hands every message out once, in batches of at most ten, and deletes them', async () => {
    await scene.send(
      'plain',
      Array.from({ length: 30 }, (_, index) => String(index)),
    );
    const run = start('plain', () => answer({ batchItemFailures: [] }));
    await until(async () => run.source.idle().emptyPolls > 0 && run.source.idle().running === 0);
    await run.stop();
    const bodies = run.events.flatMap(({ Records }) => Records.map(({ body }) => body));
    assert.equal(bodies.length, 30);
    assert.equal(new Set(bodies).size, 30);
    assert.ok(run.events.every(({ Records }) => Records.length <= 10));
    assert.equal(await scene.depth('plain'), 0);
  });

  it('deletes what succeeded; what failed comes again when its visibility ends, and goes to the dead letters at last', async () => {
    await scene.send('partial', ['good', 'bad', 'good too']);
    const run = start('partial', ({ Records }) =>
      answer({ batchItemFailures: Records.filter(({ body }) => body === 'bad').map(({ messageId }) => ({ itemIdentifier: messageId })) }),
    );
    await until(async () => (await scene.depth('dead')) === 1);
    await run.stop();
    const received = run.events.flatMap(({ Records }) => Records.map(({ body }) => body)).sort();
    assert.deepEqual(received, ['bad', 'bad', 'good', 'good too']);
    assert.equal(await scene.depth('partial'), 0);
  });

  it('deletes nothing of a batch whose function failed', async () => {
    await scene.send('thrown', ['a', 'b']);
    let calls = 0;
    const run = start('thrown', () => (calls++ === 0 ? timedOut : answer(null)));
    await until(async () => run.events.flatMap(({ Records }) => Records).length >= 4 && run.source.idle().running === 0);
    await run.stop();
    assert.equal(await scene.depth('thrown'), 0);
    assert.equal(run.lines.find(({ message }) => message.startsWith('function failed'))?.fields['errorType'], 'Sandbox.Timedout');
  });

  it('gathers for its window, and deletes a batch larger than a batch call of SQS', async () => {
    await scene.send(
      'large',
      Array.from({ length: 25 }, (_, index) => String(index)),
    );
    const run = start('large', () => answer(null), { batchSize: 25, windowSeconds: 300 });
    await until(async () => run.events.length === 1 && run.source.idle().running === 0);
    await run.stop();
    assert.equal(run.events[0]?.Records.length, 25);
    assert.equal(await scene.depth('large'), 0);
  });

  it('hands out what it had received when it is told to stop, within its maximum', async () => {
    const body = 'x'.repeat(1_048_576);
    const message = (id: number): Message => ({ MessageId: String(id), ReceiptHandle: String(id), Body: body });
    const receiver = receiverOf([Array.from({ length: 10 }, (_, id) => message(id)), [message(10)]]);
    const waiting: (() => void)[] = [];
    let most = 0;
    const run = start(
      'cut',
      async () => {
        await new Promise<void>((done) => {
          most = Math.max(most, waiting.push(done));
        });
        return answer({ batchItemFailures: null, note: 'nothing is deleted that SQS knows' });
      },
      { receiver, batchSize: 100, windowSeconds: 300, maximumConcurrency: 1 },
    );
    await until(() => waiting.length === 1);
    const stopped = run.stop();
    for (let batches = 1; batches <= 2; batches += 1) {
      await until(() => run.events.length === batches && waiting.length === 1);
      waiting.pop()?.();
    }
    await stopped;
    assert.equal(most, 1);
    assert.deepEqual(
      run.events.map(({ Records }) => Records.map(({ messageId }) => messageId)),
      [
        ['0', '1', '2', '3', '4'],
        ['5', '6', '7', '8', '9'],
      ],
    );
  });

  it('does not look idle while a batch gathers', async () => {
    const given: Message[][] = [[], [{ MessageId: '0', ReceiptHandle: '0', Body: 'a' }], [], []];
    const polls: (() => void)[] = [];
    const receiver: Receiver = {
      async receive(_, signal) {
        await new Promise<void>((done) => {
          polls.push(done);
          signal?.addEventListener('abort', () => done());
        });
        return given.shift() ?? [];
      },
    };
    const run = start('cut', () => answer(null), { receiver, batchSize: 100, windowSeconds: 300 });
    const seen: number[] = [];
    for (let poll = 1; poll <= 5; poll += 1) {
      await until(() => polls.length === poll);
      seen.push(run.source.idle().emptyPolls);
      polls.at(-1)?.();
    }
    await run.stop();
    assert.deepEqual(seen, [0, 1, 0, 0, 0]);
    assert.equal(run.events.length, 1);
  });

  it('says so where its window and a run do not fit into the visibility', async () => {
    const run = start('plain', () => answer(null), { windowSeconds: 1 });
    await until(() => run.lines.length > 0);
    await run.stop();
    assert.match(run.lines[0]?.message ?? '', /visibility is shorter than window and time-out/);
  });

  it('makes records as Lambda does', async () => {
    const binary = Buffer.from([0, 255]);
    await scene.client.send(
      new SendMessageCommand({
        QueueUrl: scene.queues.queueUrl('shape'),
        MessageBody: 'text',
        MessageGroupId: 'east',
        MessageAttributes: { code: { DataType: 'String', StringValue: 'x' }, raw: { DataType: 'Binary', BinaryValue: binary } },
      }),
    );
    const run = start('shape', () => answer(null));
    await until(async () => run.events.length === 1);
    await run.stop();
    const record = run.events[0]?.Records[0];
    assert.ok(record !== undefined);
    const { messageId, receiptHandle, attributes, md5OfMessageAttributes, ...rest } = record;
    assert.ok(messageId !== '' && receiptHandle !== '' && md5OfMessageAttributes !== undefined);
    assert.equal(attributes.ApproximateReceiveCount, '1');
    assert.equal(attributes.MessageGroupId, 'east');
    assert.ok(Math.abs(Number(attributes.SentTimestamp) - Date.now()) < 60_000);
    const lists = { stringListValues: [], binaryListValues: [] };
    assert.deepEqual(rest, {
      body: 'text',
      md5OfBody: '1cb251ec0d568de6a929b520c4aed8d1',
      messageAttributes: {
        code: { stringValue: 'x', dataType: 'String', ...lists },
        raw: { binaryValue: binary.toString('base64'), dataType: 'Binary', ...lists },
      },
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:shape',
      awsRegion: 'eu-west-1',
    });
  });

  it('has no more batches at the function than its maximum, and uses all of that', async () => {
    await scene.send(
      'busy',
      Array.from({ length: 6 }, (_, index) => String(index)),
    );
    const waiting: (() => void)[] = [];
    let [current, most] = [0, 0];
    const run = start(
      'busy',
      async () => {
        current += 1;
        most = Math.max(most, current);
        await new Promise<void>((done) => waiting.push(done));
        current -= 1;
        return answer(null);
      },
      { maximumConcurrency: 2, batchSize: 1 },
    );
    for (let finished = 0; finished < 6; finished += 2) {
      await until(async () => waiting.length === 2);
      for (const release of waiting.splice(0)) release();
    }
    await until(async () => run.source.idle().running === 0);
    await run.stop();
    assert.equal(most, 2);
    assert.equal(run.events.length, 6);
  });

  it('lets running batches end before it is done', async () => {
    await scene.send('lasting', ['a']);
    let release: (() => void) | undefined;
    const run = start('lasting', async () => {
      await new Promise<void>((done) => {
        release = done;
      });
      return answer(null);
    });
    await until(async () => release !== undefined);
    let isDone = false;
    const stopped = run.stop().then(() => {
      isDone = true;
    });
    await until(async () => run.source.idle().emptyPolls > 0);
    assert.equal(isDone, false);
    release?.();
    await stopped;
    assert.equal(await scene.depth('lasting'), 0);
  });

  it('refuses a queue whose visibility is shorter than the time-out, as Lambda does', async () => {
    await scene.send('short', ['a']);
    const run = start('short', () => answer(null), { timeoutMs: 1_001 });
    await assert.rejects(run.done, (error) => error instanceof ConfigError && error.code === 'visibility-too-short');
    assert.equal(run.events.length, 0);
    await scene.client.send(
      new SetQueueAttributesCommand({ QueueUrl: scene.queues.queueUrl('short'), Attributes: { VisibilityTimeout: '2' } }),
    );
    const again = start('short', () => answer(null), { timeoutMs: 1_001 });
    await until(async () => again.events.length === 1);
    await again.stop();
  });

  it('waits a fault of the queue out, longer each time, and logs it', async () => {
    const sleeps: number[] = [];
    const clock = { steadyMs: () => 0, random: () => 0.5, sleep: async (ms: number) => void sleeps.push(ms) } as Clock;
    let polls = 0;
    const receiver: Receiver = {
      async receive(_, signal) {
        polls += 1;
        if (polls <= 7) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
        await new Promise((done) => signal?.addEventListener('abort', done));
        return [];
      },
    };
    const run = start('plain', () => answer(null), { receiver, clock });
    await until(async () => polls === 8);
    await run.stop();
    assert.deepEqual(sleeps, [750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500]);
    assert.ok(run.lines.length === 7 && run.lines.every(({ fields }) => fields['code'] === 'ECONNREFUSED'));
  });

  it('logs each message that could not be deleted', async () => {
    const message: Message = { MessageId: 'm1', ReceiptHandle: 'not a handle', Body: 'a' };
    const receiver = receiverOf([[message]]);
    const run = start('undeletable', () => answer(null), { receiver });
    await until(async () => run.lines.length > 0);
    await run.stop();
    assert.match(run.lines[0]?.message ?? '', /not deleted/);
    assert.equal(run.lines[0]?.fields['messageId'], 'm1');
  });

  for (const options of [{ batchSize: 0 }, { batchSize: 11 }, { windowSeconds: 301 }, { maximumConcurrency: 0 }]) {
    it(`refuses ${JSON.stringify(options)}`, () => assert.throws(() => start('plain', () => answer(null), options), RangeError));
  }
});
