/** The stage of a story over what this test says that the watcher and the queues tell. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ApiServer, startApiServer } from '../../../../../infra/local/api-server/api-server.ts';
import { createLedger, type Ledger } from '../../../../../infra/local/dev/demo/ledger.ts';
import { type OpenStage, openStage } from '../../../../../infra/local/dev/demo/stage.ts';
import { StepFailure } from '../../../../../infra/local/dev/demo/story-step.ts';
import type { DevPipeline } from '../../../../../infra/local/dev/session.ts';
import { writeKubeconfig } from '../kubeconfigs.ts';

type Lane = Awaited<ReturnType<DevPipeline['queues']['levels']>>['lanes'][number];

const EMPTY = { ready: 0, inFlight: 0, delayed: 0 } as const;
const depth = (count: number): string => `dogwatch_outbox_depth{cluster="east",kind="Tenant.platform.example"} ${count}\n`;

describe('the stage of a story', () => {
  let dir: string;
  let api: ApiServer;
  let watcher: Server;
  let ledger: Ledger;
  let ending: AbortController;
  let stage: OpenStage;
  /** What each look finds; the last one stays. */
  let metrics: (string | undefined)[];
  let lanes: Partial<Lane>[];
  let looks: number;
  /** A run of the function ends in this look. */
  let endsRunAt: number | undefined;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-stage-'));
    api = await startApiServer();
    [metrics, lanes, looks, endsRunAt] = [[depth(0)], [EMPTY], 0, undefined];
    watcher = createServer((_, response) => {
      const text = metrics.length > 1 ? metrics.shift() : metrics[0];
      if (text === undefined) response.destroy();
      else response.end(text);
    }).listen(0, '127.0.0.1');
    await new Promise((done) => watcher.once('listening', done));
    ledger = createLedger();
    ending = new AbortController();
    const kubeconfigPath = writeKubeconfig(dir, { any: { server: api } }, 'any');
    const cluster = (name: string) => ({ name, server: api, kubeconfigPath, context: 'any', isOwn: true });
    const levels = async () => {
      looks += 1;
      if (looks === endsRunAt) ledger.see({ kind: 'outcome', line: {} });
      const lane = { ...EMPTY, ...(lanes.length > 1 ? lanes.shift() : lanes[0]) };
      return { kind: 'lanes', lanes: [lane], deadLetters: 0 };
    };
    const pipeline = {
      ...{ clusters: [cluster('east'), cluster('west')], queues: { levels }, env: { DOGWATCH_DEAD_LETTER_QUEUE_URL: 'no URL' }, dir },
      watcherAddress: `http://127.0.0.1:${(watcher.address() as AddressInfo).port}`,
    } as unknown as DevPipeline;
    stage = openStage({ pipeline, ledger, signal: ending.signal, tell: () => undefined });
  });
  afterEach(async () => {
    stage.close();
    watcher.closeAllConnections();
    watcher.close();
    await api.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is quiet after six looks that find nothing, one after the other, from the first one on', async () => {
    await stage.quiet();
    assert.equal(looks, 1 + 6);
  });

  for (const [what, found] of [
    ['a message is ready', { lanes: [EMPTY, EMPTY, { ready: 1 }, EMPTY] }],
    ['a message is in a run', { lanes: [EMPTY, EMPTY, { inFlight: 1 }, EMPTY] }],
    ['a message is delayed', { lanes: [EMPTY, EMPTY, { delayed: 1 }, EMPTY] }],
    ['the watcher holds one', { metrics: [depth(0), depth(0), depth(1), depth(0)] }],
    ['the watcher does not answer', { metrics: [depth(0), depth(0), undefined, depth(0)] }],
    ['a run has ended', { endsRunAt: 3 }],
  ] as const)
    it(`counts anew where ${what} at the third look`, async () => {
      if ('lanes' in found) lanes = [...found.lanes];
      if ('metrics' in found) metrics = [...found.metrics];
      if ('endsRunAt' in found) endsRunAt = found.endsRunAt;
      await stage.quiet();
      assert.equal(looks, 3 + 6);
    });

  it('does not wait for what is kept back, and does for one more', async () => {
    stage.keepBack(2);
    lanes = [{ delayed: 3 }, { delayed: 2 }];
    await stage.quiet();
    assert.equal(looks, 1 + 6);
  });

  it('sums what the watcher has sent for the cluster, on all lanes and of all kinds, and nothing else', async () => {
    const series = (labels: string, value: number): string => `dogwatch_sends_total{${labels}} ${value}\n`;
    metrics = [
      [
        '# TYPE dogwatch_sends_total counter\n',
        series('cluster="east",kind="Tenant.platform.example",lane="live",result="sent"', 3),
        series('cluster="east",kind="Tenant.platform.example",lane="bulk",result="sent"', 2),
        series('cluster="east",kind="QueueClaim.platform.example",lane="live",result="sent"', 1),
        series('cluster="east",kind="Tenant.platform.example",lane="live",result="retry"', 10),
        series('cluster="west",kind="Tenant.platform.example",lane="live",result="sent"', 20),
        'dogwatch_sends_total_more{cluster="east",result="sent"} 40\n',
      ].join(''),
    ];
    assert.equal(await stage.sentByWatcher(stage.east), 6);
    assert.equal(await stage.sentByWatcher(stage.west), 20);
  });

  it('fails with the words and the last lines of a command that does not end with 0', async () => {
    await assert.rejects(
      stage.dogwatch('replay', 'status'),
      (error) =>
        error instanceof StepFailure && /^dogwatch replay status ends with code 2: .*DOGWATCH_DEAD_LETTER_QUEUE_URL/.test(error.message),
    );
  });

  it('has a cluster answer again after an outage, and leaves no file of it', async () => {
    await assert.rejects(
      stage.east.whileDown(async () => {
        await assert.rejects(fetch(`${api.url}/version`));
        throw new Error('the act fails');
      }),
      /the act fails/,
    );
    await stage.east.get({
      type: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' },
      at: { name: 'default' },
    });
    assert.deepEqual(readdirSync(dir), ['config']);
  });

  it('leaves a cluster down whose run ended meanwhile, for whoever ends the run stops it', async () => {
    const reason = new Error('Ctrl-C');
    await assert.rejects(
      stage.east.whileDown(async () => {
        ending.abort(reason);
        ending.signal.throwIfAborted();
      }),
      reason,
    );
    await assert.rejects(fetch(`${api.url}/version`), { name: 'TypeError' });
    await assert.rejects(stage.quiet(), reason);
    assert.deepEqual(readdirSync(dir), ['config']);
  });
});
