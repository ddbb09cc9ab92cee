/** What a watcher's own health server tells about a kind. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clusterName } from '../../../../events/resource.ts';
import { PORTS } from '../../../../functions/cli/explain/ports.ts';
import { askWatcher, metricsUrl } from '../../../../functions/cli/explain/watcher.ts';
import type { Asked } from '../../../../functions/core/doctor/finding.ts';
import type { CellView, WatcherView } from '../../../../functions/core/explain/facts.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import type { CellStatus } from '../../../../functions/watcher/cell-status.ts';
import { type HealthServer, startHealthServer } from '../../../../functions/watcher/health.ts';
import { CountedMarks, createMetrics } from '../../../../functions/watcher/metrics.ts';
import { TENANT } from '../../core/explain/facts.ts';
import { FakeLog } from '../../watcher/scene.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 12);

function status(over: Partial<CellStatus> = {}): CellStatus {
  return {
    ...{ cluster: clusterName('east'), kind: 'Tenant.platform.example', role: 'primary', phase: 'streaming', sinceMs: NOW_MS },
    ...{
      lastEventMs: NOW_MS - 40_000,
      objectCount: 12,
      unsettledCount: 2,
      oldestUnsettledSeconds: 1300,
      relistCount: 0,
      reconnectCount: 0,
    },
    ...over,
  };
}

describe('asking a watcher', () => {
  const marks = new CountedMarks({ onDirty: () => undefined, onAdd: () => undefined });
  const source = { cluster: clusterName('east'), type: tenant.resource, marks, hasListed: () => true, resyncsPerSecond: () => 0 };
  let cells: CellStatus[] = [];
  let server: HealthServer;
  let url: URL;
  before(async () => {
    const statuses = (): readonly CellStatus[] => cells;
    const metrics = createMetrics({ statuses, sources: () => [source], nowMs: () => NOW_MS });
    for (const result of ['sent', 'refused', 'refused'] as const) metrics.countSend(source, 'live', result);
    const mark = {
      uid: 'u',
      name: 'acme',
      resourceVersion: '1',
      reason: 'created',
      mustRun: false,
      lane: 'live',
      firstSeenAtMs: 0,
    } as const;
    marks.mark(mark);
    server = await startHealthServer({ address: { host: '127.0.0.1', port: 0 }, statuses, metrics, log: new FakeLog() });
    url = metricsUrl(`http://127.0.0.1:${server.address.port}`) as URL;
  });
  after(() => server.close());
  const ask = (): Promise<Asked<WatcherView>> => askWatcher(url, TENANT, PORTS);
  async function view(): Promise<WatcherView> {
    const asked = await ask();
    assert.ok(asked.kind === 'told', JSON.stringify(asked));
    return asked.value;
  }

  it('tells how it sees the kind there, and not as children of others', async () => {
    cells = [
      status({ role: 'child', phase: 'failing', objectCount: 1 }),
      status(),
      status({ cluster: clusterName('west'), objectCount: 9 }),
    ];
    const expected: CellView = {
      ...{ isStreaming: true, phase: 'streaming', error: undefined, lastEventAgeSeconds: 40, knownCount: 12, unsettledCount: 2 },
      ...{ oldestUnsettledSeconds: 1300, outboxCount: 1, refusedCount: 2 },
    };
    assert.deepEqual(await view(), { hasCluster: true, cell: expected });
  });

  it('tells what is wrong while none of its streams is open', async () => {
    cells = [status({ phase: 'failing', lastEventMs: undefined, error: { code: 'forbidden', message: 'may not "list"' } })];
    const { cell } = await view();
    const { isStreaming, phase, error, lastEventAgeSeconds } = cell as CellView;
    assert.deepEqual(
      { isStreaming, phase, error, lastEventAgeSeconds },
      { isStreaming: false, phase: 'failing', error: { code: 'forbidden', message: 'may not "list"' }, lastEventAgeSeconds: undefined },
    );
  });

  it('tells a kind from a cluster that it does not follow', async () => {
    cells = [status({ kind: 'Other.platform.example' })];
    assert.deepEqual(await view(), { hasCluster: true, cell: undefined });
    cells = [status({ cluster: clusterName('west') })];
    assert.deepEqual(await view(), { hasCluster: false, cell: undefined });
    cells = [];
    assert.deepEqual(await view(), { hasCluster: false, cell: undefined });
  });

  it('is an answer as well where it is not one: nobody named it, it is down, or it is another page', async () => {
    const says = async (one: URL | undefined): Promise<string> => {
      const asked = await askWatcher(one, TENANT, PORTS);
      return asked.kind === 'untold' ? asked.says : 'told';
    };
    assert.match(await says(undefined), /--metrics/);
    assert.match(await says(new URL('/nothing', url)), /answers 404/);
    assert.match(await says(new URL('/livez', url)), /are not the metrics of a watcher/);
    assert.match(await says(new URL('http://127.0.0.1:1/metrics')), /does not answer/);
  });

  it('takes the metrics alone where /readyz is not answered', async () => {
    cells = [status()];
    const asked = await askWatcher(url, TENANT, {
      fetchPage: (one) => (one.pathname === '/readyz' ? Promise.reject(new Error('no')) : PORTS.fetchPage(one)),
    });
    assert.ok(asked.kind === 'told' && asked.value.cell?.isStreaming === true && asked.value.cell.phase === undefined);
  });
});
