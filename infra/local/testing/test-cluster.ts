/** An embedded cluster as a test uses it: it applies, reads and deletes as a user would, over the wire. */

import { OWNER_LABEL } from '../../../events/labels.ts';
import type { ObjectAddress } from '../../../events/resource.ts';
import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, collectionPath, JSON_TYPE, MERGE_PATCH, objectPath } from '../../../functions/adapters/kubernetes/paths.ts';
import type { Transport, TransportRequest } from '../../../functions/adapters/kubernetes/transport.ts';
import { oneLine } from '../../../functions/core/errors.ts';
import type { ApiServer } from '../api-server/api-server.ts';
import { manifestProblem, parseManifest } from '../dev/manifest.ts';
import type { Activity } from './activity.ts';
import { BenchError } from './bench-error.ts';
import { findKind, readServedKinds, type ServedKind, unknownKind } from './served-kinds.ts';
import type { StoredObject } from './stored-object.ts';

/** Who the cluster says has written what a test applies. */
export const TEST_MANAGER = 'bench';

/** An object as one writes it; without a namespace it goes to `default`. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface TestClusterOptions {
  readonly name: string;
  readonly server: ApiServer;
  readonly transport: Transport;
  readonly activity: Activity;
  /** Throws where the bench is closed. */
  readonly checkOpen: () => void;
}

/** One cluster of a bench. What it is asked for is sent at once; what the watcher and the function make of it comes with `settle`. */
export class TestCluster {
  readonly name: string;
  /** The embedded API server: faults on demand, `down`, `up`, `restart` with an older `snapshot`. */
  readonly server: ApiServer;
  readonly #transport: Transport;
  readonly #activity: Activity;
  readonly #checkOpen: () => void;
  #kinds: readonly ServedKind[] = [];

  /** Made by a bench. @internal */
  constructor({ name, server, transport, activity, checkOpen }: TestClusterOptions) {
    this.name = name;
    this.server = server;
    this.#transport = transport;
    this.#activity = activity;
    this.#checkOpen = checkOpen;
  }

  /**
   * Faults on demand: history that expired, watches that drop or stall, 429, 500, resets, a cache that lags behind. Those of requests
   * hit the watcher and the function only, never the test.
   */
  get faults(): ApiServer['faults'] {
    const { faults } = this.server;
    return {
      ...faults,
      add: (fault) => faults.add({ ...fault, where: (request) => request.userAgent !== TEST_MANAGER && (fault.where?.(request) ?? true) }),
    };
  }

