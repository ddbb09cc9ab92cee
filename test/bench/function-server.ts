/**
 * An API server for one Tenant at a time, whose spec has changed whenever it is read: each run of the function has the same work
 * to do, with children that stay the same ones. Objects named `settled` have not changed. A process of its own, over TLS.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../infra/local/certificates.ts';
import { CREATED, tenantText, uidOf } from './tenant-texts.ts';

/** One request as it came. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FunctionServerReady {
  readonly url: string;
  /** PEM of what to trust. */
  readonly ca: string;
}

export const SETTLED_NAME = 'settled';
const MEMBERS = ['ada@team.example', 'bob@team.example'];
const NO_CHILDREN = JSON.stringify({
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadataList',
  metadata: { resourceVersion: '500000000' },
  items: [],
});

type Json = Record<string, unknown>;

class FunctionServer {
  readonly #template = JSON.parse(
    tenantText({ index: 7, resourceVersion: 500_000_000, generation: 1, observedGeneration: 1 }, 'full'),
  ) as Json & { readonly metadata: Json; readonly spec: Json };
  readonly #statuses = new Map<string, Json>();
  #version = 500_000_000;
  /** Since it was last asked for. */
  recorded: RecordedRequest[] = [];

  answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { method = '', url: path = '', headers } = request;
    this.recorded.push({ method, path, headers: headers as Record<string, string>, body });
    const { pathname } = new URL(path, 'https://server');
    const [name = '', part] = /\/tenants\/([^/]+)(\/status)?$/.exec(pathname)?.slice(1) ?? [];
    if (method === 'GET' && name !== '') end(response, 200, JSON.stringify(this.#tenant(name)));
    else if (method === 'GET') {
      const isList = request.url?.includes('labelSelector=') === true;
      end(response, isList ? 200 : 404, isList ? NO_CHILDREN : notFound());
    } else if (part !== undefined) end(response, 200, this.#applyStatus(name, JSON.parse(body) as Json));
    else end(response, method === 'POST' ? 201 : 200, this.#applied(JSON.parse(body) as Json));
  }

  #tenant(name: string): Json {
    const status = this.#statuses.get(name) ?? {};
    const observed = Number(status['observedGeneration'] ?? 0);
    const metadata = {
      ...this.#template.metadata,
      name,
      uid: uidOf(name, 7),
      resourceVersion: String(this.#version),
      generation: name === SETTLED_NAME ? Math.max(observed, 1) : observed + 1,
    };
    return { ...this.#template, metadata, spec: { ...this.#template.spec, members: MEMBERS }, status };
  }

  #applyStatus(name: string, { status }: Json): string {
    this.#statuses.set(name, status as Json);
    this.#version += 1;
    return this.#partial(this.#tenant(name)['metadata'] as Json);
  }

  #applied({ metadata }: Json): string {
    const ours = { manager: 'dogwatch', operation: 'Apply', apiVersion: 'v1', time: CREATED, fieldsType: 'FieldsV1' };
    const fieldsV1 = { 'f:metadata': { 'f:annotations': {}, 'f:labels': {}, 'f:ownerReferences': {} }, 'f:spec': { 'f:hard': {} } };
    const server = { uid: uidOf('child', 7), resourceVersion: String(this.#version), creationTimestamp: CREATED };
    return this.#partial({ ...(metadata as Json), ...server, managedFields: [{ ...ours, fieldsV1 }] });
  }

  #partial(metadata: Json): string {
    return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
  }
}

function notFound(): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'not found', reason: 'NotFound', code: 404 });
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

/** The process: listens, tells where, hands out what it recorded until the parent lets go. */
async function main(): Promise<void> {
  const scripted = new FunctionServer();
  const certificate = selfSigned(['localhost', '127.0.0.1']);
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    scripted.answer(request, response, Buffer.concat(chunks).toString());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send?.(scripted.recorded.splice(0)));
  process.send?.({
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: certificate.cert,
  } satisfies FunctionServerReady);
}

if (import.meta.main) await main();
