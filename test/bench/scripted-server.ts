/**
 * An API server whose objects are made from their numbers: Tenants, all settled, and their children where they are asked for;
 * of the project's other kinds there are none. Lists by page, watches with bookmarks, as Table, metadata and whole objects, over
 * TLS. A process of its own, so that what it costs is not counted with what is measured: `scripted-process.ts` is the other side.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { apiVersionOf, type ResourceType } from '../../events/resource.ts';
import { collectionPath } from '../../functions/adapters/kubernetes/paths.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import { selfSigned } from '../../infra/local/certificates.ts';
import { childText } from './child-texts.ts';
import { FIRST_VERSION, type ObjectState, ScriptedCollection } from './scripted-collection.ts';
import { columnsText, type Form, TENANT_CRD, tenantText } from './tenant-texts.ts';

/** What the parent may ask for; each is answered with a {@link Report} of the same id. */
export type Command =
  /** Status writes to objects in turn, at that rate, one in fifty of them a change of a spec; ends after `seconds`. */
  | { readonly kind: 'churn'; readonly perSecond: number; readonly seconds: number }
  /** Every position is too old from now on: open watches get a 410 and end. */
  | { readonly kind: 'expire' }
  | { readonly kind: 'report' };

export interface Report {
  readonly id: number;
  /** Bytes of bodies sent so far. */
  readonly sentBytes: number;
}

/** The first message to the parent. */
export interface Ready {
  readonly url: string;
  /** PEM of what to trust. */
  readonly ca: string;
}

/** An API server sends one a minute; here also a short run sees some. */
const BOOKMARK_MS = 10_000;
const TICK_MS = 20;
const SPEC_CHANGE_EVERY = 50;
const SETTLES_AFTER_MS = 500;
const NAME_COLUMN = '[{"name":"Name","type":"string"}]';
/** A prime: objects are written to in no order. */
const STRIDE = 7919;

interface Served {
  readonly type: ResourceType;
  readonly collection: ScriptedCollection;
  readonly columns: string;
  readonly textOf: (state: ObjectState, form: Form) => string;
}

interface Watch {
  readonly served: Served;
  readonly response: ServerResponse;
  readonly form: Form;
  isFirst: boolean;
  /** The last version sent: what is newer is still to be sent. */
  position: number;
}

/** Of a kind without objects nothing is ever written. */
const noText = (): string => '{}';

class ScriptedServer {
  readonly #served: ReadonlyMap<string, Served>;
  readonly #collections: readonly ScriptedCollection[];
  readonly #watches = new Set<Watch>();
  #version = FIRST_VERSION;
  /** Older positions are answered with 410. */
  #oldest = 0;
  #sentBytes = 0;

  constructor(tenantCount: number, hasChildren: boolean) {
    const tenants: Served = {
      type: tenant.resource,
      collection: new ScriptedCollection(tenantCount),
      columns: columnsText(),
      textOf: tenantText,
    };
    const children = tenant.owns.map((type): Served => {
      const collection = new ScriptedCollection(hasChildren ? tenantCount : 0);
      return { type, collection, columns: NAME_COLUMN, textOf: (state, form) => childText(type, state, form) };
    });
    const others = reconcilers.map(({ resource }) => resource).filter((type) => type !== tenant.resource);
    const empty = others.map((type): Served => ({ type, collection: new ScriptedCollection(0), columns: NAME_COLUMN, textOf: noText }));
    const all = [tenants, ...children, ...empty];
    this.#served = new Map(all.map((served) => [collectionPath(served.type), served]));
    this.#collections = all.map(({ collection }) => collection).filter(({ size }) => size > 0);
    this.#version += tenantCount;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://server');
    const served = this.#served.get(pathname);
    const form = formOf(request.headers.accept ?? '');
    if (pathname.endsWith(`/customresourcedefinitions/${TENANT_CRD.metadata.name}`)) this.#end(response, 200, JSON.stringify(TENANT_CRD));
    else if (served === undefined) this.#end(response, 404, statusText(404, 'NotFound', 'not served'));
    else if (searchParams.has('watch')) this.#openWatch(served, response, form, searchParams);
    else this.#list(served, response, form, searchParams);
  }

  /** Each change is a write of some status, and some are one of a spec that settles half a second later. */
  async churn(perSecond: number, seconds: number): Promise<void> {
    const began = Date.now();
    for (let made = 0; Date.now() - began < seconds * 1000; await sleep(TICK_MS)) {
      const due = ((Date.now() - began) / 1000) * perSecond;
      for (; made < due; made += 1) this.#write(made);
      this.#wakeAll();
    }
    await sleep(SETTLES_AFTER_MS);
    this.#wakeAll();
  }

  expire(): void {
    this.#version += 1000;
    this.#oldest = this.#version;
    for (const { response } of this.#watches) {
      this.#send(response, `{"type":"ERROR","object":${statusText(410, 'Expired', 'too old resource version')}}\n`);
      response.end();
    }
  }

