/**
 * The server half of the Lambda Runtime API, version 2018-06-01, for one execution environment on loopback: the runtime in the
 * child asks for the next invocation and posts an answer or an error.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Bytes of an answer that Lambda takes: 6 MiB and 100, as its own refusal says. */
export const ANSWER_MAX_BYTES = 6_291_556;

/** One event on its way to the function. */
export interface Delivery {
  readonly requestId: string;
  readonly body: string;
  /** When the function has to be done, in milliseconds since 1970. */
  readonly deadlineMs: number;
  readonly functionArn: string;
  /** X-Ray trace header. */
  readonly traceId?: string | undefined;
}

/** What the runtime says; each is called at most once for a request. */
export interface RuntimeListener {
  /** It waits for an invocation. `deliver` may be called once, now or later. */
  ready(deliver: (delivery: Delivery) => void): void;
  /** What came back for an invocation; `undefined` stands for an answer over {@link ANSWER_MAX_BYTES}. False: nobody waits for it. */
  answered(requestId: string, text: string | undefined): boolean;
  /** The handler threw. False: nobody waits for it. */
  failed(requestId: string, text: string): boolean;
  /** The module could not be loaded, or has no such handler. */
  initFailed(text: string): void;
}

export interface RuntimeApi {
  /** `host:port`, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Cuts all connections. */
  close(): void;
}

/** A server on a free port of 127.0.0.1. */
export async function startRuntimeApi(listener: RuntimeListener): Promise<RuntimeApi> {
  const server = createServer((request, response) => serve(request, response, listener));
  server.requestTimeout = 0;
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const PREFIX = '/2018-06-01/runtime/';

function serve(request: IncomingMessage, response: ServerResponse, listener: RuntimeListener): void {
  const path = request.url?.startsWith(PREFIX) ? request.url.slice(PREFIX.length) : '';
  if (request.method === 'GET' && path === 'invocation/next') {
    request.resume();
    listener.ready((delivery) => deliver(response, delivery));
    return;
  }
  void readText(request).then((text) => {
    const { status, errorType } = request.method === 'POST' ? accept(path, text, listener) : NOT_FOUND;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(errorType === undefined ? { status: 'OK' } : { errorType, errorMessage: errorType }));
  });
}

interface Reply {
  readonly status: number;
  readonly errorType?: string;
}

const ACCEPTED: Reply = { status: 202 };
const NOT_FOUND: Reply = { status: 404, errorType: 'NotFound' };
const NOT_AWAITED: Reply = { status: 400, errorType: 'InvalidRequestID' };
const TOO_LARGE: Reply = { status: 413, errorType: 'RequestEntityTooLarge' };

function accept(path: string, text: string | undefined, listener: RuntimeListener): Reply {
  if (path === 'init/error') {
    listener.initFailed(text ?? '');
    return ACCEPTED;
  }
  const [, requestId, what] = /^invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
  if (requestId === undefined) return NOT_FOUND;
  const isAwaited = what === 'response' ? listener.answered(requestId, text) : listener.failed(requestId, text ?? '');
  if (!isAwaited) return NOT_AWAITED;
  return text === undefined ? TOO_LARGE : ACCEPTED;
}

function deliver(response: ServerResponse, delivery: Delivery): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'lambda-runtime-aws-request-id': delivery.requestId,
    'lambda-runtime-deadline-ms': String(delivery.deadlineMs),
    'lambda-runtime-invoked-function-arn': delivery.functionArn,
    ...(delivery.traceId === undefined ? {} : { 'lambda-runtime-trace-id': delivery.traceId }),
  });
  response.end(delivery.body);
}

/** The body, or undefined when it is larger than an answer may be. Never settles when the child dies while sending. */
function readText(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= ANSWER_MAX_BYTES) chunks.push(chunk);
    });
    request.on('end', () => resolve(bytes > ANSWER_MAX_BYTES ? undefined : Buffer.concat(chunks).toString('utf8')));
  });
}
