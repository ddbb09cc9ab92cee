import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { type HealthServer, startHealthServer } from '../../../functions/watcher/health.ts';
import { FakeLog } from './scene.ts';

const LOOPBACK = '127.0.0.1';
const AT = Date.UTC(2026, 2, 1);

function status(overrides: Partial<CellStatus> = {}): CellStatus {
  return {
    cluster: clusterName('east'),
    kind: 'Tenant.platform.example',
    role: 'primary',
    phase: 'streaming',
    sinceMs: AT,
    lastEventMs: AT + 5_000,
    objectCount: 3,
    unsettledCount: 1,
    oldestUnsettledSeconds: 7,
    relistCount: 0,
    reconnectCount: 0,
    ...overrides,
  };
}

const failing = status({
  cluster: clusterName('west'),
  phase: 'failing',
  lastEventMs: undefined,
  error: { code: 'unreachable', message: 'no' },
});

describe('the health server', () => {
  const log = new FakeLog();
  let cells: CellStatus[] = [];
  let metricsText = async (): Promise<string> => 'a_metric 1\n';
  let server: HealthServer;
  let url: string;

  before(async () => {
    const metrics = { contentType: 'text/plain; version=0.0.4', text: () => metricsText() };
    server = await startHealthServer({ address: { host: LOOPBACK, port: 0 }, statuses: () => cells, metrics, log });
    url = `http://${LOOPBACK}:${server.address.port}`;
  });
  after(() => server.close());

  it('says that it lives whatever its cells do', async () => {
    cells = [failing];
    const answer = await fetch(`${url}/livez`);
    assert.deepEqual([answer.status, await answer.text()], [200, 'ok\n']);
  });

  it('is ready while one of its cells streams, with a line of JSON for each', async () => {
    cells = [status(), failing];
    const answer = await fetch(`${url}/readyz`);
    const lines = (await answer.text()).trimEnd().split('\n');
    assert.equal(answer.status, 200);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [
        {
          cluster: 'east',
          kind: 'Tenant.platform.example',
          role: 'primary',
          phase: 'streaming',
          since: '2026-03-01T00:00:00.000Z',
          lastEvent: '2026-03-01T00:00:05.000Z',
          objects: 3,
          unsettled: 1,
        },
        {
          cluster: 'west',
          kind: 'Tenant.platform.example',
          role: 'primary',
          phase: 'failing',
          since: '2026-03-01T00:00:00.000Z',
          lastEvent: null,
          objects: 3,
          unsettled: 1,
          error: { code: 'unreachable', message: 'no' },
        },
      ],
    );
  });

  for (const [name, some] of [
    ['none of them streams', [failing, status({ phase: 'listing' }), status({ phase: 'recovering' })]],
    ['there is none', []],
  ] as const) {
    it(`is not ready while ${name}`, async () => {
      cells = [...some];
      assert.equal((await fetch(`${url}/readyz`)).status, 503);
    });
  }

  it('serves metrics in their own content type', async () => {
    const answer = await fetch(`${url}/metrics?name=x`);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), await answer.text()],
      [200, 'text/plain; version=0.0.4', 'a_metric 1\n'],
    );
  });

  it('answers 500 and logs when a metric cannot be read, and lives on', async () => {
    const text = metricsText;
    metricsText = () => Promise.reject(new RangeError('no metric'));
    assert.equal((await fetch(`${url}/metrics`)).status, 500);
    metricsText = text;
    assert.equal(log.count('a health request could not be answered'), 1);
    assert.equal((await fetch(`${url}/metrics`)).status, 200);
  });

  it('answers HEAD without a body', async () => {
    const answer = await fetch(`${url}/livez`, { method: 'HEAD' });
    assert.deepEqual([answer.status, answer.headers.get('content-length'), await answer.text()], [200, '3', '']);
  });

  for (const method of ['POST', 'PUT', 'DELETE']) {
    it(`refuses ${method}`, async () => {
      const answer = await fetch(`${url}/livez`, { method });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD']);
    });
  }

  for (const path of ['/', '/healthz', '/livez/', '/metrics/../secret', '/%6civez']) {
    it(`does not know ${path}`, async () => {
      assert.equal((await fetch(`${url}${path}`)).status, 404);
    });
  }
});

describe('an address that cannot be listened on', () => {
  it('is a ConfigError that names the variable and the address when it is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, LOOPBACK, resolve));
    const { port } = taken.address() as { port: number };
    await assert.rejects(
      startHealthServer({
        address: { host: LOOPBACK, port },
        statuses: () => [],
        metrics: { contentType: '', text: async () => '' },
        log: new FakeLog(),
      }),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.message, `DOGWATCH_HTTP_ADDRESS ${LOOPBACK}:${port} is in use by another process; name another address`);
        return true;
      },
    );
    await new Promise((resolve) => taken.close(resolve));
  });

  it('is a ConfigError when this machine does not have it', async () => {
    const address = { host: '192.0.2.1', port: 0 };
    const metrics = { contentType: '', text: async () => '' };
    await assert.rejects(
      startHealthServer({ address, statuses: () => [], metrics, log: new FakeLog() }),
      /DOGWATCH_HTTP_ADDRESS 192\.0\.2\.1:0/,
    );
  });
});

describe('a health server that is closed', () => {
  it('cuts a client that keeps its connection', async () => {
    const metrics = { contentType: '', text: async () => '' };
    const server = await startHealthServer({ address: { host: LOOPBACK, port: 0 }, statuses: () => [], metrics, log: new FakeLog() });
    const url = `http://${LOOPBACK}:${server.address.port}/livez`;
    await (await fetch(url)).text();
    await server.close();
    await assert.rejects(fetch(url));
  });
});
