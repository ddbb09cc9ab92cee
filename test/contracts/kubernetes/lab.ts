/** What a case works with: the server, a namespace, and kinds like those that the semantics were learned on. */
import assert from 'node:assert/strict';
import { definitions, GROUP } from './definitions.ts';
import { type Body, type SendOptions, type WatchEvent, type WatchResult, Wire, type WireAnswer, type WireServer } from './wire.ts';

/** Accepts all groups, versions and resources in one answer. */
export const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export const NAMESPACE = 'wire';
export const AS_METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
export const AS_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
export const AS_TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';

const CORE = new Set(['configmaps', 'secrets', 'serviceaccounts', 'resourcequotas', 'namespaces', 'events']);
const GROUPS: Readonly<Record<string, string>> = {
  leases: 'coordination.k8s.io/v1',
  rolebindings: 'rbac.authorization.k8s.io/v1',
  customresourcedefinitions: 'apiextensions.k8s.io/v1',
};
const KINDS: Readonly<Record<string, string>> = {
  widgets: 'Widget',
  plains: 'Plain',
  atomics: 'Atomic',
  quiets: 'Quiet',
  briefs: 'Brief',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  serviceaccounts: 'ServiceAccount',
  resourcequotas: 'ResourceQuota',
  leases: 'Lease',
  rolebindings: 'RoleBinding',
  namespaces: 'Namespace',
};

/** A real controller learns of new kinds every thirty seconds, and waits for up to thirty more where one of them has gone meanwhile. */
export const CONTROLLER_MS = 150_000;

const apiVersionFor = (plural: string): string => (CORE.has(plural) ? 'v1' : (GROUPS[plural] ?? `${GROUP}/v1`));

export class Lab {
  readonly wire: Wire;
  readonly #server: WireServer;
  #names = 0;
  #collectorReady: Promise<void> | undefined;

  constructor(server: WireServer) {
    this.#server = server;
    this.wire = new Wire(server);
  }

  /** With another token, or none. */
  as(token: string): Wire {
    return new Wire({ ...this.#server, token });
  }

  /** Installs the kinds and the namespace, and waits until their watches are served. */
  async install(): Promise<void> {
    for (const body of definitions()) {
      const answer = await this.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
      assert.equal(answer.status, 201, answer.text);
    }
    const plurals = definitions().map(({ spec }) => spec.names.plural);
    for (const plural of plurals) await this.served(plural);
    // A real server serves a kind before it lists it, and lists the kinds of a group one after the other.
    for (const [path, accept, names] of [
      ['/apis', 'application/json', [GROUP]],
      [`/apis/${GROUP}`, 'application/json', [GROUP]],
      [`/apis/${GROUP}/v1`, 'application/json', plurals],
      ['/apis', AGGREGATED, plurals],
    ] as const) {
      await eventually(`${names.join(', ')} in ${path}`, async () => {
        const { text } = await this.send('GET', path, { accept });
        return names.every((name) => text.includes(`"${name}"`));
      });
    }
    await eventually('the namespace', async () => {
      const { status } = await this.send('POST', '/api/v1/namespaces', {
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
      });
      return status === 201 || status === 409;
    });
  }

  /** Resolves when a watch of the kind is let in. */
  async served(plural: string): Promise<void> {
    await eventually(`${plural} served`, async () => {
      const { status } = await this.wire.watch(`${this.path(plural)}?watch=true&timeoutSeconds=1`, () => true, { withinMs: 10 });
      return status === 200;
    });
  }

  /** Resolves when what the server reads from memory, as watches and lists at version 0 do, has reached the object's version. */
  async cached(plural: string, { metadata }: Body): Promise<void> {
    const path = `${this.path(plural, metadata.name)}?resourceVersion=${metadata.resourceVersion}`;
    await eventually(`${plural} ${metadata.name} in memory`, async () => (await this.send('GET', path)).status === 200);
  }

  /** Resolves when an object is gone that a controller removes. */
  async gone(plural: string, name: string): Promise<void> {
    await eventually(`${plural} ${name} gone`, async () => (await this.send('GET', this.path(plural, name))).status === 404, CONTROLLER_MS);
  }

  /**
   * Resolves when the garbage collector watches widgets and ConfigMaps: until a real one does, it finds the owners that it does not
   * know missing, and tries again later and later.
   */
  collectorIsReady(): Promise<void> {
    this.#collectorReady ??= (async () => {
      for (const plural of ['widgets', 'configmaps']) {
        const { name } = (await this.create(plural)).metadata;
        await this.send('DELETE', `${this.path(plural, name)}?propagationPolicy=Orphan`);
        await this.gone(plural, name);
      }
    })();
    return this.#collectorReady;
  }

  name(prefix = 'w'): string {
    this.#names += 1;
    return `${prefix}-${this.#names}`;
  }

