import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Context, SQSEvent } from 'aws-lambda';
import { clusterName } from '../../../events/resource.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { ConfigError, TransientError } from '../../../functions/core/errors.ts';
import { processBatch } from '../../../functions/reconcile/batch.ts';
import { startEnvironment } from '../../../functions/reconcile/environment.ts';
import { handler } from '../../../functions/reconcile/handler.ts';
import { reconcilers } from '../../../functions/reconcilers/index.ts';
import { FakeQueue } from '../../fakes/queue.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, recordOf } from './records.ts';

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: main
clusters: [{name: main, cluster: {server: 'http://127.0.0.1:9'}}]
contexts: [{name: main, context: {cluster: main, user: main}}]
users: [{name: main, user: {token: abc}}]
`;

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'dogwatch-environment-'));
  writeFileSync(join(folder, 'east.yaml'), KUBECONFIG);
  writeFileSync(join(folder, 'clusters.yml'), 'clusters:\n  - {name: east, kubeconfig: ./east.yaml}\n');
  writeFileSync(join(folder, 'faulty.yml'), 'clusters:\n  - {name: bad, eks: {cluster: a}}\n  - {name: east, kubeconfig: ./east.yaml}\n');
  writeFileSync(
    join(folder, 'twice.yml'),
    'clusters:\n  - {name: east, kubeconfig: ./east.yaml}\n  - {name: east, kubeconfig: ./east.yaml}\n',
  );
});
after(() => rmSync(folder, { recursive: true }));

function variables(registry = 'clusters.yml'): Record<string, string> {
  return {
    DOGWATCH_CLUSTERS: join(folder, registry),
    DOGWATCH_QUEUE_URL: QUEUE_URLS.live,
    DOGWATCH_BULK_QUEUE_URL: QUEUE_URLS.bulk,
    DOGWATCH_DEAD_LETTER_QUEUE_URL: DEAD_LETTER_QUEUE_URL,
  };
}

function collect(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields: object = {}): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
}

describe('startEnvironment', () => {
  it('connects every cluster of the registry and sends nothing', async () => {
    const { log, lines } = collect();
    const environment = await (await startEnvironment({ ...variables(), DOGWATCH_RECORD_DEADLINE_SECONDS: '7' }, [], log))();
    assert.deepEqual([...environment.clusters.keys()], ['east']);
    assert.ok([...environment.clusters.values()].every((client) => client.requestCount === 0));
    assert.equal(environment.recordDeadlineSeconds, 7);
    assert.equal(environment.queueUrls.deadLetter, DEAD_LETTER_QUEUE_URL);
    assert.equal(environment.functionVersion, 'local');
    assert.deepEqual(lines, []);
  });

  it('leaves a cluster alone for as long as the configuration says', async () => {
    const { log, lines } = collect();
    const { circuits, clusters } = await (await startEnvironment({ ...variables(), DOGWATCH_CIRCUIT_OPEN_SECONDS: '77' }, [], log))();
    const [east = clusterName('none')] = clusters.keys();
    for (let run = 0; run < 5; run += 1) {
      const visit = circuits.visit(east);
      assert.equal(visit.enter(), undefined);
      visit.begin().ended(new TransientError('timeout', 'down'));
      visit.leave();
    }
    assert.equal(circuits.visit(east).enter(), 77);
    assert.equal(lines.length, 1);
  });

  it('asks a cluster that refuses connections for those records only that began before five had failed', async () => {
    const { log, lines } = collect();
    const environment = await (await startEnvironment(variables(), reconcilers, log))();
    const queue = new FakeQueue();
    const Records = Array.from({ length: 40 }, (_, index) => recordOf({ kind: 'Tenant', plural: 'tenants', name: `t${index}` }));
    const answer = await processBatch({ Records }, { remainingMs: () => 30_000 }, { ...environment, queue: async () => queue });
    assert.deepEqual(answer.batchItemFailures, []);
    const asked = [...environment.clusters.values()].reduce((sum, { requestCount }) => sum + requestCount, 0);
    // Ten at once, and one more after each of the first four failures.
    assert.ok(asked >= 5 && asked <= 14, `${asked}`);
    assert.equal(lines.filter((line) => line.startsWith('circuit opened')).length, 1);
    assert.equal(queue.accepted.length, 40);
  });

  it('has the records of a cluster whose entry is faulty wait, and costs none of any other a receive', async () => {
    const { log, lines } = collect();
    const env = variables('faulty.yml');
    const environment = await (await startEnvironment(env, reconcilers, log))();
    assert.match(lines.join('\n'), /^cluster cannot be connected; the others go on .*"bad".*clusters\[0\] \(bad\): eks\.region is missing/);
    const queue = new FakeQueue();
    const Records = [recordOf({ cluster: 'bad', kind: 'Tenant', plural: 'tenants', name: 'acme', firstSeenAt: new Date().toISOString() })];
    const answer = await processBatch({ Records }, { remainingMs: () => 30_000 }, { ...environment, queue: async () => queue });
    assert.deepEqual(answer.batchItemFailures, []);
    assert.deepEqual(
      queue.accepted.map(({ queueUrl, message }) => [queueUrl, message.groupId, message.delaySeconds > 0]),
      [[QUEUE_URLS.live, 'bad', true]],
    );
    assert.match(lines.join('\n'), /"branch":"denied"/);
    assert.deepEqual([...environment.clusters.keys()], ['bad', 'east']);
  });

  it('refuses a list in which a kind has two reconcilers', async () => {
    const { log, lines } = collect();
    await assert.rejects(startEnvironment(variables(), [...reconcilers, ...reconcilers], log), ConfigError);
    assert.match(lines.join('\n'), /^configuration fault.*Tenant.*two reconcilers/);
  });

  const faults: { name: string; env: () => Record<string, string | undefined>; says: RegExp }[] = [
    { name: 'a variable is missing', env: () => ({ ...variables(), DOGWATCH_QUEUE_URL: undefined }), says: /DOGWATCH_QUEUE_URL/ },
    { name: 'the registry is absent', env: () => variables('nothing.yml'), says: /nothing\.yml/ },
    { name: 'the registry names a cluster twice', env: () => variables('twice.yml'), says: /twice\.yml.*east/ },
  ];
  for (const { name, env, says } of faults) {
    it(`throws a ConfigError and logs one line when ${name}`, async () => {
      const { log, lines } = collect();
      await assert.rejects(startEnvironment(env(), [], log), (error) => error instanceof ConfigError && says.test(error.message));
      assert.equal(lines.length, 1);
      assert.match(String(lines[0]), says);
    });
  }
});

describe('handler', () => {
  const context = { getRemainingTimeInMillis: () => 30_000 } as Context;
  const event: SQSEvent = { Records: [recordOf({ cluster: 'nowhere' })] };

  it('fails the invocation while the configuration is wrong, and works once it is right', async () => {
    const kept = { ...process.env };
    try {
      await assert.rejects(async () => handler(event, context), ConfigError);
      Object.assign(process.env, variables());
      assert.deepEqual(await handler({ Records: [] }, context), { batchItemFailures: [] });
    } finally {
      process.env = kept;
    }
  });
});
