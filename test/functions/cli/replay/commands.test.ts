/** `dogwatch replay` as a process: queues of local-aws-sqs and an embedded cluster, and everything that is used wrongly. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GetQueueAttributesCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { PlanHead, PlanItem } from '../../../../functions/replay/plan.ts';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { createLocalClient, type LocalQueues, localAwsEnv } from '../../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../../infra/local/queue.ts';
import { letterBody, movedBody } from '../../replay/letters.ts';
import { endsOf } from '../command-lines.ts';

const BIN = resolve(import.meta.dirname, '../../../../functions/cli/bin.js');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('dogwatch replay', { timeout: 90_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-replay-'));
  const running = new Set<ChildProcess>();
  let queues: LocalQueues;
  let server: ApiServer;
  let env: Record<string, string>;
  before(async () => {
    const dead = { name: 'dead', maxReceiveCount: 5 };
    const specs = [{ name: 'dead', visibilitySeconds: 60 }, { name: 'many' }, { name: 'plain' }, { name: 'work', deadLetter: dead }];
    [queues, server] = await Promise.all([startLocalQueues({ queues: specs }), startApiServer()]);
    writeFileSync(join(dir, 'east.yaml'), server.kubeconfig('east'));
    writeFileSync(join(dir, 'clusters.yml'), 'clusters:\n  - { name: east, kubeconfig: ./east.yaml }\n');
    env = {
      ...localAwsEnv(queues.endpoint),
      DOGWATCH_CLUSTERS: join(dir, 'clusters.yml'),
      DOGWATCH_QUEUE_URL: queues.queueUrl('work'),
      DOGWATCH_DEAD_LETTER_QUEUE_URL: queues.queueUrl('dead'),
    };
    await fill('dead', [letterBody({ name: 'acme' }), movedBody({ name: 'acme' }), letterBody({ cluster: 'north' }), 'hello']);
    const [{ code, output } = { code: null, output: '' }] = await endsOf([{ words: ['crds', '--apply', '--cluster', 'east'], env }]);
    assert.equal(code, 0, output);
  });
  after(async () => {
    for (const child of running) child.kill('SIGKILL');
    await Promise.all([queues?.stop(), server?.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });

  async function fill(name: string, bodies: readonly string[]): Promise<void> {
    const client = createLocalClient(queues.endpoint);
    for (let first = 0; first < bodies.length; first += 10) {
      const Entries = bodies.slice(first, first + 10).map((MessageBody, at) => ({ Id: String(at), MessageBody }));
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queues.queueUrl(name), Entries }));
      assert.deepEqual(Failed, []);
    }
    client.destroy();
  }

  /** Letters of a queue that nobody can receive now; the endpoint counts them among the others. */
  async function hidden(name: string): Promise<number> {
    const client = createLocalClient(queues.endpoint);
    const AttributeNames = ['ApproximateNumberOfMessagesNotVisible' as const];
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: queues.queueUrl(name), AttributeNames }));
    client.destroy();
    return Number(Attributes?.ApproximateNumberOfMessagesNotVisible);
  }

  function start(words: readonly string[], over: Record<string, string | undefined> = {}): { child: ChildProcess; ended: Promise<Ended> } {
    const given = { PATH: process.env['PATH'], HOME: dir, ...env, ...over };
    const child = spawn(process.execPath, [BIN, ...words], { cwd: dir, env: given, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    const texts = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      texts.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      texts.err += chunk;
    });
    const ended = new Promise<Ended>((done) =>
      child.once('close', (code) => {
        running.delete(child);
        done({ code, ...texts });
      }),
    );
    return { child, ended };
  }
  const replay = (words: readonly string[], over: Record<string, string | undefined> = {}): Promise<Ended> =>
    start(['replay', ...words], over).ended;

  it('writes a plan into the working directory, and gives back what it received', async () => {
    const { code, out, err } = await replay(['plan']);
    assert.equal(code, 0, err);
    const [, path = ''] = /^plan: (.*\/dogwatch-plan-\d{8}T\d{6}Z\.json)$/m.exec(out) ?? [];
    const plan = JSON.parse(readFileSync(path, 'utf8')) as PlanHead & { items: PlanItem[] };
    assert.deepEqual(
      plan.items.map(({ class: name, reason, letters }) => [name, reason, letters.length]),
      [
        ['gone', 'gone', 2],
        ['unknown', 'unknown-cluster', 1],
        ['unreadable', 'foreign', 1],
      ],
    );
    assert.equal(await hidden('dead'), 0);
  });

  const faults: readonly [name: string, words: readonly string[], over: Record<string, string | undefined>, code: number, says: RegExp][] =
    [
      [
        "a queue that is nobody's dead-letter queue",
        ['ls', '--queue', 'plain'],
        {},
        2,
        /plain is no dead-letter queue of ours: no queue has it .*; nothing was received$/,
      ],
      [
        'a work queue',
        ['plan', '--queue', 'work'],
        { DOGWATCH_QUEUE_URL: undefined },
        2,
        /work is no dead-letter queue of ours: it has a RedrivePolicy/,
      ],
      [
        'the live queue in the place of the letters',
        ['ls'],
        { DOGWATCH_DEAD_LETTER_QUEUE_URL: 'work' },
        2,
        /it is the live queue; nothing was received$/,
      ],
      [
        'a queue that is not there',
        ['ls'],
        { DOGWATCH_DEAD_LETTER_QUEUE_URL: 'absent' },
        2,
        /there is no queue \S+absent; look at its name, account and region \(code=QueueDoesNotExist\)|there is no queue \S+absent; look at its name, account and region$/,
      ],
      ['no queue', ['ls'], { DOGWATCH_DEAD_LETTER_QUEUE_URL: undefined }, 2, /DOGWATCH_DEAD_LETTER_QUEUE_URL is not set/],
      [
        'no credentials',
        ['status'],
        { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_EC2_METADATA_DISABLED: 'true' },
        2,
        /\(CredentialsProviderError\); look at the AWS credentials/,
      ],
      ['an endpoint that is away', ['ls'], { AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9' }, 1, /ECONNREFUSED/],
      [
        'a plan that cannot be written',
        ['plan', '--out', '/proc/plan.json'],
        {},
        2,
        /the plan cannot be written to \/proc\/plan\.json: .*; name another file with --out/,
      ],
    ];
  it('says of each fault what it is, in a line and without a stack, and hides no letter', async () => {
    const urlOf = (word: string): string =>
      ['plain', 'work', 'absent'].includes(word) ? queues.queueUrl('dead').replace(/dead$/, word) : word;
    const lines = faults.map(([, words, over]) => {
      const given = Object.entries({ HOME: dir, ...env, ...over }).filter((entry): entry is [string, string] => entry[1] !== undefined);
      return { words: ['replay', ...words.map(urlOf)], env: Object.fromEntries(given.map(([key, value]) => [key, urlOf(value)])) };
    });
    for (const [index, { code, output }] of (await endsOf(lines)).entries()) {
      const [name, , , wanted, says] = faults[index] as (typeof faults)[number];
      assert.equal(code, wanted, `${name}: ${output}`);
      assert.match(output.split('\n')[0] ?? '', says, name);
      assert.doesNotMatch(output, /\n {4}at /, name);
    }
    assert.equal(await hidden('dead'), 0);
    assert.deepEqual(
      readdirSync(dir).filter((file) => file.endsWith('.part')),
      [],
    );
  });

  it('gives letters back on SIGINT in the middle, and writes no plan', async () => {
    await fill(
      'many',
      Array.from({ length: 300 }, (_, at) => letterBody({ name: `t-${at}` })),
    );
    const { child, ended } = start(['replay', 'plan', '--out', 'stopped.json'], {
      DOGWATCH_DEAD_LETTER_QUEUE_URL: queues.queueUrl('many'),
    });
    while ((await hidden('many')) === 0) assert.ok(running.has(child), 'ended before it held a letter');
    child.kill('SIGINT');
    const { code, err } = await ended;
    assert.equal(code, 1, err);
    assert.match(err, /stopping: letters that are held are given back\n(.*\n)*stopped: /);
    assert.equal(await hidden('many'), 0);
    assert.ok(!existsSync(join(dir, 'stopped.json')));
  });
});
