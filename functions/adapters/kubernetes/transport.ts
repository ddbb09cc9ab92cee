/**
 * HTTP to one API server: connections kept, deadlines, one retry on a connection that died while idle, one retry with
 * fresh credentials after a 401. What an answer means is for `errors.ts`.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { TransientError } from '../../core/errors.ts';
import type { Credentials, Identity } from './credentials.ts';
import { exchange, readBody, refuseEncoded, StaleSocketError, unreachable } from './exchange.ts';

/** Limits of one call. */
export interface Timeouts {
  /** DNS, TCP and TLS of a fresh connection. */
  readonly connectMs: number;
  /** A whole call: waiting for a connection, retries and the body included. */
  readonly totalMs: number;
  /** A watch: until its headers have come. */
  readonly watchHeadersMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 5_000, totalMs: 15_000, watchHeadersMs: 15_000 };

/** Largest body read into memory, in bytes: a page of 500 objects is well below 1 MiB as metadata. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Connections to one server at a time, watches apart; above it calls queue. */
const MAX_SOCKETS = 64;

/** Idle connections are not used again after this: routers forget them silently (350 s on AWS), and Lambda freezes. */
const MAX_IDLE_MS = 60_000;

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path and query below the server's address. */
  readonly path: string;
  readonly accept: string;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** Leaves that out of the answer. */
  readonly cut?: 'managed-fields' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A complete answer of any status. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** The open body of a 200. `close` destroys the socket; it may be called any number of times. */
export interface OpenStream {
  readonly kind: 'stream';
  readonly chunks: AsyncIterable<Buffer>;
  close(): void;
}

export interface Transport {
  /** @throws TransientError `unreachable`, `timeout`, `unauthorized`, `bad-response`, `response-too-large`; the reason of an aborted signal */
  send(request: TransportRequest): Promise<Answer>;
  /** On a connection of its own: the stream of a 200, or the answer. Throws as {@link send} does. The signal goes on to end the stream. */
  open(request: TransportRequest): Promise<Answer | OpenStream>;
  /** Requests that went out, retries included. */
  readonly requestCount: number;
  close(): void;
}

export interface TransportOptions {
  readonly credentials: Credentials;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly userAgent?: string | undefined;
  readonly maxBodyBytes?: number | undefined;
  /** The wall clock, which goes on while Lambda freezes the process. */
  readonly nowMs?: (() => number) | undefined;
}

