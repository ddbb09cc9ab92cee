/** What looking at dead letters relies on: one suite for every endpoint of SQS, through our own adapter. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SendMessageCommand, type SendMessageCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import { systemClock } from '../../../functions/adapters/clock.ts';
import { openLetterQueue } from '../../../functions/adapters/letter-queue.ts';
import type { LetterQueue, ReceivedLetter } from '../../../functions/adapters/letter-queue-port.ts';
import { ConfigError, TransientError } from '../../../functions/core/errors.ts';
import { type LookReport, lookThrough, warningsOf } from '../../../functions/replay/look-through.ts';
import { createLocalClient, createQueues, type LocalQueues, localAwsEnv } from '../../../infra/local/local-queues.ts';

interface Bench {
  readonly queue: LetterQueue;
  readonly url: string;
  send(count: number, over?: Partial<SendMessageCommandInput>): Promise<string[]>;
  /** Receives until there are so many. */
  receiveAll(count: number, visibilitySeconds: number): Promise<ReceivedLetter[]>;
  look(stopAfter?: number): Promise<{ report: LookReport; warnings: string[]; seen: ReceivedLetter[] }>;
}

/** What an endpoint gets wrong, which must be so still. */
interface LetterQueueFaults {
  /** It does not say whose dead letters come to a queue, where that was set after the queue was made. */
  readonly hidesSources?: boolean;
  /** It does not say how long it keeps a message. */
  readonly hidesRetention?: boolean;
  /** It says no to the delete of what is deleted. */
  readonly refusesSecondDelete?: boolean;
}

