/** `dogwatch replay apply`, `drop` and `export` as processes: used wrongly, stopped in the middle, and with nobody who reads what they say. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ReceiveMessageCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { connectCluster, readClusters } from '../../../../functions/adapters/clusters.ts';
import { openLetterQueue } from '../../../../functions/adapters/letter-queue.ts';
import type { LetterQueue } from '../../../../functions/adapters/letter-queue-port.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { createLocalClient, type LocalQueues, localAwsEnv } from '../../../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../../../infra/local/queue.ts';
import { letterBody } from '../../replay/letters.ts';
import { endsOf } from '../command-lines.ts';

const BIN = resolve(import.meta.dirname, '../../../../functions/cli/bin.js');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

// They wait more than they work.
describe('dogwatch replay, where something is done', { timeout: 120_000, concurrency: true }, () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dogwatch-acting-')));
  const running = new Set<ChildProcess>();
  const opened = new Map<string, LetterQueue>();
  let queues: LocalQueues;
  let server: ApiServer;
  let client: SQSClient;
  let env: Record<string, string>;
  before(async () => {
    const names = ['dead', 'other', 'stopped', 'closed', 'night'];
    const specs = names.flatMap((name) => [
      { name, visibilitySeconds: 60 },
      ...['work', 'bulk'].map((lane) => ({ name: `${name}-${lane}`, deadLetter: { name, maxReceiveCount: 5 } })),
    ]);
    [queues, server] = await Promise.all([startLocalQueues({ queues: specs }), startApiServer()]);
    client = createLocalClient(queues.endpoint);
    writeFileSync(join(dir, 'east.yaml'), server.kubeconfig('east'));
    writeFileSync(join(dir, 'clusters.yml'), 'clusters:\n  - { name: east, kubeconfig: ./east.yaml }\n');
    env = {
      ...localAwsEnv(queues.endpoint),
      DOGWATCH_CLUSTERS: join(dir, 'clusters.yml'),
    };
    Object.assign(process.env, localAwsEnv(queues.endpoint));
  });
  after(async () => {
    for (const child of running) child.kill('SIGKILL');
    client?.destroy();
    for (const queue of opened.values()) queue.close();
    await Promise.all([queues?.stop(), server?.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });

  function urlsOf(name: string): Record<string, string> {
    return {
      DOGWATCH_QUEUE_URL: queues.queueUrl(`${name}-work`),
      DOGWATCH_BULK_QUEUE_URL: queues.queueUrl(`${name}-bulk`),
      DOGWATCH_DEAD_LETTER_QUEUE_URL: queues.queueUrl(name),
    };
  }

  async function queueOf(name: string): Promise<LetterQueue> {
    const known = opened.get(name) ?? (await openLetterQueue(queues.queueUrl(name)));
    opened.set(name, known);
    return known;
  }

  async function fill(name: string, bodies: readonly string[]): Promise<string[]> {
    const ids: string[] = [];
    for (let first = 0; first < bodies.length; first += 10) {
      const Entries = bodies.slice(first, first + 10).map((MessageBody, at) => ({ Id: String(at), MessageBody }));
      const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queues.queueUrl(name), Entries }));
      ids.push(...Successful.map(({ MessageId = '' }) => MessageId));
    }
    return ids;
  }

  /** A plan that has a class for each letter, as `replay plan` writes it. */
  async function plan(file: string, name: string, items: readonly object[]): Promise<string> {
    const { url, arn } = await (await queueOf(name)).describe();
    const head = { plan: 'dogwatch-replay', version: 1, madeAt: '2026-03-01T12:00:00.000Z', queue: { url, arn } };
    writeFileSync(join(dir, file), JSON.stringify({ ...head, items }));
    return join(dir, file);
  }
  const gone = (messageId: string): object => ({ class: 'gone', reason: 'gone', letters: [{ messageId, code: 'invalid' }] });

  function start(words: readonly string[], name: string): { child: ChildProcess; ended: Promise<Ended> } {
    const given = { PATH: process.env['PATH'], HOME: dir, ...env, ...urlsOf(name) };
    const child = spawn(process.execPath, [BIN, 'replay', ...words], { cwd: dir, env: given, stdio: ['ignore', 'pipe', 'pipe'] });
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

  /** Letters of a queue; the endpoint counts those that are hidden among the others. */
  async function depthOf(name: string): Promise<{ all: number; hidden: number }> {
    const { visible: all, hidden } = (await (await queueOf(name)).describe()).depth;
    return { all, hidden };
  }

  it('says in a line what is wrong, before any letter is hidden', async () => {
    const [id = ''] = await fill('dead', [letterBody()]);
    const good = await plan('good.json', 'dead', [gone(id)]);
    const other = await plan('other.json', 'other', [gone(id)]);
    writeFileSync(join(dir, 'cut.json'), readFileSync(good, 'utf8').slice(0, -20));
    const faults: readonly [words: readonly string[], over: Record<string, string>, says: RegExp][] = [
      [['apply', join(dir, 'absent.json')], {}, /absent\.json cannot be used: it is not there$/],
      [['apply', join(dir, 'cut.json'), '--yes'], {}, /it is cut off/],
      [['apply', dir, '--yes'], {}, /it is a folder$/],
      [['apply', other, '--yes'], {}, /is of arn:\S+:other, and this is arn:\S+:dead; name its queue with --queue/],
      [['apply', good, '--canary', '0'], {}, /--canary "0" is not a whole number/],
      [['apply', good, '--rate', '0'], {}, /--rate "0" is not/],
      [['apply', good, '--stop-at', '120%'], {}, /--stop-at "120%" is not/],
      [['apply', good, '--canary-timeout', 'soon'], {}, /--canary-timeout "soon" is no time/],
      [['apply', good], {}, /nobody is here to say yes, so nothing was done; add --yes/],
      [
        ['apply', good, '--yes'],
        { DOGWATCH_BULK_QUEUE_URL: queues.queueUrl('other-work') },
        /its dead letters go to arn:\S+:other, and these are of/,
      ],
      [['apply', good, '--yes'], { DOGWATCH_BULK_QUEUE_URL: queues.queueUrl('dead') }, /it is the bulk queue; nothing was received/],
      [['apply', good, '--yes'], { DOGWATCH_BULK_QUEUE_URL: `${queues.endpoint}/000000000000/no` }, /there is no queue \S+\/no;/],
      [['apply', good, '--yes'], { DOGWATCH_CLUSTERS: '/none.yml' }, /\/none\.yml/],
      [['drop', good], {}, /nobody is here to say yes/],
      [['drop', good, '--class', 'all'], {}, /--class "all" is no class of a plan/],
      [['drop', other, '--yes'], {}, /is of arn:\S+:other, and this is/],
      [['export', dir], {}, /it has files in it; name another folder$/],
      [['export', join(dir, 'out'), '--since', 'then'], {}, /--since "then" is no time/],
    ];
    const files = readdirSync(dir).filter((name) => /^(good|other|cut)/.test(name));
    const ends = await endsOf(
      faults.map(([words, over]) => ({ words: ['replay', ...words], env: { HOME: dir, ...env, ...urlsOf('dead'), ...over } })),
    );
    for (const [at, { code, output }] of ends.entries()) {
      const [words, , says] = faults[at] as (typeof faults)[number];
      assert.equal(code, 2, `${words.join(' ')}: ${output}`);
      assert.match(output.trimEnd().split('\n').at(-1) ?? '', says, words.join(' '));
      assert.doesNotMatch(output, /\n {4}at /, words.join(' '));
    }
    assert.equal((await depthOf('dead')).hidden, 0);
    assert.deepEqual(
      readdirSync(dir).filter((name) => /^(good|other|cut|out)/.test(name)),
      files,
    );
  });

  it('loses nothing of a drop that is ended by SIGTERM, and goes on with it', async () => {
    const ids = await fill(
      'stopped',
      Array.from({ length: 60 }, (_, at) => `body ${at}`),
    );
    const file = await plan('stopped.json', 'stopped', ids.map(gone));
    // Somebody else has ten of them, so that it goes on looking.
    const held = new ReceiveMessageCommand({ QueueUrl: queues.queueUrl('stopped'), MaxNumberOfMessages: 10, VisibilityTimeout: 600 });
    const theirs = (await client.send(held)).Messages?.map(({ MessageId }) => MessageId) ?? [];
    assert.equal(theirs.length, 10);
    const { child, ended } = start(['drop', file, '--yes', '--json'], 'stopped');
    const path = join(dir, 'stopped.dropped.jsonl');
    const kept = (): string[] =>
      (existsSync(path) ? readFileSync(path, 'utf8') : '')
        .split('\n')
        .filter((line) => line.includes('"kind":"letter"'))
        .map((line) => (JSON.parse(line) as { messageId: string }).messageId);
    while (kept().length === 0) {
      assert.ok(running.has(child), 'ended before it dropped a letter');
      await wait(5);
    }
    child.kill('SIGTERM');
    const { code, out, err } = await ended;
    assert.equal(code, 1, err);
    assert.match(err, /\nstopping: /);
    assert.equal(out.trimEnd().split('\n').length, 1);
    const { end, letters } = JSON.parse(out) as { end: string; letters: { dropped: number } };
    assert.deepEqual([end, letters.dropped], ['signal', kept().length]);
    assert.deepEqual(await depthOf('stopped'), { all: 60 - letters.dropped, hidden: 10 });
    assert.ok(!existsSync(`${path}.lock`));
    const again = await start(['drop', file, '--yes'], 'stopped').ended;
    assert.deepEqual([again.code, /^ +10 {2}of the plan, and not seen/m.test(again.out)], [1, true], again.out);
    assert.deepEqual(kept().sort(), ids.filter((id) => !theirs.includes(id)).sort());
    assert.equal((await depthOf('stopped')).all, 10);
  });

  it('gives letters back where nobody reads its output any more', async () => {
    await fill(
      'closed',
      Array.from({ length: 30 }, (_, at) => `body ${at}`),
    );
    const { child, ended } = start(['ls'], 'closed');
    child.stdout?.destroy();
    child.stderr?.destroy();
    assert.equal((await ended).code, 1);
    assert.equal((await depthOf('closed')).hidden, 0);
  });

  it('ends an apply that waits for a verdict after SIGINT, and leaves its audit whole', async () => {
    const [done] = await endsOf([{ words: ['crds', '--apply', '--cluster', 'east'], env }]);
    assert.equal(done?.code, 0, done?.output);
    const { resource } = tenant;
    const object = { cluster: 'east', group: resource.group, version: resource.version, kind: 'Tenant', plural: 'tenants', name: 't' };
    const uid = await create('t');
    const [id = ''] = await fill('night', [letterBody({ uid, generation: 1 })]);
    const file = await plan('night.json', 'night', [
      { class: 'to-replay', reason: 'not-settled', object, letters: [{ messageId: id, code: 'invalid', uid, generation: 1 }] },
    ]);
    const { child, ended } = start(['apply', file, '--yes', '--json'], 'night');
    while ((await depthOf('night-bulk')).all === 0) {
      assert.ok(running.has(child), 'ended before it sent anything');
      await wait(50);
    }
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    assert.equal(code, 1, err);
    assert.equal(out.trimEnd().split('\n').length, 1, out);
    const { end, sends, audit, letters } = JSON.parse(out) as {
      end: string;
      sends: Record<string, number>;
      audit: string;
      letters: Record<string, number>;
    };
    assert.deepEqual([end, sends['unjudged'], audit, letters['sent']], ['signal', 1, join(dir, 'night.audit.jsonl'), 1]);
    assert.deepEqual(
      readFileSync(audit, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { kind: string }).kind),
      ['begin', 'intent', 'result', 'deleted', 'end'],
    );
    assert.equal((await depthOf('night')).all, 0);
  });

  /** A tenant that nobody reconciles. */
  async function create(name: string): Promise<string> {
    const [entry] = await readClusters(join(dir, 'clusters.yml'));
    assert.ok(entry);
    const cluster = connectCluster(entry, { timeouts: { connectMs: 5_000, totalMs: 10_000 }, userAgent: 'dogwatch-test' });
    try {
      const spec = { owner: 'ada@acme.example', members: [], quota: { cpu: '1', memory: '1Gi', pods: 1 } };
      const made = await cluster.apply(tenant.resource, { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name }, spec });
      return made.uid;
    } finally {
      cluster.close();
    }
  }
});
