/** Reading: one object or a page of a kind, at the newest version, at a given one, or not older than one. */
import { ApiFault, badRequest } from './api-fault.ts';
import { type KindInfo, type KubeObject, resourceName } from './api-object.ts';
import type { ListPage } from './forms.ts';
import { checkListOptions, integerOf, parseResourceVersion } from './list-options.ts';
import type { ObjectStore } from './object-store.ts';
import { matcherOf } from './selectors.ts';

/** How long a read waits for the version that it names, as in the real server's watch cache. */
const FRESH_WITHIN_MS = 3000;

export const keyOf = (kind: KindInfo, namespace: string, name: string): string => (kind.namespaced ? `${namespace}/${name}` : name);

export function notFound(kind: KindInfo, name: string): ApiFault {
  const group = kind.group === '' ? {} : { group: kind.group };
  const message = `${resourceName(kind)} ${JSON.stringify(name)} not found`;
  return new ApiFault(404, message, { reason: 'NotFound', details: { name, ...group, kind: kind.plural } });
}

/** Resolves when the cache has come to `revision`. @throws ApiFault 504 after three seconds */
export async function waitForRevision(store: ObjectStore, revision: number): Promise<void> {
  if (store.cacheRevision >= revision) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(tooLarge(revision, store.cacheRevision)), FRESH_WITHIN_MS);
  const stop = store.onCacheMove(() => {
    if (store.cacheRevision >= revision) resolve();
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    stop();
  }
}

function tooLarge(wanted: number, current: number): ApiFault {
  return new ApiFault(504, `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    reason: 'Timeout',
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    retryAfterSeconds: 1,
  });
}

/** @throws ApiFault 404, 504, 500 for a malformed version */
export async function readObject(
  store: ObjectStore,
  kind: KindInfo,
  namespace: string,
  name: string,
  version: string | null,
): Promise<KubeObject> {
  const id = { resource: resourceName(kind), key: keyOf(kind, namespace, name) };
  const wanted = parseResourceVersion(version);
  if (wanted !== undefined) await waitForRevision(store, wanted);
  const isBehind = wanted !== undefined && store.cacheRevision < store.revision;
  const object = isBehind ? store.stateAt(id.resource, store.cacheRevision)?.get(id.key) : store.get(id);
  if (object === undefined) throw notFound(kind, name);
  return object;
}

/** A page of objects; `namespace` '' is all of them. @throws ApiFault as the real server answers: 400, 410, 422, 500, 504 */
export async function readPage(store: ObjectStore, kind: KindInfo, namespace: string, query: URLSearchParams): Promise<ListPage> {
  checkListOptions(query, false);
  const matches = matcherOf(query, kind);
  const resource = resourceName(kind);
  const version = query.get('resourceVersion');
  const wanted = listedVersion(version);
  const token = query.get('continue') ? parseToken(String(query.get('continue'))) : undefined;
  const asked = integerOf(query, 'limit') ?? 0;
  // A list from the cache at "any" version comes in one piece.
  const limit = asked > 0 && !(wanted === 0 && token === undefined) ? asked : Number.POSITIVE_INFINITY;
  const revision = await revisionOf(store, query, wanted, token, Number.isFinite(limit));
  const state = store.stateAt(resource, revision);
  if (state === undefined) throw token === undefined ? tooOldList() : tooOldToken(token.start);
  const prefix = kind.namespaced && namespace !== '' ? `${namespace}/` : '';
  const single = kind.namespaced && namespace === '' ? undefined : singleName(query);
  const keys = [...state.keys()].filter((key) => (single === undefined ? key.startsWith(prefix) : key === `${prefix}${single}`));
  const first = token === undefined ? 0 : keys.findIndex((key) => key.slice(prefix.length) >= token.start);
  const items: KubeObject[] = [];
  let at = first === -1 ? keys.length : first;
  for (; at < keys.length && items.length < limit; at += 1) {
    const object = state.get(String(keys[at]));
    if (object !== undefined && matches(object)) items.push(object);
  }
  const resourceVersion = String(revision);
  if (at >= keys.length) return { items, resourceVersion };
  const isSelected = Boolean(query.get('labelSelector') || query.get('fieldSelector'));
  const continueToken = makeToken(revision, `/${String(keys[at - 1]).slice(prefix.length)}\0`);
  return { items, resourceVersion, continueToken, ...(isSelected ? {} : { remainingItemCount: keys.length - at }) };
}

/** The one name that a field selector asks for: such a list is a read of that object, and never has a second page. */
function singleName(query: URLSearchParams): string | undefined {
  const terms = (query.get('fieldSelector') ?? '').split(',');
  return terms.map((term) => /^\s*metadata\.name={1,2}(.*?)\s*$/.exec(term)?.[1]).find((name) => name !== undefined);
}

/** A list calls a malformed version a bad request, where a read of one object and a watch fail. */
function listedVersion(text: string | null): number | undefined {
  try {
    return parseResourceVersion(text);
  } catch (error) {
    if (error instanceof ApiFault) throw badRequest(`invalid resource version: ${error.message}`);
    throw error;
  }
}

/** Which state a list shows. */
async function revisionOf(
  store: ObjectStore,
  query: URLSearchParams,
  wanted: number | undefined,
  token: Token | undefined,
  isPaged: boolean,
): Promise<number> {
  if (token !== undefined) return token.revision < 0 ? store.revision : token.revision;
  if (wanted === undefined) return store.revision;
  if (wanted === 0) return store.cacheRevision;
  await waitForRevision(store, wanted);
  const match = query.get('resourceVersionMatch') ?? '';
  return match === 'Exact' || (match === '' && isPaged) ? wanted : store.cacheRevision;
}

const tooOldList = (): ApiFault => new ApiFault(410, 'The resourceVersion for the provided list is too old.', { reason: 'Expired' });

function tooOldToken(start: string): ApiFault {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
    'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided ' +
    'token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was ' +
    'returned and now may show up in the list.';
  return new ApiFault(410, message, { reason: 'Expired', continueToken: makeToken(-1, start) });
}

interface Token {
  /** -1: the newest. */
  readonly revision: number;
  /** The first key that may come, below the namespace that is listed. */
  readonly start: string;
}

function makeToken(rv: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
}

function parseToken(text: string): Token {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
    if (v === 'meta.k8s.io/v1' && typeof rv === 'number' && typeof start === 'string' && start !== '') {
      return { revision: rv, start: start.replace(/^\//, '') };
    }
  } catch {
    // Answered below, like any other token that is none.
  }
  throw badRequest('invalid continue token');
}
