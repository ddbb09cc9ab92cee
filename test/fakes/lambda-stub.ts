/** Lambda as far as `dogwatch doctor` asks it, on a port of its own: one function, which may be changed, and refusals by operation. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Operation = 'configuration' | 'recursion-config' | 'concurrency' | 'event-source-mappings';

/** What it answers, in AWS's own form. */
export interface StubbedFunction {
  configuration: Record<string, unknown>;
  recursionConfig: Record<string, unknown>;
  concurrency: Record<string, unknown>;
  mappings: Record<string, unknown>[];
}

export class LambdaStub {
  readonly functions = new Map<string, StubbedFunction>();
  /** By operation: the code of a refusal, or `hang`. */
  readonly refusals = new Map<Operation, string>();
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<LambdaStub> {
    const stub = new LambdaStub();
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  /** For AWS_ENDPOINT_URL_LAMBDA. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', this.url);
    const [, name = '', operation = 'event-source-mappings'] = /^\/[\d-]+\/functions\/([^/]+)\/([\w-]+)$/.exec(url.pathname) ?? [];
    const wanted = decodeURIComponent(name) || (url.searchParams.get('FunctionName') ?? '');
    this.asked.push(`${operation} ${wanted}`);
    const refusal = this.refusals.get(operation as Operation);
    if (refusal === 'hang') return;
    if (refusal !== undefined) {
      refuse(response, 403, refusal, 'User: arn:aws:iam::000000000000:user/ops is not authorized');
      return;
    }
    // An ARN ends in the name.
    const found = this.functions.get(wanted.split(':').at(-1) ?? '');
    if (found === undefined) {
      refuse(response, 404, 'ResourceNotFoundException', `Function not found: ${wanted}`);
      return;
    }
    const bodies: Record<Operation, unknown> = {
      configuration: found.configuration,
      'recursion-config': found.recursionConfig,
      concurrency: found.concurrency,
      'event-source-mappings': { EventSourceMappings: found.mappings },
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(bodies[operation as Operation]));
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': code });
  response.end(JSON.stringify({ Type: 'User', Message: message }));
}