/** Registers the suite for one endpoint. */
export function describeLetterQueue(name: string, start: () => Promise<LocalQueues>, faults: LetterQueueFaults = {}): void {
  describe(`looking at dead letters on ${name}`, () => {
    let endpoint: LocalQueues;
    let client: SQSClient;
    let count = 0;
    const opened: LetterQueue[] = [];
    before(async () => {
      endpoint = await start();
      Object.assign(process.env, localAwsEnv(endpoint.endpoint));
      client = createLocalClient(endpoint.endpoint);
    });
    after(async () => {
      for (const queue of opened) queue.close();
      client?.destroy();
      await endpoint?.stop();
    });

    async function bench(): Promise<Bench> {
      count += 1;
      const dead = `dead-${count}`;
      const urlOf = await createQueues(endpoint.endpoint, [
        { name: dead },
        { name: `work-${count}`, deadLetter: { name: dead, maxReceiveCount: 5 } },
      ]);
      const url = urlOf(dead);
      const queue = await openLetterQueue(url);
      opened.push(queue);
      return {
        queue,
        url,
        send: (many, over = {}) =>
          Promise.all(Array.from({ length: many }, (_, at) => sendOne(client, { QueueUrl: url, MessageBody: `letter ${at}`, ...over }))),
        async receiveAll(many, visibilitySeconds) {
          const letters: ReceivedLetter[] = [];
          while (letters.length < many) letters.push(...(await queue.receive({ visibilitySeconds, waitSeconds: 1 })));
          return letters;
        },
        async look(stopAfter = Number.POSITIVE_INFINITY) {
          const stop = new AbortController();
          const seen: ReceivedLetter[] = [];
          const onLetter = (letter: ReceivedLetter): boolean => {
            if (seen.push(letter) >= stopAfter) stop.abort();
            return true;
          };
          const description = await queue.describe();
          const report = await lookThrough({ queue, description, clock: systemClock, stop: stop.signal, onLetter });
          assert.equal(await report.givenBack, 0);
          return { report, warnings: warningsOf(report, description), seen };
        },
      };
    }

    it('knows the queue, what is in it, and whose dead letters come there', async () => {
      const { queue, url, send } = await bench();
      await send(3);
      const { arn, retentionSeconds, depth, redriveTargetArn, sourceUrls } = await queue.describe();
      assert.equal(arn.split(':').at(-1), url.split('/').at(-1));
      assert.equal(retentionSeconds, faults.hidesRetention ? undefined : 345_600);
      assert.deepEqual([depth.visible, depth.hidden, redriveTargetArn], [3, 0, undefined]);
      const sources = faults.hidesSources ? [] : [url.split('/').at(-1)?.replace('dead', 'work')];
      assert.deepEqual(
        sourceUrls?.map((source) => source.split('/').at(-1)),
        sources,
      );
    });

    it('knows that a work queue moves its messages elsewhere', async () => {
      const { url } = await bench();
      const work = await openLetterQueue(url.replace('dead', 'work'));
      opened.push(work);
      const { redriveTargetArn, sourceUrls } = await work.describe();
      assert.deepEqual([redriveTargetArn?.split(':').at(-1), sourceUrls], [url.split('/').at(-1), []]);
    });

    it('reads body, attributes and the time of the send', async () => {
      const { send, look } = await bench();
      const before = Date.now();
      const [id] = await send(1, { MessageBody: 'é😀', MessageAttributes: { code: { DataType: 'String', StringValue: 'invalid' } } });
      const { seen } = await look();
      const [letter] = seen;
      assert.deepEqual([letter?.messageId, letter?.body, letter?.attributes], [id, 'é😀', { code: 'invalid' }]);
      assert.ok(letter?.sentAtMs !== undefined && Math.abs(letter.sentAtMs - before) < 60_000);
      assert.equal(letter.receiveCount, 1);
    });

    it('keeps attributes that nothing of ours writes', async () => {
      const { send, receiveAll } = await bench();
      const size = { DataType: 'Number', StringValue: '7' };
      const bytes = { DataType: 'Binary.png', BinaryValue: new Uint8Array([0, 255, 10]) };
      await send(1, { MessageAttributes: { code: { DataType: 'String', StringValue: 'invalid' }, size, bytes } });
      const [letter] = await receiveAll(1, 30);
      assert.deepEqual(letter?.otherAttributes, {
        size: { type: 'Number', value: '7' },
        bytes: { type: 'Binary.png', value: 'AP8K' },
      });
      assert.equal(letter.attributes['code'], 'invalid');
      assert.match(letter.system?.['SentTimestamp'] ?? '', /^[0-9]+$/);
    });

    it('sees each letter once, and gives all back at once', async () => {
      const { send, look } = await bench();
      const ids = await send(45);
      for (let round = 1; round <= 2; round += 1) {
        const { report, warnings, seen } = await look();
        assert.deepEqual(seen.map(({ messageId }) => messageId).sort(), ids.sort());
        assert.deepEqual([report.end, warnings], ['through', []]);
      }
    });

    it('gives back what it holds when it is stopped', async () => {
      const { queue, send, look } = await bench();
      await send(60);
      assert.equal((await look(15)).report.end, 'stopped');
      assert.equal((await queue.describe()).depth.visible, 60);
      assert.equal((await look()).seen.length, 60);
    });

    it('says of a queue that is not there that it is not there', async () => {
      const { url } = await bench();
      const absent = await openLetterQueue(url.replace('dead', 'no'));
      opened.push(absent);
      await assert.rejects(absent.describe(), (error) => error instanceof ConfigError && error.code === 'queue-missing');
    });

    it('says of an endpoint that is not there that it does not answer', async () => {
      const away = await openLetterQueue('http://127.0.0.1:9/000000000000/x', { endpoint: 'http://127.0.0.1:9' });
      opened.push(away);
      await assert.rejects(
        away.describe(),
        (error) => error instanceof TransientError && error.code === 'queue-unreachable' && /ECONNREFUSED/.test(error.message),
      );
      assert.deepEqual(await away.release(['a', 'b']), [0, 1]);
      assert.deepEqual(await away.extend(['a', 'b'], 5), [0, 1]);
      assert.deepEqual(await away.remove(['a', 'b']), [0, 1]);
    });

    it('deletes letters, more than a request takes, and no others', async () => {
      const { queue, send, receiveAll } = await bench();
      const ids = await send(25);
      const letters = await receiveAll(25, 30);
      const [kept, ...rest] = letters.map(({ receiptHandle }) => receiptHandle);
      assert.deepEqual(await queue.remove(rest), []);
      assert.deepEqual(await queue.release([kept ?? '']), []);
      const left = await receiveAll(1, 30);
      assert.deepEqual(
        left.map(({ messageId }) => messageId),
        ids.filter((id) => id === letters[0]?.messageId),
      );
    });

    it('deletes a letter twice as well as once', async () => {
      const { queue, send, receiveAll } = await bench();
      await send(1);
      const [handle = ''] = (await receiveAll(1, 30)).map(({ receiptHandle }) => receiptHandle);
      assert.deepEqual(await queue.remove([handle]), []);
      assert.deepEqual(await queue.remove([handle]), faults.refusesSecondDelete ? [0] : []);
    });

    it('deletes the others of a request that holds what is no handle', async () => {
      const { queue, send, receiveAll } = await bench();
      await send(2);
      const handles = (await receiveAll(2, 30)).map(({ receiptHandle }) => receiptHandle);
      assert.deepEqual(await queue.remove([handles[0] ?? '', 'no handle', handles[1] ?? '']), [1]);
      const { visible, hidden } = (await queue.describe()).depth;
      assert.equal(visible + hidden, 0);
    });

    it('hides letters for longer than they were received for', async () => {
      const { queue, send, receiveAll } = await bench();
      await send(12);
      const received = await receiveAll(12, 6);
      const longer = received.slice(1).map(({ receiptHandle }) => receiptHandle);
      assert.deepEqual(await queue.extend(longer, 30), []);
      assert.equal((await receiveAll(1, 30))[0]?.messageId, received[0]?.messageId); // once its six seconds are over
      assert.deepEqual(await queue.receive({ visibilitySeconds: 30, waitSeconds: 0 }), []);
    });
  });
}

async function sendOne(client: SQSClient, input: SendMessageCommandInput): Promise<string> {
  const { MessageId = '' } = await client.send(new SendMessageCommand(input));
  return MessageId;
}
