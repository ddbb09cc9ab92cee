import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { OutgoingMessage } from '../../../functions/adapters/queue-port.ts';
import { createQueue } from '../../../functions/adapters/sqs.ts';
import { ConfigError } from '../../../functions/core/errors.ts';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly [field: string]: unknown;
}

/** What the server does with one request; the entries and the number of the request (from 0) decide. */
type Answer = (entries: readonly Entry[], request: number, response: ServerResponse) => unknown;

const accepted = (entries: readonly Entry[]) =>
  entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: `m${Id}`,
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));

function refuse(response: ServerResponse, type: string, status = 400): void {
  response
    .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
    .end(JSON.stringify({ __type: type, message: `no: ${type}` }));
}

const message = (body: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  body,
  delaySeconds: 0,
  groupId: 'east',
  ...more,
});

describe('createQueue', () => {
  let server: Server;
  let endpoint: string;
  let answer: Answer;
  let requests: { entries: Entry[]; socket: unknown }[];

  before(async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
    server = createServer((request: IncomingMessage, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const entries = (JSON.parse(text) as { Entries?: Entry[] }).Entries ?? [];
        requests.push({ entries, socket: request.socket });
        const body = answer(entries, requests.length - 1, response);
        if (!response.writableEnded && body !== undefined) {
          response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
        }
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function send(messages: readonly OutgoingMessage[], by: Answer, signal?: AbortSignal) {
    answer = by;
    requests = [];
    const queue = await createQueue({ region: 'us-east-1', endpoint });
    return queue.send(`${endpoint}/000000000000/work`, messages, signal === undefined ? {} : { signal });
  }

  it('sends twenty-three messages in batches of at most ten, on one connection', async () => {
    const results = await send(
      Array.from({ length: 23 }, (_, index) => message(`b${index}`)),
      (entries) => ({ Successful: accepted(entries) }),
    );
    assert.deepEqual(
      requests.map((request) => request.entries.length),
      [10, 10, 3],
    );
    assert.equal(new Set(requests.map((request) => request.socket)).size, 1);
    assert.equal(results.length, 23);
    assert.ok(results.every((result) => result.kind === 'sent'));
  });

  it('gives delay, group and attributes of every message to SQS, a delay of zero too', async () => {
    await send([message('a', { attributes: { code: 'invalid' } }), message('b', { delaySeconds: 30, groupId: 'west' })], (entries) => ({
      Successful: accepted(entries),
    }));
    assert.deepEqual(requests[0]?.entries, [
      {
        Id: '0',
        MessageBody: 'a',
        DelaySeconds: 0,
        MessageGroupId: 'east',
        MessageAttributes: { code: { DataType: 'String', StringValue: 'invalid' } },
      },
      { Id: '1', MessageBody: 'b', DelaySeconds: 30, MessageGroupId: 'west' },
    ]);
  });

  it('answers per entry, in the order of the messages (B32)', async () => {
    const results = await send(
      ['ok', 'bad', 'busy', 'fault', 'lost', 'prefixed'].map((body) => message(body)),
      (entries) => ({
        Successful: accepted(entries.slice(0, 1)),
        Failed: [
          { Id: '3', Code: 'InternalError', SenderFault: false },
          { Id: '5', Code: 'AWS.SimpleQueueService.InvalidMessageContents', SenderFault: true, Message: 'bad again' },
          { Id: '2', Code: 'RequestThrottled', SenderFault: true },
          { Id: '1', Code: 'InvalidMessageContents', SenderFault: true, Message: 'bad character' },
          { Id: '77', Code: 'InvalidMessageContents', SenderFault: true, Message: 'nobody' },
        ],
      }),
    );
    assert.deepEqual(results, [
      { kind: 'sent' },
      { kind: 'refused', code: 'InvalidMessageContents', message: 'bad character' },
      { kind: 'retry', code: 'RequestThrottled' },
      { kind: 'retry', code: 'InternalError' },
      { kind: 'retry', code: 'not-in-answer' },
      { kind: 'refused', code: 'InvalidMessageContents', message: 'bad again' },
    ]);
    assert.equal(requests.length, 1);
  });

  it('splits a batch that is refused as too long until the message that is too long stands alone (B30)', async () => {
    const results = await send(
      ['a', 'b', 'TOO LONG', 'd', 'e'].map((body) => message(body)),
      (entries, _, response) => {
        if (entries.some(({ MessageBody }) => MessageBody === 'TOO LONG')) return refuse(response, 'com.amazonaws.sqs#BatchRequestTooLong');
        return { Successful: accepted(entries) };
      },
    );
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent', 'refused', 'sent', 'sent'],
    );
    assert.equal(results[2]?.kind === 'refused' && results[2].code, 'BatchRequestTooLong');
  });

  for (const [type, code] of [
    ['com.amazonaws.sqs#QueueDoesNotExist', 'QueueDoesNotExist'],
    ['AWS.SimpleQueueService.NonExistentQueue', 'QueueDoesNotExist'],
    ['com.amazon.coral.service#AccessDeniedException', 'AccessDeniedException'],
  ] as const) {
    it(`keeps messages for later when the request fails with ${type}`, async () => {
      const results = await send([message('a'), message('b')], (_, __, response) => refuse(response, type));
      assert.deepEqual(results, [
        { kind: 'retry', code },
        { kind: 'retry', code },
      ]);
    });
  }

  it('lets the SDK try again after a fault of the server', async () => {
    const results = await send([message('a')], (entries, request, response) =>
      request === 0 ? refuse(response, 'ServiceUnavailable', 503) : { Successful: accepted(entries) },
    );
    assert.deepEqual(results, [{ kind: 'sent' }]);
    assert.equal(requests.length, 2);
  });

  it('keeps what an earlier batch was told when a later one fails', async () => {
    const results = await send(
      Array.from({ length: 11 }, (_, index) => message(`b${index}`)),
      (entries, request, response) => (request === 0 ? { Successful: accepted(entries) } : refuse(response, 'OverLimit')),
    );
    assert.ok(results.slice(0, 10).every((result) => result.kind === 'sent'));
    assert.deepEqual(results[10], { kind: 'retry', code: 'OverLimit' });
  });

  it('names the fault of the network', async () => {
    const closed = createServer();
    await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
    const port = (closed.address() as AddressInfo).port;
    await new Promise((done) => closed.close(done));
    const queue = await createQueue({ region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` });
    assert.deepEqual(await queue.send('http://127.0.0.1/0/work', [message('a')]), [{ kind: 'retry', code: 'ECONNREFUSED' }]);
  });

  it('ends with its signal: what was under way and what had not begun is for later', async () => {
    const stop = new AbortController();
    const results = await send(
      Array.from({ length: 11 }, (_, index) => message(`b${index}`)),
      () => stop.abort(),
      stop.signal,
    );
    assert.ok(results.length === 11 && results.every((result) => result.kind === 'retry' && result.code === 'aborted'));
    assert.equal(requests.length, 1);
  });

  it('asks nobody when there is nothing to send', async () => {
    assert.deepEqual(await send([], () => undefined), []);
    assert.equal(requests.length, 0);
  });

  async function depth(by: Answer, signal?: AbortSignal): Promise<number | undefined> {
    answer = by;
    requests = [];
    const queue = await createQueue({ region: 'us-east-1', endpoint });
    return queue.depth(`${endpoint}/000000000000/work`, signal === undefined ? {} : { signal });
  }

  it('counts what is visible as the depth of a queue, and not what is delayed', async () => {
    const Attributes = { ApproximateNumberOfMessages: '40', ApproximateNumberOfMessagesDelayed: '1000' };
    assert.equal(await depth(() => ({ Attributes })), 40);
    assert.equal(requests.length, 1);
  });

  for (const [name, by] of [
    ['is not allowed to know it', (_, __, response) => refuse(response, 'com.amazon.coral.service#AccessDeniedException')],
    ['gets an answer without numbers', () => ({})],
    ['gets an answer without the one that counts', () => ({ Attributes: { ApproximateNumberOfMessagesDelayed: '2' } })],
  ] as const satisfies readonly (readonly [string, Answer])[]) {
    it(`says nothing of the depth where it ${name}`, async () => {
      assert.equal(await depth(by), undefined);
    });
  }

  it('stops asking for the depth with its signal', async () => {
    const stop = new AbortController();
    assert.equal(await depth(() => stop.abort(), stop.signal), undefined);
  });

  it('sends every request to the endpoint of the environment, also when the queue has another host', async () => {
    process.env['AWS_ENDPOINT_URL_SQS'] = endpoint;
    try {
      answer = (entries) => ({ Successful: accepted(entries) });
      requests = [];
      const queue = await createQueue({ region: 'us-east-1' });
      for (const body of ['first', 'second']) {
        assert.deepEqual(await queue.send('http://queue.invalid/000000000000/work', [message(body)]), [{ kind: 'sent' }]);
      }
      assert.equal(requests.length, 2);
    } finally {
      delete process.env['AWS_ENDPOINT_URL_SQS'];
    }
  });

  it('says before the first send that the region is missing', async () => {
    const names = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE'];
    const kept = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) delete process.env[name];
    process.env['AWS_CONFIG_FILE'] = process.env['AWS_SHARED_CREDENTIALS_FILE'] = '/dev/null';
    try {
      await assert.rejects(createQueue({ endpoint }), (error) => error instanceof ConfigError && error.code === 'region-missing');
    } finally {
      for (const [name, value] of kept) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});
