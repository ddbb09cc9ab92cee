/** An API server that takes no credentials but tokens of EKS: it stands before one with a token of its own, and passes on what it lets in. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Certificate, selfSigned } from '../../infra/local/certificates.ts';
import { checkEksToken, type EksTokenCheck } from './eks-authenticator.ts';

/** The server behind it, without TLS. */
export interface GuardedServer {
  readonly url: string;
  readonly token: string;
}

/** Close it in `after`, before the server. */
export class EksGate {
  /** Why requests were refused, one each. */
  readonly refusals: string[] = [];
  /** Who was let in, by the access keys of their tokens. */
  readonly accessKeyIds = new Set<string>();
  /** Tokens that were let in. */
  readonly tokens = new Set<string>();
  readonly certificate: Certificate = selfSigned(['127.0.0.1']);
  readonly #behind: GuardedServer;
  readonly #check: () => EksTokenCheck;
  readonly #server: https.Server;

  private constructor(behind: GuardedServer, check: () => EksTokenCheck) {
    this.#behind = behind;
    this.#check = check;
    this.#server = https.createServer(this.certificate, (request, response) => this.#answer(request, response));
  }

  static async start(behind: GuardedServer, check: () => EksTokenCheck): Promise<EksGate> {
    const gate = new EksGate(behind, check);
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As EKS shows it. */
  get certificateAuthority(): string {
    return Buffer.from(this.certificate.cert).toString('base64');
  }

  /** Ends what is open, so that everything is asked for anew. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const check = this.#check();
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    const answer = checkEksToken(token, check);
    if ('refused' in answer) {
      this.refusals.push(answer.refused);
      request.resume();
      response.sendDate = false;
      response.writeHead(401, { 'content-type': 'application/json', date: new Date(check.nowMs).toUTCString() });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 }));
      return;
    }
    this.accessKeyIds.add(answer.accessKeyId);
    this.tokens.add(token);
    const headers = { ...request.headers, authorization: `Bearer ${this.#behind.token}` };
    const passed = http.request(new URL(request.url ?? '/', this.#behind.url), { method: request.method, headers }, (found) => {
      response.writeHead(found.statusCode ?? 502, found.headers);
      response.flushHeaders();
      found.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  }
}
