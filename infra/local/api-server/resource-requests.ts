/** Requests for objects: each verb as the store and the writer carry it out. */
import type { IncomingMessage } from 'node:http';
import { ApiFault, badRequest, notHere } from './api-fault.ts';
import { type KindInfo, type KubeObject, resourceName, type Subresource } from './api-object.ts';
import type { ClusterState } from './cluster-state.ts';
import { type Deletion, deleteOptionsOf } from './deletion.ts';
import { type Negotiated, negotiate, presentList, presentObject } from './forms.ts';
import type { Answer } from './http-answer.ts';
import type { WriteOptions } from './object-writer.ts';
import { notFound, readObject, readPage } from './reads.ts';
import { parseBody, parsePatch, readBody } from './request-body.ts';
import type { ResourceRoute } from './routes.ts';
import { observed } from './served-write.ts';
import { writeOptionsOf } from './write-options.ts';

/** Subresources of the real server that nothing stands for here. */
const MISSING = ['scale', 'finalize', 'token', 'eviction', 'binding', 'log', 'exec', 'attach', 'portforward', 'proxy'];

/** Kinds whose DELETE answers with the object, though it is gone. */
const ANSWERED_WITH_OBJECT = ['serviceaccounts', 'resourcequotas'];

/** One request for a kind that is served. */
export interface ResourceRequest {
  readonly state: ClusterState;
  readonly kind: KindInfo;
  readonly route: ResourceRoute;
  readonly query: URLSearchParams;
  readonly http: IncomingMessage;
}

/** True for a path that fits the scope of its kind: `namespaces/a/things/b` for a namespaced one. */
function fitsScope({ namespaced }: KindInfo, { namespace, name }: ResourceRoute): boolean {
  return namespaced ? name === '' || namespace !== '' : namespace === '';
}

/** The answer to anything but a watch. @throws ApiFault */
export async function answerResource(request: ResourceRequest): Promise<Answer> {
  const { kind, route, http } = request;
  refuseSubresource(request);
  const accepted = negotiate(http.headers.accept, request.query.get('includeObject'), kind);
  const isItem = route.name !== '';
  switch (http.method) {
    case 'GET':
      return isItem ? await get(request, accepted) : await list(request, accepted);
    case 'POST':
      // The real server overlooks a name in the path of a custom kind.
      if ((!isItem || kind.isCustom) && (route.namespace !== '' || !kind.namespaced)) return await create(request, accepted);
      break;
    case 'PUT':
      if (isItem) return await update(request, accepted);
      refuseNameless(kind);
      break;
    case 'PATCH':
      if (isItem) return await patch(request, accepted);
      refuseNameless(kind);
      break;
    case 'DELETE':
      if (route.subresource === '') return isItem ? await remove(request, accepted) : await removeAll(request, accepted);
  }
  throw new ApiFault(405, 'the server does not allow this method on the requested resource', { reason: 'MethodNotAllowed', details: {} });
}

/** How the real server answers a write to a collection of a custom kind; of others it does not allow the verb. */
function refuseNameless({ isCustom }: KindInfo): void {
  if (isCustom) throw badRequest('name must be provided');
}

function refuseSubresource({ kind, route: { subresource, name } }: ResourceRequest): void {
  if (subresource === '' || (subresource === 'status' && kind.hasStatus)) return;
  if (!kind.isCustom && MISSING.includes(subresource)) throw notHere(`The subresource ${subresource}`);
  throw notFound(kind, name);
}

async function get({ state, kind, route, query }: ResourceRequest, { form, mediaType }: Negotiated): Promise<Answer> {
  const object = await readObject(state.store, kind, route.namespace, route.name, query.get('resourceVersion'));
  return { kind: 'object', status: 200, body: presentObject(object, kind, form, state.options.now()), mediaType };
}

async function list({ state, kind, route, query }: ResourceRequest, { form, mediaType }: Negotiated): Promise<Answer> {
  const page = await readPage(state.store, kind, route.namespace, query);
  return { kind: 'object', status: 200, body: presentList(page, kind, form, state.options.now()), mediaType };
}

async function create(request: ResourceRequest, accepted: Negotiated): Promise<Answer> {
  const { state, kind, http, query } = request;
  const body = parseBody(await readBody(http), http.headers['content-type']);
  const options = optionsOf(request, writeOptionsOf(query, http.headers['user-agent'], 'Create'));
  const created = observed(request, 'create', () => state.writer.create(kind, body, options), options.manager);
  return written(request, accepted, created, options, 201);
}

