/** One HTTP request on one socket: sent, answered or failed. No retry and no policy; `transport.ts` has those. */
import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { TransientError } from '../../core/errors.ts';
import { ManagedFieldsCut } from './managed-fields.ts';

export interface ExchangeRequest {
  readonly method: string;
  readonly server: URL;
  /** Path and query, percent-encoded, below the path that the server's address may have. */
  readonly path: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: string | undefined;
  readonly agent: http.Agent;
  /** Limit of DNS, TCP and TLS together, for a fresh socket. */
  readonly connectMs: number;
  /** Ends the exchange with its reason, also while the body is read. */
  readonly signal: AbortSignal;
}

/** The socket had served before and failed before a byte of the answer came: the peer closed it while nobody looked. */
export class StaleSocketError extends Error {
  override readonly name = 'StaleSocketError';
}

/**
 * Resolves with the headers; the body is left to read. No 'error' event of request or response goes unheard, whenever it comes.
 *
 * @throws StaleSocketError, the signal's reason, or TransientError `timeout`, `unreachable`, `unauthorized` (credentials that are no valid header)
 */
export function exchange(request: ExchangeRequest): Promise<http.IncomingMessage> {
  const { method, server, path, headers, body, agent, connectMs, signal } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    let sent: http.ClientRequest;
    try {
      sent = (server.protocol === 'http:' ? http : https).request({ ...placeOf(server, path), method, headers, agent });
    } catch (error) {
      return reject(unreachable(error)); // A header or a certificate that node:http does not take.
    }
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => {
      sent.destroy(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    sent.once('socket', (socket) => {
      if (sent.reusedSocket) return;
      socket.setKeepAlive(true, 30_000);
      const limit = (): void => {
        sent.destroy(new TransientError('timeout', 'the API server did not accept a connection in time; check address and network'));
      };
      timer = setTimeout(limit, connectMs);
      socket.once(server.protocol === 'http:' ? 'connect' : 'secureConnect', () => clearTimeout(timer));
    });
    sent.once('response', (response) => {
      clearTimeout(timer);
      response.on('error', () => {}); // Whoever reads the body gets it; nobody has to be reading.
      response.once('close', () => signal.removeEventListener('abort', abort));
      resolve(response);
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (signal.aborted) return reject(signal.reason);
      const { code } = error as NodeJS.ErrnoException;
      const stale = sent.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
      reject(stale ? new StaleSocketError('a kept connection was closed by the peer', { cause: error }) : unreachable(error));
    });
    sent.end(body);
  });
}

/** Taken apart once an address: it costs as much as the rest of a request's preparation. */
const PLACES = new WeakMap<URL, http.RequestOptions>();

/** Some proxies serve a cluster below a path of their own. */
function placeOf(server: URL, path: string): http.RequestOptions {
  let place = PLACES.get(server);
  if (place === undefined) {
    const { protocol, hostname, port } = urlToHttpOptions(server);
    place = { protocol, hostname, port, path: server.pathname.replace(/\/+$/, '') };
    PLACES.set(server, place);
  }
  return { ...place, path: `${place.path}${path}` };
}

/** @throws TransientError `bad-response` for a body that is compressed; it is destroyed then */
export function refuseEncoded(response: http.IncomingMessage): void {
  const encoding = response.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  response.destroy();
  throw new TransientError('bad-response', 'the answer is compressed although we did not ask for it; look for a proxy on the way', {
    facts: { encoding },
  });
}

/**
 * The whole body as text.
 *
 * @param cut leave managedFields out; they do not count for `maxBytes` then
 * @throws TransientError `unreachable` if it breaks off, `response-too-large` over `maxBytes`, `bad-response` if it is encoded
 */
export async function readBody(
  response: http.IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  cut?: 'managed-fields',
): Promise<string> {
  refuseEncoded(response);
  const filter = cut === undefined ? undefined : new ManagedFieldsCut();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (received: Buffer): void => {
    const chunk = filter === undefined ? received : filter.push(received);
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new TransientError('response-too-large', 'the answer is larger than we read into memory; ask for smaller pages', {
        facts: { maxBytes },
      });
    }
    chunks.push(chunk);
  };
  try {
    await readChunks(response, take);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof TransientError ? error : unreachable(error);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

/** Hands every chunk on. By events: an iterator would cost a small answer as much as its parsing. */
function readChunks(response: http.IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const brokenOff = (): void => reject(response.errored ?? new Error('the answer ended early'));
    // It may have broken off before anybody listened.
    if (response.destroyed) return brokenOff();
    response.once('end', resolve).once('error', reject).once('close', brokenOff);
    response.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        response.destroy();
        reject(error);
      }
    });
  });
}

/** Any failure of name resolution, connection, TLS or transfer. `errorCode` is Node's or OpenSSL's. */
export function unreachable(cause: unknown): TransientError {
  if (cause instanceof TransientError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  const invalid = invalidHeader(cause);
  if (invalid !== undefined) return invalid;
  return new TransientError('unreachable', 'the API server cannot be reached (DNS, connection, TLS or reset); check address and network', {
    cause,
    facts: { errorCode: code ?? 'unknown' },
  });
}

function invalidHeader(error: unknown): TransientError | undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_CHAR') return undefined;
  return new TransientError('unauthorized', 'the credentials hold characters that HTTP does not carry; look at the token', {
    cause: error,
  });
}