  path(plural: string, name = '', subresource = '', namespace = NAMESPACE): string {
    const apiVersion = apiVersionFor(plural);
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const isCluster = plural === 'namespaces' || plural === 'customresourcedefinitions';
    const collection = isCluster || namespace === '' ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
    return [collection, name, subresource].filter((part) => part !== '').join('/');
  }

  object(plural: string, name: string, fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): Body {
    return { apiVersion: apiVersionFor(plural), kind: KINDS[plural], metadata: { name, ...metadata }, ...fields };
  }

  send(method: string, path: string, options: SendOptions = {}): Promise<WireAnswer> {
    return this.wire.send(method, path, options);
  }

  /** A new object, which has to work. */
  async create(plural: string, fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): Promise<Body> {
    const name = String(metadata['name'] ?? this.name());
    const answer = await this.send('POST', this.path(plural), { body: this.object(plural, name, fields, metadata) });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  async read(plural: string, name: string): Promise<Body> {
    const answer = await this.send('GET', this.path(plural, name));
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  merge(plural: string, name: string, body: unknown, subresource = ''): Promise<WireAnswer> {
    return this.send('PATCH', this.path(plural, name, subresource), { body, type: 'application/merge-patch+json' });
  }

  json(plural: string, name: string, body: unknown, subresource = ''): Promise<WireAnswer> {
    return this.send('PATCH', this.path(plural, name, subresource), { body, type: 'application/json-patch+json' });
  }

  apply(
    plural: string,
    body: Body,
    { manager = 'us', force = false, subresource = '', accept = 'application/json', more = '', name = String(body.metadata.name) } = {},
  ): Promise<WireAnswer> {
    const query = `?fieldManager=${encodeURIComponent(manager)}${force ? '&force=true' : ''}${more}`;
    return this.send('PATCH', this.path(plural, name, subresource) + query, { body, type: 'application/apply-patch+yaml', accept });
  }

  applyStatus(
    plural: string,
    name: string,
    status: unknown,
    options: Parameters<Lab['apply']>[2] & { metadata?: object } = {},
  ): Promise<WireAnswer> {
    const body = this.object(plural, name, status === undefined ? {} : { status }, { ...options.metadata });
    return this.apply(plural, body, { ...options, subresource: 'status' });
  }

  /** The position of a kind: the resourceVersion of a list of it. */
  async position(plural: string): Promise<string> {
    return (await this.send('GET', `${this.path(plural)}?limit=1`)).body.metadata.resourceVersion;
  }

  /** What a watch from `resourceVersion` says of objects, until `count` events besides bookmarks have come. */
  async events(
    plural: string,
    resourceVersion: string,
    count: number,
    query = '',
    accept = 'application/json',
  ): Promise<readonly WatchEvent[]> {
    const path = `${this.path(plural)}?watch=true&resourceVersion=${resourceVersion}${query}`;
    const isEnough = (events: readonly WatchEvent[]) => events.filter(({ type }) => type !== 'BOOKMARK').length >= count;
    const { events, status } = await this.wire.watch(path, isEnough, { accept });
    assert.equal(status, 200);
    return events.filter(({ type }) => type !== 'BOOKMARK');
  }

  /** A watch that ends by its own time: everything that it said. */
  whole(plural: string, query: string, accept = 'application/json'): Promise<WatchResult> {
    return this.wire.watch(`${this.path(plural)}?watch=true${query}`, undefined, { accept });
  }

  async forgetHistory(): Promise<void> {
    assert.ok(this.#server.forgetHistory !== undefined, 'this server cannot forget');
    await this.#server.forgetHistory();
  }

  /** Drops its connections; the next request makes new ones. */
  close(): void {
    this.wire.close();
  }
}

/** What an answer that refuses has to say. What is left out is not looked at, but for the reason: left out, there is none. */
export interface Refusal {
  readonly status: number;
  readonly reason?: string;
  readonly message?: RegExp;
  /** `reason field` of each, in any order: the real server walks maps, which have none. */
  readonly causes?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

export function assertRefused({ status, body, text }: WireAnswer, expected: Refusal): void {
  assert.equal(status, expected.status, text);
  assert.deepEqual([body.kind, body.apiVersion, body.status, body.code], ['Status', 'v1', 'Failure', expected.status]);
  assert.equal(body.reason, expected.reason, text);
  if (expected.message !== undefined) assert.match(body.message, expected.message);
  if (expected.causes !== undefined) {
    const causes = (body.details?.causes ?? []) as readonly { reason: string; field: string }[];
    assert.deepEqual(causes.map(({ reason, field }) => `${reason} ${field}`).sort(), expected.causes.toSorted(), text);
  }
  if (expected.details !== undefined) {
    const { causes: _, ...details } = body.details;
    assert.deepEqual(details, expected.details);
  }
}

export function assertDone(answer: WireAnswer, status = 200): Body {
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}

/** Resolves when `probe` is true. @throws Error naming `what` after `withinMs` */
export async function eventually(what: string, probe: () => Promise<boolean>, withinMs = 30_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await probe())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} seconds: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
