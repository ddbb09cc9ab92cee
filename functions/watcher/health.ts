/**
 * The watcher's HTTP side: /livez, /readyz, /metrics. Reading only, no state of its own; it is up before the first call to a
 * cluster and down after the last message was sent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError } from '../core/errors.ts';
import type { ListenAddress } from '../core/settings.ts';
import type { CellStatus } from './cell-status.ts';
import type { Metrics } from './metrics.ts';

export interface HealthOptions {
  readonly address: ListenAddress;
  readonly statuses: () => readonly CellStatus[];
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  readonly log: Log;
}

export interface HealthServer {
  /** Where it listens, with the port that was found where 0 was asked for. */
  readonly address: ListenAddress;
  /** Resolves when nothing listens any more; connections are cut. */
  close(): Promise<void>;
}

/** A request that does not come to its end within this time is given up. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Listens.
 *
 * @throws ConfigError `http-address`, naming the variable, where the address cannot be listened on
 */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      options.log.error('a health request could not be answered', { path: request.url, error });
      reply(response, 500, 'text/plain', 'internal error\n');
    });
  });
  await listen(server, options.address);
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : options.address.port;
  return {
    address: { host: options.address.host, port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer({ statuses, metrics }: HealthOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== '/livez' && path !== '/readyz' && path !== '/metrics') {
    reply(response, 404, 'text/plain', 'not found: /livez, /readyz and /metrics are served\n');
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    reply(response, 405, 'text/plain', 'only GET and HEAD\n');
    return;
  }
  if (path === '/livez') reply(response, 200, 'text/plain', 'ok\n');
  if (path === '/metrics') reply(response, 200, metrics.contentType, await metrics.text());
  if (path === '/readyz') {
    const cells = statuses();
    // One that streams is enough: a bad cluster must not keep a new release of the watcher from the others.
    const isReady = cells.some(({ phase }) => phase === 'streaming');
    reply(response, isReady ? 200 : 503, 'application/x-ndjson', cells.map(lineOf).join(''));
  }
}

function lineOf({ cluster, kind, role, phase, sinceMs, lastEventMs, objectCount, unsettledCount, error }: CellStatus): string {
  const lastEvent = lastEventMs === undefined ? null : new Date(lastEventMs).toISOString();
  const since = new Date(sinceMs).toISOString();
  return `${JSON.stringify({ cluster, kind, role, phase, since, lastEvent, objects: objectCount, unsettled: unsettledCount, error })}\n`;
}

/** Node leaves the body out of the answer to a HEAD by itself. */
function reply(response: ServerResponse, status: number, type: string, body: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' });
  response.end(body);
}

function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'unknown';
      const why = code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be listened on (${code})`;
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const message = `DOGWATCH_HTTP_ADDRESS ${where} ${why}; name another address`;
      reject(new ConfigError('http-address', message, { cause: error }));
    });
    // Without a host, Node listens on :: and, on a machine without IPv6, on 0.0.0.0.
    server.listen(host === '::' ? { port } : { host, port }, resolve);
  });
}
