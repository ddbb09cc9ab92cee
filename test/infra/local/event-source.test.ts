import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  GetQueueAttributesCommand,
  type Message,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import type { Clock } from '../../../functions/adapters/clock.ts';
import type { Log, LogFields } from '../../../functions/adapters/telemetry.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { createEventSource, type EventFunction, type EventSource } from '../../../infra/local/event-source/event-source.ts';
import type { InvocationResult } from '../../../infra/local/function-host/invocation.ts';
import { createLocalClient, type LocalQueues } from '../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../infra/local/queue.ts';
import { createReceiver, type Receiver } from '../../../infra/local/receive.ts';

const QUEUES = ['plain', 'partial', 'thrown', 'shape', 'busy', 'lasting', 'short', 'undeletable'];

const answer = (payload: unknown): InvocationResult => ({
  kind: 'answer',
  payload,
  requestId: 'r',
  coldStart: false,
  initMs: undefined,
  durationMs: 1,
});
const timedOut: InvocationResult = {
  ...answer(null),
  kind: 'error',
  error: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' },
};

describe('createEventSource', () => {
  let queues: LocalQueues;
  let client: SQSClient;

  before(async () => {
    const dead = { name: 'dead' };
    const work = QUEUES.map((name) => ({ name, visibilitySeconds: 1, deadLetter: { name: 'dead', maxReceiveCount: 2 } }));
    queues = await startLocalQueues({ queues: [...work, dead] });
    client = createLocalClient(queues.endpoint);
  });
  after(async () => {
    client.destroy();
    await queues.stop();
  });

  interface Run {
    readonly source: EventSource;
    readonly events: SQSEvent[];
    readonly lines: { readonly message: string; readonly fields: LogFields }[];
    readonly done: Promise<void>;
    stop(): Promise<void>;
  }

  function start(
    queue: string,
    invoke: (event: SQSEvent) => InvocationResult | Promise<InvocationResult>,
    options: { maximumConcurrency?: number; batchSize?: number; receiver?: Receiver; clock?: Clock; timeoutMs?: number } = {},
  ): Run {
    const queueUrl = queues.queueUrl(queue);
    const events: SQSEvent[] = [];
    const lines: Run['lines'] = [];
    const write = (message: string, fields: LogFields = {}): unknown => lines.push({ message, fields });
    const log: Log = { debug: write, info: write, warn: write, error: write };
    const pool: EventFunction = {
      timeoutMs: options.timeoutMs ?? 1_000,
      async invoke(event) {
        events.push(event);
        return invoke(event);
      },
    };
    const receiver = options.receiver ?? createReceiver({ client, queueUrl, quirks: queues.quirks });
    const source = createEventSource({
      ...{ maximumConcurrency: 2, ...options },
      ...{ client, queueUrl, queueArn: `arn:aws:sqs:eu-west-1:000000000000:${queue}`, receiver, pool, log },
    });
    const end = new AbortController();
    const done = source.run(end.signal);
    done.catch(() => undefined); // looked at by the test
    const stop = (): Promise<void> => {
      end.abort();
      return done;
    };
    return { source, events, lines, done, stop };
  }

  const send = (queue: string, bodies: readonly string[]) =>
    client.send(
      new SendMessageBatchCommand({
        QueueUrl: queues.queueUrl(queue),
        Entries: bodies.map((MessageBody, index) => ({ Id: `e${index}`, MessageBody })),
      }),
    );

  /** Messages in any state. */
  async function depth(queue: string): Promise<number> {
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
    const command = new GetQueueAttributesCommand({ QueueUrl: queues.queueUrl(queue), AttributeNames: [...AttributeNames] });
    const { Attributes = {} } = await client.send(command);
    return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name]), 0);
  }

  it('hands every message out once, in batches of at most ten, and deletes them', async () => {
    for (let batch = 0; batch < 3; batch += 1)
      await send(
        'plain',
        Array.from({ length: 10 }, (_, index) => `${batch}-${index}`),
      );
    const run = start('plain', () => answer({ batchItemFailures: [] }));
    await until(async () => run.source.idle().emptyPolls > 0 && run.source.idle().running === 0);
    await run.stop();
    const bodies = run.events.flatMap(({ Records }) => Records.map(({ body }) => body));
    assert.equal(bodies.length, 30);
    assert.equal(new Set(bodies).size, 30);
    assert.ok(run.events.every(({ Records }) => Records.length <= 10));
    assert.equal(await depth('plain'), 0);
  });

  it('deletes what succeeded; what failed comes again when its visibility ends, and goes to the dead letters at last', async () => {
    await send('partial', ['good', 'bad', 'good too']);
    const run = start('partial', ({ Records }) =>
      answer({ batchItemFailures: Records.filter(({ body }) => body === 'bad').map(({ messageId }) => ({ itemIdentifier: messageId })) }),
    );
    await until(async () => (await depth('dead')) === 1);
    await run.stop();
    const received = run.events.flatMap(({ Records }) => Records.map(({ body }) => body)).sort();
    assert.deepEqual(received, ['bad', 'bad', 'good', 'good too']);
    assert.equal(await depth('partial'), 0);
  });

  it('deletes nothing of a batch whose function failed', async () => {
    await send('thrown', ['a', 'b']);
    let calls = 0;
    const run = start('thrown', () => (calls++ === 0 ? timedOut : answer(null)));
    await until(async () => run.events.flatMap(({ Records }) => Records).length >= 4 && run.source.idle().running === 0);
    await run.stop();
    assert.equal(await depth('thrown'), 0);
    assert.equal(run.lines.find(({ message }) => message.startsWith('function failed'))?.fields['errorType'], 'Sandbox.Timedout');
  });

  it('makes records as Lambda does', async () => {
    const binary = Buffer.from([0, 255]);
    await client.send(
      new SendMessageCommand({
        QueueUrl: queues.queueUrl('shape'),
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
    await send(
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
    await send('lasting', ['a']);
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
    assert.equal(await depth('lasting'), 0);
  });

  it('refuses a queue whose visibility is shorter than the time-out, as Lambda does', async () => {
    await send('short', ['a']);
    const run = start('short', () => answer(null), { timeoutMs: 1_001 });
    await assert.rejects(run.done, (error) => error instanceof ConfigError && error.code === 'visibility-too-short');
    assert.equal(run.events.length, 0);
    await client.send(new SetQueueAttributesCommand({ QueueUrl: queues.queueUrl('short'), Attributes: { VisibilityTimeout: '2' } }));
    const again = start('short', () => answer(null), { timeoutMs: 1_001 });
    await until(async () => again.events.length === 1);
    await again.stop();
  });

  it('waits a fault of the queue out, longer each time, and logs it', async () => {
    const sleeps: number[] = [];
    const clock = { random: () => 0.5, sleep: async (ms: number) => void sleeps.push(ms) } as Clock;
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
    const given = [[message]];
    const receiver: Receiver = {
      async receive(_, signal) {
        const next = given.shift();
        if (next !== undefined) return next;
        await new Promise((done) => signal?.addEventListener('abort', done));
        return [];
      },
    };
    const run = start('undeletable', () => answer(null), { receiver });
    await until(async () => run.lines.length > 0);
    await run.stop();
    assert.match(run.lines[0]?.message ?? '', /not deleted/);
    assert.equal(run.lines[0]?.fields['messageId'], 'm1');
  });

  for (const options of [{ batchSize: 0 }, { batchSize: 11 }, { batchSize: 1.5 }, { maximumConcurrency: 0 }]) {
    it(`refuses ${JSON.stringify(options)}`, () => assert.throws(() => start('plain', () => answer(null), options), RangeError));
  }
});

/** Looks every 10 ms; fails after 10 s. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 10_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < endMs, 'it did not become so within 10 s');
    await new Promise((done) => setTimeout(done, 10));
  }
}
