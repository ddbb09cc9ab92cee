/** Effects outside of the cluster, on real parts: queues of claims that come, change and go while the function is killed at random. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand, ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { until } from './api.ts';
import { connectQueues } from './depth.ts';
import { FUNCTION_TIMEOUT_SECONDS, type System, startSystem } from './system.ts';

const CLAIMS = '/apis/platform.example/v1/namespaces/default/queueclaims';
const COUNT = 300;
/** Claims that stay until all is quiet, so that their queues can be looked at. */
const KEPT = 30;
/** Within this time all claims are created, and a claim is changed or deleted this long after its creation or change at most. */
const SPREAD_MS = 15_000;
/** More than these. */
const KILLS = 20;

const between = (least: number, most: number): number => least + Math.random() * (most - least);

describe('queues of 300 claims under kill -9', () => {
  let system: System;
  let sqs: SQSClient;
  before(async () => {
    system = await startSystem({
      env: { DOGWATCH_FUNCTION_TIMEOUT_SECONDS: String(FUNCTION_TIMEOUT_SECONDS) },
      visibilitySeconds: 30,
      // A message whose function was killed five times is no case of this test.
      maxReceiveCount: 50,
    });
    sqs = connectQueues(system.lab);
  });
  after(async () => {
    sqs?.destroy();
    await system?.stop();
  });

  const queueNames = async (): Promise<string[]> => {
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: 'queueclaim-' }));
    return QueueUrls.map((url) => url.split('/').at(-1) ?? '');
  };
  /** Uid of each claim by its name. */
  const uids = new Map<string, string>();
  /** The last spec of each claim that is kept. */
  const specs = new Map<string, { retentionSeconds: number; visibilityTimeoutSeconds: number }>();

  const live = async (index: number): Promise<void> => {
    const name = `claim-${index}`;
    const randomSpec = () => ({
      retentionSeconds: Math.round(between(60, 1_209_600)),
      visibilityTimeoutSeconds: Math.round(between(1, 43_200)),
    });
    await sleep(between(0, SPREAD_MS));
    const body = { apiVersion: 'platform.example/v1', kind: 'QueueClaim', metadata: { name }, spec: randomSpec() };
    const created = await system.api.post(CLAIMS, body);
    assert.equal(created.status, 201, created.body.message);
    uids.set(name, created.body.metadata.uid);
    await sleep(between(0, SPREAD_MS));
    const spec = randomSpec();
    assert.equal((await system.api.merge(`${CLAIMS}/${name}`, { spec })).status, 200);
    if (index < KEPT) {
      specs.set(name, spec);
      return;
    }
    await sleep(between(0, SPREAD_MS));
    assert.equal((await system.api.delete(`${CLAIMS}/${name}`)).status, 200);
  };

  it('are one for each claim at most, and none when the claim is gone', async (t) => {
    const began = Date.now();
    const seconds = (): string => ((Date.now() - began) / 1000).toFixed(0);
    let isChanging = true;
    let isOver = false;
    t.after(() => {
      isChanging = false;
      isOver = true;
    });
    let kills = 0;
    const killer = async (): Promise<void> => {
      // A slow machine has fewer turns: it goes on until there are enough of them.
      while (!isOver && (isChanging || kills <= KILLS)) {
        await sleep(between(700, 2_000));
        const pids = functionProcesses(system.functionHost.pid);
        const pid = pids[Math.floor(Math.random() * pids.length)];
        if (pid === undefined) continue;
        process.kill(pid, 'SIGKILL');
        kills += 1;
      }
    };
    const seen = new Set<string>();
    let most = 0;
    const observer = async (): Promise<void> => {
      while (!isOver) {
        const names = await queueNames();
        assert.equal(new Set(names).size, names.length);
        for (const name of names) seen.add(name);
        most = Math.max(most, names.length);
        await sleep(250);
      }
    };
    const watching = Promise.all([killer(), observer()]);
    await Promise.all(Array.from({ length: COUNT }, (_, index) => live(index)));
    isChanging = false;
    t.diagnostic(`after ${seconds()} s all changes are made; the function was killed ${kills} times`);

    await until(
      'only the kept claims are left, and settled',
      async () => {
        const { items } = (await system.api.get(CLAIMS)).body;
        const isSettled = items.every(({ metadata, status }) => status?.observedGeneration === metadata.generation);
        return (items.length === KEPT && isSettled) || undefined;
      },
      240_000,
    );
    t.diagnostic(`after ${seconds()} s the deleted claims are gone, and the others settled`);
    await until('each kept claim has its queue, and nobody else', async () => (await queueNames()).length === KEPT || undefined, 120_000);
    for (const { metadata, status } of (await system.api.get(CLAIMS)).body.items) {
      const queueUrl = String(status?.['queueUrl']);
      assert.ok(queueUrl.endsWith(`/queueclaim-${metadata.uid}`), queueUrl);
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }));
      // ElasticMQ does not know the other attribute.
      assert.equal(Attributes?.['VisibilityTimeout'], String(specs.get(metadata.name)?.visibilityTimeoutSeconds));
    }

    for (const name of specs.keys()) await system.api.delete(`${CLAIMS}/${name}`);
    await until('no claim is left', async () => (await system.api.get(CLAIMS)).body.items.length === 0 || undefined, 120_000);
    await system.drained(120_000);
    isOver = true;
    await watching;
    t.diagnostic(`after ${seconds()} s everything is gone; ${seen.size} queues were seen, ${most} at once`);

    assert.deepEqual(await queueNames(), []);
    const ours = new Set([...uids.values()].map((uid) => `queueclaim-${uid}`));
    assert.deepEqual(
      [...seen].filter((name) => !ours.has(name)),
      [],
    );
    assert.equal((await system.depth('dead-letters')).total, 0);
    assert.ok(kills > KILLS && seen.size > 2 * KEPT, `${kills} kills, ${seen.size} queues: too few to show anything`);
  });
});

/** The running instances of the function: children of `dogwatch run`. */
function functionProcesses(host: number): number[] {
  const children = readdirSync(`/proc/${host}/task`).flatMap((task) => {
    try {
      return readFileSync(`/proc/${host}/task/${task}/children`, 'utf8').trim().split(' ');
    } catch {
      return []; // a thread that has ended meanwhile
    }
  });
  return children.map(Number).filter((pid) => {
    try {
      return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bootstrap.cjs');
    } catch {
      return false;
    }
  });
}
