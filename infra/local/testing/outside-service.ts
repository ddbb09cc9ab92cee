/**
 * A service outside of the clusters, as a reconciler under test reaches it: a proxy that passes requests on, notes those that change something
 * as effects of the run that made them, and has the function die there where the bench says so.
 */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Bench } from './bench.ts';
import { BenchError } from './bench-error.ts';

/** A request, as far as it is named and judged. */
export interface OutsideRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: IncomingMessage['headers'];
}

export interface OutsideOptions {
  /** Begins the text of its effects: `sqs CreateQueue`. */
  readonly name: string;
  /** Where it is: `http://127.0.0.1:4566`, with a path where it has one. It has to be http. */
  readonly to: string;
  /** Which requests change something. Left out: all but GET, HEAD and OPTIONS, and of AWS all but those that get, list and describe. */
  readonly isEffect?: (request: OutsideRequest) => boolean;
}

export interface OutsideService {
  /** To be given to the reconciler in place of the service's own. It stays the same for all benches. */
  readonly url: string;
  /** From now on its requests are effects of this bench; of one at a time. */
  attach(bench: Pick<Bench, 'effect'>): void;
  /** Ends the proxy, not the service. */
  close(): Promise<void>;
}

/** As long as no client keeps a connection that it does not use. */
const KEPT_MS = 600_000;

/**
 * Starts the proxy, on a port of its own on loopback, which the reconciler under test takes for the service.
 *
 * @throws BenchError `bad-address` for an address that is not http
 */
export async function startOutsideService({ name, to, isEffect = changesSomething }: OutsideOptions): Promise<OutsideService> {
  const target = httpUrl(to);
  let bench: Pick<Bench, 'effect'> | undefined;
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen: OutsideRequest = { method: request.method ?? 'GET', path: request.url ?? '/', headers: request.headers };
    const pass = (): Promise<Passed> => passOn(target, seen, Buffer.concat(chunks));
    const passed = await (bench !== undefined && isEffect(seen) ? bench.effect(`${name} ${operationOf(seen)}`, pass) : pass());
    response.writeHead(passed.status, passed.headers);
    response.end(passed.body);
  }

  server.keepAliveTimeout = KEPT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attach(next) {
      bench = next;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:') return url;
  const how = 'give an http URL, such as that of a double on this machine';
  throw new BenchError('bad-address', `startOutsideService cannot stand in front of ${text}; ${how}`);
}

interface Passed {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

function passOn(target: URL, { method, path, headers }: OutsideRequest, body: Buffer): Promise<Passed> {
  return new Promise((resolve, reject) => {
    const { host: _, connection: __, 'transfer-encoding': ___, ...kept } = headers;
    const below = target.pathname.replace(/\/$/, '');
    // A connection of its own: one that was kept may be closed by the time it is needed, which would be a fault that nobody asked for.
    const options = { method, headers: { ...kept, 'content-length': body.length }, agent: false, path: `${below}${path}` } as const;
    const request = send({ ...urlToHttpOptions(target), ...options }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...answered } = answer.headers;
        resolve({ status: answer.statusCode ?? 502, headers: answered, body: Buffer.concat(chunks) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** `CreateQueue` of AWS, else `POST /path`. */
function operationOf({ method, path, headers }: OutsideRequest): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? (target.split('.').at(-1) ?? target) : `${method} ${path.split('?', 1)[0]}`;
}

function changesSomething(request: OutsideRequest): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return false;
  return !/^(Get|List|Describe|BatchGet)/.test(operationOf(request));
}
