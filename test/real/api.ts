/** The test's own way to the API server, apart from the product's client: one keep-alive agent, JSON in and out. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

/** As much of an object, a list or a Status as the tests read; what is absent in an answer is undefined. */
export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly ApiCondition[];
    readonly [field: string]: unknown;
  };
  readonly items: readonly ApiObject[];
  readonly message?: string;
}

export interface ApiCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: ApiObject;
}

export interface Api {
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body: unknown): Promise<ApiAnswer>;
  put(path: string, body: unknown): Promise<ApiAnswer>;
  merge(path: string, body: unknown): Promise<ApiAnswer>;
  /** Server-side apply under the given field manager, without force. */
  apply(path: string, manager: string, body: unknown): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
  close(): void;
}

/** An API client with the given bearer token; answers of every status are returned, never thrown. */
export function connectApi(server: { readonly url: string; readonly caFile: string; readonly token: string }): Api {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: readFileSync(server.caFile) });
  const call = (method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<ApiAnswer> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers: Record<string, string> = { authorization: `Bearer ${server.token}`, accept: 'application/json' };
      if (text !== undefined) headers['content-type'] = contentType;
      const sent = request(new URL(path, server.url), { method, agent, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const content = Buffer.concat(parts).toString();
          const isJson = String(answer.headers['content-type']).includes('json');
          resolve({ status: answer.statusCode ?? 0, body: (isJson ? JSON.parse(content) : { message: content }) as ApiObject });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    merge: (path, body) => call('PATCH', path, body, 'application/merge-patch+json'),
    apply: (path, manager, body) => call('PATCH', `${path}?fieldManager=${manager}`, body, 'application/apply-patch+yaml'),
    delete: (path) => call('DELETE', path),
    close: () => agent.destroy(),
  };
}

/**
 * Resolves to the first value that is not undefined, asking again every `everyMs`.
 *
 * @throws Error naming `what` after `withinMs`, with the last value that `probe` saw fit to mention
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  withinMs = 60_000,
  everyMs = 100,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, everyMs);
    });
  }
}