export function createTransport(options: TransportOptions): Transport {
  const { credentials, userAgent = 'dogwatch', maxBodyBytes = MAX_BODY_BYTES, nowMs = Date.now } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  let pool: { readonly key: string; readonly agent: http.Agent } | undefined;
  let lastUsedMs = nowMs();
  let requestCount = 0;

  function pooled(identity: Identity): http.Agent {
    if (pool?.key !== identity.connectionKey) {
      if (pool !== undefined) retire(pool.agent);
      pool = { key: identity.connectionKey, agent: agentFor(identity, MAX_SOCKETS) };
    }
    // Also where the clock was set back, and tells nothing.
    if (Math.abs(nowMs() - lastUsedMs) > MAX_IDLE_MS) dropIdle(pool.agent);
    lastUsedMs = nowMs();
    return pool.agent;
  }

  /** The headers of an answer, after at most one retry for each of the two curable reasons. */
  async function answered(
    request: TransportRequest,
    signal: AbortSignal,
    agentOf: (identity: Identity) => http.Agent,
  ): Promise<http.IncomingMessage> {
    let identity = await orAborted(credentials.current(), signal);
    let mayRenew = true;
    let mayResend = true;
    const renewed = async (date?: string): Promise<boolean> => {
      if (!mayRenew) return false;
      mayRenew = false;
      const serverMs = Date.parse(date ?? '');
      const newer = await orAborted(credentials.renew(identity, Number.isNaN(serverMs) ? undefined : serverMs), signal);
      if (newer !== undefined) identity = newer;
      return newer !== undefined;
    };
    for (;;) {
      const agent = agentOf(identity);
      requestCount += 1;
      try {
        const response = await exchange({
          method: request.method,
          server: identity.server,
          path: request.path,
          headers: headersOf(request, identity, userAgent),
          body: request.body,
          agent,
          connectMs: timeouts.connectMs,
          signal,
        });
        if (response.statusCode !== 401 || !(await renewed(response.headers.date))) return response;
        response.resume();
      } catch (error) {
        if (error instanceof StaleSocketError && mayResend) {
          mayResend = false;
          dropIdle(agent);
        } else if (error instanceof StaleSocketError) {
          throw unreachable(error.cause);
        } else if (!isCertificateError(error) || !(await renewed())) {
          throw error;
        }
      }
    }
  }

  return {
    get requestCount() {
      return requestCount;
    },
    async send(request) {
      const scope = openScope(timeouts.totalMs, request.signal);
      try {
        const response = await answered(request, scope.signal, pooled);
        return await answerOf(response, maxBodyBytes, scope.signal, request.cut);
      } finally {
        lastUsedMs = nowMs();
        scope.close();
      }
    },
    async open(request) {
      const scope = openScope(timeouts.watchHeadersMs, request.signal);
      let agent: http.Agent | undefined;
      try {
        const response = await answered(request, scope.signal, (identity) => {
          agent?.destroy();
          agent = agentFor(identity, 1);
          return agent;
        });
        if (response.statusCode !== 200) {
          const answer = await answerOf(response, maxBodyBytes, scope.signal);
          agent?.destroy();
          return answer;
        }
        refuseEncoded(response);
        const { signal } = request;
        const close = (): void => {
          signal?.removeEventListener('abort', close);
          response.destroy();
          agent?.destroy();
        };
        signal?.addEventListener('abort', close, { once: true });
        if (signal?.aborted) close();
        return { kind: 'stream', chunks: response, close };
      } catch (error) {
        agent?.destroy();
        throw error;
      } finally {
        scope.close();
      }
    },
    close() {
      pool?.agent.destroy();
      pool = undefined;
    },
  };
}

async function answerOf(
  response: http.IncomingMessage,
  maxBodyBytes: number,
  signal: AbortSignal,
  cut?: TransportRequest['cut'],
): Promise<Answer> {
  const text = await readBody(response, maxBodyBytes, signal, cut);
  return { kind: 'answer', status: response.statusCode ?? 0, headers: response.headers, text };
}

function agentFor({ server, tls }: Identity, maxSockets: number): http.Agent {
  const options = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets };
  return server.protocol === 'http:' ? new http.Agent(options) : new https.Agent({ ...options, ...tls });
}

/** Lets calls in flight finish; nothing is kept afterwards. */
function retire(agent: http.Agent): void {
  agent.maxFreeSockets = 0;
  dropIdle(agent);
}

function dropIdle(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of [...(sockets ?? [])]) socket.destroy();
  }
}

function headersOf(request: TransportRequest, identity: Identity, userAgent: string): http.OutgoingHttpHeaders {
  const { accept, body, contentType } = request;
  return {
    ...identity.headers,
    accept,
    'accept-encoding': 'identity',
    'user-agent': userAgent,
    ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
}

/** A certificate that one side does not accept: the CA or our client certificate may have been replaced. */
function isCertificateError(error: unknown): boolean {
  const errorCode = error instanceof TransientError ? String(error.facts['errorCode'] ?? '') : '';
  return /^(ERR_TLS_|ERR_SSL_)|CERT|UNABLE_TO_VERIFY/.test(errorCode);
}

/** A signal that aborts with the caller's reason, or with TransientError `timeout` after `limitMs`. */
function openScope(limitMs: number, caller: AbortSignal | undefined): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(caller?.reason);
  const timer = setTimeout(() => {
    controller.abort(new TransientError('timeout', 'the API server did not answer in time; it may be overloaded', { facts: { limitMs } }));
  }, limitMs);
  if (caller?.aborted) abort();
  else caller?.addEventListener('abort', abort, { once: true });
  const close = (): void => {
    clearTimeout(timer);
    caller?.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, close };
}

/** What `work` comes to, unless the signal aborts first. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