  /**
   * Applies an object, or all that stand in a text of YAML, as `kubectl apply --server-side` does.
   *
   * @returns as stored: the object, or a list of all
   * @throws BenchError `refused`, with the field's path, where the cluster says no; `bad-manifest`, `unknown-kind`
   */
  async apply(manifest: string): Promise<StoredObject[]>;
  async apply(manifest: ManifestObject): Promise<StoredObject>;
  async apply(manifest: string | ManifestObject): Promise<StoredObject | StoredObject[]> {
    if (typeof manifest !== 'string') {
      const problem = manifestProblem(manifest);
      if (problem !== undefined) throw new BenchError('bad-manifest', `manifest: ${problem}`);
      return this.#applyOne(manifest);
    }
    const { entries, problems } = parseManifest(manifest, 'manifest');
    if (problems.length > 0) throw new BenchError('bad-manifest', problems.join('\n'));
    const applied: StoredObject[] = [];
    for (const { object } of entries) applied.push(await this.#applyOne(object as ManifestObject));
    return applied;
  }

  /**
   * The object, or undefined where there is none.
   *
   * @throws BenchError `unknown-kind`, with what may be meant, here and in all that takes a kind
   * @param kind  `Greeting`, `greetings`, or with the group where several have the name: `Greeting.platform.example`
   * @param name  `hello`, which is in the namespace default, or `team/hello`
   */
  async get(kind: string, name: string): Promise<StoredObject | undefined> {
    const type = await this.#kind(kind);
    const { status, text } = await this.#send({ method: 'GET', path: objectPath(type, addressOf(type, name)), accept: JSON_TYPE });
    if (status === 404) return undefined;
    return this.#read({ status, text }, `${kind} ${name}`);
  }

  /** All objects of a kind, in all namespaces. @param labelSelector  as kubectl takes it: `team=red,stage!=prod` */
  async list(kind: string, labelSelector?: string): Promise<StoredObject[]> {
    const type = await this.#kind(kind);
    const path = collectionPath(type, undefined, { labelSelector });
    const list = this.#read(await this.#send({ method: 'GET', path, accept: JSON_TYPE }), kind);
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    return (list as unknown as { items: StoredObject[] }).items.map((item) => ({ ...item, apiVersion, kind: type.kind }));
  }

  /** Changes fields by a merge patch, as somebody else: drift, an annotation, a label; null takes a field away. @throws BenchError `refused` */
  async patch(kind: string, name: string, patch: Readonly<Record<string, unknown>>): Promise<StoredObject> {
    return this.#patch(kind, name, patch, undefined);
  }

  /** The same of its status, as the controller of another kind would write it. @throws BenchError `refused` */
  async patchStatus(kind: string, name: string, status: Readonly<Record<string, unknown>>): Promise<StoredObject> {
    return this.#patch(kind, name, { status }, 'status');
  }

  /** Asks for its deletion; false where there is none. It goes once its finalizers are off. */
  async delete(kind: string, name: string): Promise<boolean> {
    const type = await this.#kind(kind);
    const answer = await this.#send({ method: 'DELETE', path: objectPath(type, addressOf(type, name)), accept: JSON_TYPE });
    if (answer.status === 404) return false;
    this.#read(answer, `${kind} ${name}`);
    return true;
  }

  /** All objects that are kept for this owner, by kind and name. */
  async children({ metadata }: StoredObject): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    const seen = new Set<string>();
    for (const { kind, group } of await this.#served()) {
      if (seen.has(`${kind}.${group}`)) continue;
      seen.add(`${kind}.${group}`);
      found.push(...(await this.list(group === '' ? kind : `${kind}.${group}`, `${OWNER_LABEL}=${metadata.uid}`)));
    }
    const nameOf = (child: StoredObject): string => `${child.kind} ${child.metadata.namespace ?? ''}/${child.metadata.name}`;
    return found.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** Kinds of the list that it does not serve. @internal */
  async missingKinds(names: readonly string[]): Promise<string[]> {
    const kinds = await this.#served();
    return names.filter((name) => findKind(kinds, name) === undefined);
  }

  async #applyOne(object: ManifestObject): Promise<StoredObject> {
    const group = object.apiVersion.includes('/') ? `.${object.apiVersion.split('/')[0]}` : '';
    const type = await this.#kind(`${object.kind}${group}`);
    const { name, namespace } = object.metadata;
    const at = addressOf(type, namespace === undefined ? name : `${namespace}/${name}`);
    const query = { fieldManager: TEST_MANAGER, force: true, fieldValidation: 'Strict' };
    const body = JSON.stringify({ ...object, metadata: { ...object.metadata, ...at } });
    const path = objectPath(type, at, query);
    const answer = await this.#send({ method: 'PATCH', path, accept: JSON_TYPE, contentType: APPLY_PATCH, body });
    return this.#read(answer, `${object.kind} ${name}`);
  }

  async #patch(kind: string, name: string, patch: object, subresource: 'status' | undefined): Promise<StoredObject> {
    const type = await this.#kind(kind);
    const path = objectPath(type, addressOf(type, name), { fieldManager: TEST_MANAGER, fieldValidation: 'Strict' }, subresource);
    const request = { method: 'PATCH', path, accept: JSON_TYPE, contentType: MERGE_PATCH, body: JSON.stringify(patch) } as const;
    return this.#read(await this.#send(request), `${kind} ${name}`);
  }

  #send(request: TransportRequest): Promise<{ readonly status: number; readonly text: string }> {
    return this.#activity.track(`${request.method} of the test`, () => this.#transport.send(request));
  }

  #read({ status, text }: { readonly status: number; readonly text: string }, what: string): StoredObject {
    if (status < 300) return JSON.parse(text) as StoredObject;
    const why = parseStatus(text)?.message ?? `it answers ${status}`;
    throw new BenchError('refused', `cluster ${this.name} refuses ${what}: ${oneLine(why)}`);
  }

  async #served(): Promise<readonly ServedKind[]> {
    this.#kinds = await this.#activity.track('discovery', () => readServedKinds(this.#transport));
    return this.#kinds;
  }

  async #kind(name: string): Promise<ServedKind> {
    this.#checkOpen();
    const found = findKind(this.#kinds, name) ?? findKind(await this.#served(), name);
    if (found === undefined) throw unknownKind(this.name, this.#kinds, name);
    return found;
  }
}

function addressOf({ scope, kind }: ServedKind, name: string): ObjectAddress {
  const [first = '', second, ...more] = name.split('/');
  if (first === '' || second === '' || more.length > 0)
    throw new BenchError('bad-name', `${name} is no name of a ${kind}: it is hello, or team/hello`);
  if (scope === 'Namespaced') return second === undefined ? { namespace: 'default', name } : { namespace: first, name: second };
  if (second !== undefined) throw new BenchError('bad-name', `${kind} is cluster-scoped: ${name} must not name a namespace`);
  return { name };
}
