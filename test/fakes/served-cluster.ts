/** A fake cluster behind HTTPS, as far as a watcher asks: what the CRD of a kind says, lists and watches as Tables. */
import { groupKind, type ResourceType } from '../../events/resource.ts';
import { collectionPath, objectPath } from '../../functions/adapters/kubernetes/paths.ts';
import type { ServedKind, WatchFrame } from '../../functions/adapters/kubernetes/port.ts';
import { TransientError } from '../../functions/core/errors.ts';
import { ApiStub, json, type Reply, type StubRequest, text } from './api-stub.ts';
import { FakeCluster } from './kubernetes-client.ts';

type Json = Readonly<Record<string, unknown>>;

const crds: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
};

/** What the clocks of all clusters show, for ever. */
export const CLUSTER_TIME = new Date('2026-03-01T00:00:00Z');

/** Close it in `after`. */
export class ServedCluster {
  readonly cluster: FakeCluster;
  readonly stub: ApiStub;
  /** What answers a request in place of the cluster; undefined: the cluster does. */
  fault: (request: StubRequest) => Reply | undefined = () => undefined;
  readonly #types: readonly ResourceType[];

  private constructor(name: string, types: readonly ResourceType[], stub: ApiStub) {
    this.cluster = new FakeCluster({ name, now: () => CLUSTER_TIME });
    this.#types = types;
    this.stub = stub;
    stub.otherwise = async (response, request) => await (this.fault(request) ?? (await this.#replyTo(request)))(response, request);
  }

  static async start(name: string, types: readonly ResourceType[], columns: ServedKind['printerColumns']): Promise<ServedCluster> {
    const served = new ServedCluster(name, types, await ApiStub.start({ tls: true }));
    for (const type of types) served.cluster.serve(type, columns);
    return served;
  }

  async close(): Promise<void> {
    for (const watch of this.cluster.openWatches()) watch.end();
    await this.stub.close();
  }

  async #replyTo({ path }: StubRequest): Promise<Reply> {
    const url = new URL(path, this.stub.url);
    const asked = (one: string): boolean => url.pathname === one;
    try {
      const described = this.#types.find((type) => asked(objectPath(crds, { name: `${type.plural}.${type.group}` })));
      if (described !== undefined) return describe(described, await this.cluster.client.servedKind(described));
      const listed = this.#types.find((type) => asked(collectionPath(type)));
      if (listed === undefined) return text(404, '404 page not found\n');
      return await (url.searchParams.has('watch') ? this.#watch(listed, url.searchParams) : this.#list(listed, url.searchParams));
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      if (error.code === 'not-served') return text(404, '404 page not found\n');
      return error.code === 'expired' ? status(410, 'Expired') : status(500, 'InternalError');
    }
  }

  async #list(type: ResourceType, query: URLSearchParams): Promise<Reply> {
    const name = query.get('fieldSelector')?.replace('metadata.name=', '');
    const { rows, columns, resourceVersion, ...page } = await this.cluster.client.list(type, {
      form: 'table',
      limit: Number(query.get('limit')),
      ...(name === undefined ? {} : { at: { name } }),
      continue: query.get('continue') ?? undefined,
    });
    const metadata = { resourceVersion, continue: page.continue };
    if (query.has('includeObject')) return json(200, { ...table(rows, columns), metadata });
    return json(200, { kind: 'PartialObjectMetadataList', metadata, items: rows.map((row) => ({ metadata: row.metadata })) });
  }

  async #watch(type: ResourceType, query: URLSearchParams): Promise<Reply> {
    const ended = new AbortController();
    const frames = await this.cluster.client.watch(type, {
      form: 'table',
      resourceVersion: query.get('resourceVersion') ?? '',
      timeoutSeconds: Number(query.get('timeoutSeconds')),
      graceSeconds: 0,
      signal: ended.signal,
    });
    return (response) => {
      response.once('close', () => ended.abort());
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      const send = async (): Promise<void> => {
        for await (const frame of frames) response.write(`${JSON.stringify(frameOf(frame))}\n`);
        response.end();
      };
      send().catch(() => response.destroy());
    };
  }
}

/** A Status as the answer. */
export function status(code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return json(code, { kind: 'Status', status: 'Failure', code, reason, message: reason }, headers);
}

function describe(type: ResourceType, served: ServedKind | undefined): Reply {
  if (served === undefined) return status(404, 'NotFound');
  const { printerColumns: additionalPrinterColumns } = served;
  const versions = [{ name: type.version, served: true, additionalPrinterColumns, subresources: { status: {} } }];
  return json(200, { kind: 'CustomResourceDefinition', metadata: { name: groupKind(type) }, spec: { versions } });
}

function table(rows: readonly { readonly cells: readonly unknown[]; readonly metadata: object }[], columnDefinitions: unknown): Json {
  return { kind: 'Table', columnDefinitions, rows: rows.map(({ cells, metadata }) => ({ cells, object: { metadata } })) };
}

function frameOf(frame: WatchFrame): Json {
  if (frame.type === 'ERROR') {
    return { type: frame.type, object: { kind: 'Status', code: frame.code, reason: frame.reason, message: frame.message } };
  }
  const row = frame.type === 'BOOKMARK' ? { cells: [], metadata: { resourceVersion: frame.resourceVersion } } : frame.row;
  return { type: frame.type, object: table([row], frame.columns) };
}
