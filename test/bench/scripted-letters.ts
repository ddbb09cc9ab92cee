/**
 * A dead-letter queue and the cluster that its letters are about, both made from numbers, so that 100,000 need no memory here: as much of
 * SQS as a look asks for, and GETs of Tenants of about 3 KB, given up by their last run. Letters, receipt handles and objects are as large as
 * real ones. A process of its own, so that what it costs is not counted with what is measured.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../infra/local/certificates.ts';
import { letterBody } from '../functions/replay/letters.ts';
import { CREATED, tenantText, uidOf } from './tenant-texts.ts';

/** The first message to the parent. */
export interface LettersReady {
  readonly endpoint: string;
  readonly queueUrl: string;
  /** Of the cluster, with the PEM of what to trust. */
  readonly url: string;
  readonly ca: string;
}

/** The answer to any message of the parent. */
export interface LettersReport {
  readonly gets: number;
  /** Letters that are hidden. */
  readonly hidden: number;
}

/** Of SQS: a base64 text of so many bytes. */
const HANDLE_BYTES = 309;
/** Where the letter's number stands in a handle. */
const NUMBER_AT = 4;
const SENT_MS = Date.parse(CREATED);
const MESSAGE = 'spec.quota: the namespace holds more than that already; '.repeat(4);
/** Bodies differ by name and uid, which stand here in the template. */
const [NAME_MARK, UID_MARK] = ['name-of-the-object', 'uid-of-the-object'];
const TEMPLATE = letterBody({ name: NAME_MARK, uid: UID_MARK }, { message: MESSAGE });
const CONDITIONS = ['Ready', 'Synced'].map((type) => {
  return { type, status: 'False', reason: 'Invalid', message: MESSAGE, lastTransitionTime: CREATED, observedGeneration: 2 };
});

class ScriptedLetters {
  readonly #letters: number;
  readonly #objects: number;
  /** Letters are received in their order, as long as none came back; numbers of those that did. */
  #next = 0;
  readonly #back: number[] = [];
  #hidden = 0;
  #gets = 0;

  constructor(letters: number, objects: number) {
    this.#letters = letters;
    this.#objects = objects;
  }

  get report(): LettersReport {
    return { gets: this.#gets, hidden: this.#hidden };
  }

  /** What SQS says to an action of its JSON protocol. */
  answer(action: string, input: Readonly<Record<string, unknown>>): object {
    switch (action) {
      case 'GetQueueAttributes': {
        const visible = String(this.#letters - this.#hidden);
        return {
          Attributes: { QueueArn: 'arn:aws:sqs:us-east-1:1:dead', MessageRetentionPeriod: '1209600', ApproximateNumberOfMessages: visible },
        };
      }
      case 'ListDeadLetterSourceQueues':
        return { queueUrls: ['http://localhost/1/source'] };
      case 'ReceiveMessage':
        return { Messages: Array.from({ length: Math.min(10, this.#letters - this.#hidden) }, () => this.#receive()) };
      case 'ChangeMessageVisibilityBatch': {
        const entries = input['Entries'] as readonly { readonly Id: string; readonly ReceiptHandle: string }[];
        for (const { ReceiptHandle } of entries) this.#back.push(Buffer.from(ReceiptHandle, 'base64').readUInt32BE(NUMBER_AT));
        this.#hidden -= entries.length;
        return { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] };
      }
      default:
        throw new Error(`no ${action} here`);
    }
  }

  get({ url = '' }: IncomingMessage, response: ServerResponse): void {
    this.#gets += 1;
    const index = Number(/team-(\d+)$/.exec(url)?.[1]);
    const object = JSON.parse(tenantText({ index, resourceVersion: 10 + index, generation: 2, observedGeneration: 1 }, 'full'));
    object.status = { ...object.status, conditions: CONDITIONS };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(object));
  }

  #receive(): object {
    const number = this.#next < this.#letters ? this.#next++ : (this.#back.shift() ?? 0);
    this.#hidden += 1;
    const index = number % this.#objects;
    const name = `team-${String(index).padStart(6, '0')}`;
    const Body = TEMPLATE.replaceAll(NAME_MARK, name).replaceAll(UID_MARK, uidOf('tenant', index));
    const handle = randomBytes(HANDLE_BYTES);
    handle.writeUInt32BE(number, NUMBER_AT);
    return {
      MessageId: uidOf('letter', number),
      ReceiptHandle: handle.toString('base64'),
      Body,
      MD5OfBody: createHash('md5').update(Body).digest('hex'),
      Attributes: {
        SenderId: 'AROAEXAMPLEROLEID:reconcile',
        SentTimestamp: String(SENT_MS + number),
        ApproximateReceiveCount: '1',
        ApproximateFirstReceiveTimestamp: String(SENT_MS + number + 60_000),
      },
      MessageAttributes: { code: { StringValue: 'invalid', DataType: 'String' } },
    };
  }
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text) as Record<string, unknown>;
}

/** The process: listens, tells where, reports until the parent lets go. */
async function main(letters: number, objects: number): Promise<void> {
  const scripted = new ScriptedLetters(letters, objects);
  const queue = createHttpServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const answer = scripted.answer(action, await bodyOf(request));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer));
  });
  const certificate = selfSigned(['localhost', '127.0.0.1']);
  const cluster = createServer(certificate, (request, response) => scripted.get(request, response));
  for (const server of [queue, cluster]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const portOf = (server: typeof queue | typeof cluster): number => (server.address() as AddressInfo).port;
  const endpoint = `http://127.0.0.1:${portOf(queue)}`;
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send?.(scripted.report));
  const ready = { endpoint, queueUrl: `${endpoint}/000000000000/dead`, url: `https://127.0.0.1:${portOf(cluster)}`, ca: certificate.cert };
  process.send?.(ready satisfies LettersReady);
}

if (import.meta.main) await main(Number(process.argv[2]), Number(process.argv[3]));
