/** HTTP to an API server, embedded or real: every answer is returned, never thrown; a watch is the lines that came and how it ended. */
import * as http from 'node:http';
import * as https from 'node:https';

export interface WireServer {
  readonly url: string;
  /** Empty: none is sent. */
  readonly token: string;
  /** PEM; undefined for plain HTTP. */
  readonly ca: string | undefined;
  /** Lists of earlier versions are not there any more, at once or soon. */
  readonly forgetHistory?: () => Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into by assertions only, which fail on what is not there
export type Body = any;

export interface WireAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Parsed JSON; undefined for an answer in plain text, or without a body. */
  readonly body: Body;
  readonly text: string;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

export interface WatchResult {
  readonly status: number;
  readonly events: readonly WatchEvent[];
  /** server: clean end of the body; client: we stopped reading; broken: the connection was reset. */
  readonly ended: 'server' | 'client' | 'broken';
  /** The answer of a watch that was refused. */
  readonly refusal: Body;
}

export interface SendOptions {
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface WatchOptions {
  readonly accept?: string;
  readonly withinMs?: number;
  /** Done as soon as the watch is let in, while events come. */
  readonly onOpen?: () => Promise<unknown>;
  /** Done whenever more events have come, and they are not enough. */
  readonly onEvents?: (events: readonly WatchEvent[]) => Promise<unknown>;
}

export class Wire {
  readonly #server: WireServer;
  readonly #agent: http.Agent;

  constructor(server: WireServer) {
    this.#server = server;
    // Let go before a server does so, which could be while a request is under way.
    const options = { keepAlive: true, maxSockets: 16, timeout: 45_000 };
    this.#agent = server.ca === undefined ? new http.Agent(options) : new https.Agent({ ...options, ca: server.ca });
  }

  close(): void {
    this.#agent.destroy();
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<WireAnswer> {
    const response = await this.#open(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      text,
    };
  }

  /** Reads a watch until `isEnough` of the events, its end, or for `withinMs`. */
  async watch(
    path: string,
    isEnough: (events: readonly WatchEvent[]) => boolean = () => false,
    { accept, withinMs = 30_000, onOpen, onEvents }: WatchOptions = {},
  ): Promise<WatchResult> {
    const response = await this.#open('GET', path, accept === undefined ? {} : { accept });
    const status = response.statusCode ?? 0;
    const events: WatchEvent[] = [];
    let rest = '';
    let ended: WatchResult['ended'] = 'server';
    const timer = setTimeout(() => {
      ended = 'client';
      response.destroy();
    }, withinMs);
    const work = [status === 200 ? onOpen?.() : undefined];
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        rest += chunk.toString();
        if (status !== 200) continue;
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        events.push(...lines.map((line) => JSON.parse(line) as WatchEvent));
        if (isEnough(events)) {
          ended = 'client';
          break;
        }
        work.push(onEvents?.([...events]));
      }
    } catch (error) {
      if (ended !== 'client') ended = 'broken';
      else if (!(error instanceof Error)) throw error;
    } finally {
      clearTimeout(timer);
      response.destroy();
    }
    await Promise.all(work);
    return { status, events, ended, refusal: status === 200 ? undefined : parsed(rest) };
  }

  #open(method: string, path: string, { body, type, accept, headers }: SendOptions): Promise<http.IncomingMessage> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const all: Record<string, string | undefined> = {
      authorization: this.#server.token === '' ? undefined : `Bearer ${this.#server.token}`,
      accept: accept ?? 'application/json',
      ...(text === undefined ? {} : { 'content-type': type ?? 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as http.OutgoingHttpHeaders;
    const { request } = this.#server.ca === undefined ? http : https;
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.#server.url), { method, agent: this.#agent, headers: sent }, resolve);
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