  #write(made: number): void {
    const [tenants] = this.#collections;
    const isSpecChange = made % SPEC_CHANGE_EVERY === 0;
    const collection = isSpecChange ? tenants : this.#collections[made % this.#collections.length];
    if (collection === undefined) return;
    const index = (made * STRIDE) % collection.size;
    const change = (what: 'spec' | 'settle' | 'other'): void => {
      this.#version += 1;
      collection.change(index, this.#version, what);
    };
    change(isSpecChange ? 'spec' : 'other');
    if (isSpecChange) setTimeout(() => change('settle'), SETTLES_AFTER_MS);
  }

  #list({ type, collection, columns, textOf }: Served, response: ServerResponse, form: Form, query: URLSearchParams): void {
    const [version = String(this.#version), first = '0'] = query.get('continue')?.split('.') ?? [];
    const begin = Number(first);
    const end = Math.min(collection.size, begin + Number(query.get('limit') ?? collection.size));
    const rows = Array.from({ length: end - begin }, (_, at) => textOf(collection.at(begin + at), form));
    const rest = end < collection.size ? `,"continue":"${version}.${end}","remainingItemCount":${collection.size - end}` : '';
    const metadata = `"metadata":{"resourceVersion":"${version}"${rest}}`;
    const heads: Readonly<Record<Form, string>> = {
      table: `{"kind":"Table","apiVersion":"meta.k8s.io/v1",${metadata},"columnDefinitions":${columns},"rows":[`,
      metadata: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",${metadata},"items":[`,
      full: `{"apiVersion":"${apiVersionOf(type)}","kind":"${type.kind}List",${metadata},"items":[`,
    };
    this.#end(response, 200, `${heads[form]}${rows.join(',')}]}\n`);
  }

  #openWatch(served: Served, response: ServerResponse, form: Form, query: URLSearchParams): void {
    const position = Number(query.get('resourceVersion') ?? this.#version);
    if (position !== 0 && position < this.#oldest) {
      this.#end(response, 410, statusText(410, 'Expired', 'too old resource version'));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    const watch: Watch = { served, response, form, isFirst: true, position };
    this.#watches.add(watch);
    const bookmark = setInterval(() => this.#bookmark(watch), BOOKMARK_MS);
    const end = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 300) * 1000);
    response.on('drain', () => this.#catchUp(watch));
    response.once('close', () => {
      clearInterval(bookmark);
      clearTimeout(end);
      this.#watches.delete(watch);
    });
    this.#catchUp(watch);
  }

  #wakeAll(): void {
    for (const watch of this.#watches) this.#catchUp(watch);
  }

  /** Sends what the watch has not seen, until the reader is too slow; `drain` goes on. */
  #catchUp(watch: Watch): void {
    const { served, response, form } = watch;
    if (response.writableNeedDrain) return;
    for (const { index, version } of served.collection.changesAfter(watch.position)) {
      if (response.writableEnded || response.destroyed) return;
      watch.position = version;
      const row = served.textOf(served.collection.at(index), form);
      if (!this.#send(response, `{"type":"MODIFIED","object":${form === 'table' ? this.#tableOf(watch, version, row) : row}}\n`)) return;
    }
  }

  #bookmark(watch: Watch): void {
    const { response, form } = watch;
    if (response.writableNeedDrain || response.writableEnded) return;
    const metadata = `"metadata":{"resourceVersion":"${this.#version}","creationTimestamp":null}`;
    const partial = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",${metadata}}`;
    const object = form === 'table' ? this.#tableOf(watch, this.#version, `{"cells":[],"object":${partial}}`) : partial;
    this.#send(response, `{"type":"BOOKMARK","object":${object}}\n`);
  }

  /** The first event of a stream has the columns; the others have none. */
  #tableOf(watch: Watch, version: number, row: string): string {
    const columns = watch.isFirst ? watch.served.columns : 'null';
    watch.isFirst = false;
    return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"${version}"},"columnDefinitions":${columns},"rows":[${row}]}`;
  }

  #end(response: ServerResponse, status: number, text: string): void {
    this.#sentBytes += Buffer.byteLength(text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  }

  #send(response: ServerResponse, text: string): boolean {
    this.#sentBytes += Buffer.byteLength(text);
    return response.write(text);
  }
}

function formOf(accept: string): Form {
  return accept.includes('as=Table') ? 'table' : accept.includes('as=PartialObjectMetadata') ? 'metadata' : 'full';
}

function statusText(code: number, reason: string, message: string): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The process: listens, tells where, obeys until the parent lets go. */
async function main(tenantCount: number, hasChildren: boolean): Promise<void> {
  const scripted = new ScriptedServer(tenantCount, hasChildren);
  const certificate = selfSigned(['localhost', '127.0.0.1']);
  const server = createServer(certificate, (request, response) => scripted.answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, ...command }: Command & { readonly id: number }) => void obey(id, command));
  process.send?.({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: certificate.cert } satisfies Ready);

  async function obey(id: number, command: Command): Promise<void> {
    if (command.kind === 'churn') await scripted.churn(command.perSecond, command.seconds);
    if (command.kind === 'expire') scripted.expire();
    process.send?.({ id, sentBytes: scripted.sentBytes } satisfies Report);
  }
}

if (import.meta.main) await main(Number(process.argv[2]), process.argv[3] === 'children');
