/** A scripted HTTP(S) server for transport tests: it answers what the test told it to, in order, and remembers what it was asked. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { type Certificate, selfSigned } from '../../infra/local/certificates.ts';

export interface StubRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** 1 for the first connection: tells whether a connection was kept. */
  readonly connection: number;
}

/** What is done with one request. Its whole body has been read before. */
export type Reply = (response: http.ServerResponse, request: StubRequest) => void | Promise<void>;

/** A complete JSON answer. */
export function json(status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function text(status: number, body: string, headers: http.OutgoingHttpHeaders = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
  };
}

/** Never answers; the connection stays. */
export const hang: Reply = () => {};

/** Resets the connection without a byte. */
export const reset: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

/** Sends the headers of a stream and these pieces; ends it unless `open`. */
export function stream(pieces: readonly (string | Buffer)[], options: { readonly open?: boolean } = {}): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
    if (options.open !== true) response.end();
  };
}

export interface StubOptions {
  /** Serve HTTPS; the certificate is for localhost and 127.0.0.1 unless names are given. */
  readonly tls?: boolean | readonly string[];
  /** Ask for a client certificate that this PEM vouches for; its common name is in `clientNames`. */
  readonly clientCa?: string;
}

/** Close it in `after`; open connections are cut. */
export class ApiStub {
  readonly requests: StubRequest[] = [];
  /** Common names of client certificates, one a connection. */
  readonly clientNames: string[] = [];
  /** Connections ever accepted. */
  connectionCount = 0;
  /** Answers past the end of the script; 599 at first, which no test expects. */
  otherwise: Reply = text(599, 'the script of the stub is at its end');
  readonly dir = mkdtempSync(join(tmpdir(), 'dogwatch-stub-'));
  certificate: Certificate | undefined;
  readonly #server: http.Server | https.Server;
  readonly #sockets = new Map<Socket, number>();
  readonly #replies: Reply[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #url = '';

  private constructor(options: StubOptions) {
    const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
      void this.#answer(request, response);
    };
    if (options.tls) {
      this.certificate = selfSigned(options.tls === true ? ['localhost', '127.0.0.1'] : options.tls);
      const client = options.clientCa === undefined ? {} : { ca: options.clientCa, requestCert: true, rejectUnauthorized: true };
      const server = https.createServer({ ...this.certificate, ...client }, listener);
      server.on('secureConnection', (socket) => {
        this.#accept(socket);
        if (options.clientCa !== undefined) this.clientNames.push(String(socket.getPeerCertificate().subject?.CN));
      });
      this.#server = server;
    } else {
      this.#server = http.createServer(listener);
      this.#server.on('connection', (socket) => this.#accept(socket));
    }
    this.#server.on('clientError', () => {});
  }

  static async start(options: StubOptions = {}): Promise<ApiStub> {
    const stub = new ApiStub(options);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    stub.#url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${(stub.#server.address() as AddressInfo).port}`;
    return stub;
  }

  get url(): string {
    return this.#url;
  }

  /** Adds answers to the script, one a request. */
  reply(...replies: readonly Reply[]): this {
    this.#replies.push(...replies);
    return this;
  }

  /** Resolves once so many requests have arrived in all. */
  arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Connections that are open now. */
  get openCount(): number {
    return this.#sockets.size;
  }

  /** Resolves once no connection is open. */
  async idle(): Promise<void> {
    await Promise.all([...this.#sockets.keys()].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))));
  }

  /** Uses another certificate for new connections. */
  replaceCertificate(certificate = selfSigned(['localhost', '127.0.0.1'])): void {
    this.certificate = certificate;
    (this.#server as https.Server).setSecureContext(certificate);
  }

  /** Cuts what is open and refuses new connections until {@link listenAgain}. */
  refuse(): void {
    this.#server.close();
    this.cut('end');
  }

  /** Takes connections again, at the same address. */
  async listenAgain(): Promise<void> {
    const { port, hostname } = new URL(this.#url);
    await new Promise<void>((resolve) => this.#server.listen(Number(port), hostname, resolve));
  }

  /** Cuts what is open, without an answer. A connection with TLS can only be ended. */
  cut(how: 'reset' | 'end' = 'reset'): void {
    for (const socket of this.#sockets.keys()) how === 'reset' ? socket.resetAndDestroy() : socket.destroy();
  }

  /** A kubeconfig for this server, written to `dir`; `user` and `cluster` add to or replace its fields. */
  kubeconfig(user: Record<string, unknown> = { token: 'sesame' }, cluster: Record<string, unknown> = {}, name = 'config.yaml'): string {
    const ca =
      this.certificate === undefined ? {} : { 'certificate-authority-data': Buffer.from(this.certificate.cert).toString('base64') };
    const path = join(this.dir, name);
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'stub',
      clusters: [{ name: 'stub', cluster: { server: this.url, ...ca, ...cluster } }],
      users: [{ name: 'tester', user }],
      contexts: [{ name: 'stub', context: { cluster: 'stub', user: 'tester' } }],
    };
    writeFileSync(path, dump(content));
    return path;
  }

  /** A file in `dir`; the path. */
  file(name: string, content: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, content, { mode: 0o700 });
    return path;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.dir, { recursive: true, force: true });
  }

  #accept(socket: Socket): void {
    this.connectionCount += 1;
    this.#sockets.set(socket, this.connectionCount);
    socket.on('error', () => {}); // Clients that leave are what is being tested.
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const seen: StubRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
      connection: this.#sockets.get(request.socket) ?? 0,
    };
    this.requests.push(seen);
    const reply = this.#replies.shift() ?? this.otherwise;
    await reply(response, seen);
    for (const { count, resolve } of this.#waiting) if (this.requests.length >= count) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => this.requests.length < count);
  }
}