async function update(request: ResourceRequest, accepted: Negotiated): Promise<Answer> {
  const { state, kind, route, http, query } = request;
  const body = parseBody(await readBody(http), http.headers['content-type']);
  const options = optionsOf(request, writeOptionsOf(query, http.headers['user-agent'], 'Update'));
  const updated = observed(request, 'update', () => state.writer.update(kind, route.name, body, options), options.manager);
  return written(request, accepted, updated, options);
}

async function patch(request: ResourceRequest, accepted: Negotiated): Promise<Answer> {
  const { state, kind, route, http, query } = request;
  const given = parsePatch(await readBody(http), http.headers['content-type'], kind);
  const verb = given.kind === 'apply' ? 'apply' : 'Patch';
  const options = optionsOf(request, writeOptionsOf(query, http.headers['user-agent'], verb));
  if (given.kind !== 'apply') {
    const write = (): KubeObject => state.writer.patch(kind, route.name, given.patch, given.kind, options);
    return written(request, accepted, observed(request, 'patch', write, options.manager), options);
  }
  const write = (): ReturnType<typeof state.writer.apply> => state.writer.apply(kind, route.name, given.body, options);
  const { object, isNew } = observed(request, 'apply', write, options.manager);
  return written(request, accepted, object, options, isNew ? 201 : 200);
}

function optionsOf({ state, route }: ResourceRequest, given: Partial<WriteOptions>): WriteOptions {
  const { namespace, name } = route;
  const subresource = route.subresource as Subresource;
  return state.writeOptions({ ...given, namespace, subresource, ...(name === '' ? {} : { name }) });
}

function written(
  { state, kind }: ResourceRequest,
  { form, mediaType }: Negotiated,
  object: KubeObject,
  { warnings }: WriteOptions,
  status = 200,
): Answer {
  return { kind: 'object', status, body: presentObject(object, kind, form, state.options.now()), mediaType, warnings };
}

async function remove(request: ResourceRequest, accepted: Negotiated): Promise<Answer> {
  const { state, kind, route, http, query } = request;
  const text = await readBody(http);
  const body = text === '' ? undefined : parseBody(text, http.headers['content-type']);
  const options = deleteOptionsOf(body, query, state.options.now());
  const remove = (): Deletion => state.writer.delete(kind, route.namespace, route.name, options);
  return deleted(request, accepted, observed(request, 'delete', remove));
}

function deleted({ state, kind }: ResourceRequest, { form, mediaType }: Negotiated, deletion: Deletion): Answer {
  const { metadata } = deletion.object;
  if (deletion.kind !== 'gone' || ANSWERED_WITH_OBJECT.includes(resourceName(kind))) {
    return { kind: 'object', status: 200, body: presentObject(deletion.object, kind, form, state.options.now()), mediaType };
  }
  const details = { name: metadata.name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid: metadata.uid };
  return { kind: 'object', status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

/** Deletes what the selectors choose; answers with the list of it, as it was. */
async function removeAll(request: ResourceRequest, { form, mediaType }: Negotiated): Promise<Answer> {
  const { state, kind, route, http, query } = request;
  if (resourceName(kind) === 'namespaces') {
    throw new ApiFault(405, 'the server does not allow this method on the requested resource', { reason: 'MethodNotAllowed', details: {} });
  }
  const text = await readBody(http);
  const body = text === '' ? undefined : parseBody(text, http.headers['content-type']);
  const options = deleteOptionsOf(body, query, state.options.now());
  const page = await readPage(state.store, kind, route.namespace, query);
  for (const { metadata } of page.items) {
    const { namespace = '', name } = metadata;
    const remove = (): Deletion => state.writer.delete(kind, namespace, name, options);
    observed({ ...request, route: { ...route, namespace, name } }, 'delete', remove);
  }
  return { kind: 'object', status: 200, body: presentList(page, kind, form, state.options.now()), mediaType };
}

/** The kind of a path, or undefined for one that is not served: the answer is then {@link notServed}. */
export function kindOf(state: ClusterState, route: ResourceRoute): KindInfo | undefined {
  const kind = state.kinds.find(route.group, route.version, route.plural);
  return kind !== undefined && fitsScope(kind, route) ? kind : undefined;
}
