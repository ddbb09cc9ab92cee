/** The port over HTTP: see `port.ts` for what each call promises. */
import type { ClusterName, ObjectAddress, ResourceType } from '../../../events/resource.ts';
import { TerminalError, TransientError } from '../../core/errors.ts';
import type { KubernetesObject } from '../../core/reconciler.ts';
import { type CredentialsOptions, openCredentials } from './credentials.ts';
import { errorOf, isAbsent, parseStatus, type RequestContext } from './errors.ts';
import type { KubeConfigSource } from './kube-config.ts';
import { APPLY_PATCH, acceptOf, collectionPath, JSON_TYPE, MERGE_PATCH, METADATA, objectPath } from './paths.ts';
import { type AppliedObject, type ApplyOptions, FIELD_MANAGER, type KubernetesClient, type ReadOptions } from './port.ts';
import { parseObject, projectMetadata, projectPage, projectServedKind } from './projection.ts';
import { type Answer, createTransport, type Timeouts, type TransportRequest } from './transport.ts';
import { readFrames } from './watch.ts';

/** Objects a page of a list has when nothing else is asked for; client-go's page size. */
const PAGE_LIMIT = 500;

const events: ResourceType = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' };
const customResourceDefinitions: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
};

/** One call, for metrics. */
export interface ResponseObservation {
  readonly cluster: ClusterName;
  readonly verb: RequestContext['verb'];
  readonly kind: string;
  /** HTTP status; undefined where none came. */
  readonly status: number | undefined;
  /** To the end of the body; of a watch, to the headers. */
  readonly durationMs: number;
  /** The server's Warning header, meant for whoever writes such objects. */
  readonly warning: string | undefined;
}

export interface KubernetesClientOptions extends Omit<CredentialsOptions, 'nowMs'> {
  readonly cluster: ClusterName;
  readonly kubeConfig: KubeConfigSource;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Shown in the audit log of the cluster; `dogwatch` if left out. */
  readonly userAgent?: string | undefined;
  readonly onResponse?: ((observation: ResponseObservation) => void) | undefined;
  readonly nowMs?: (() => number) | undefined;
}

/**
 * A client of one cluster. Nothing is sent before the first call, and what lies in a store of AWS is not read either.
 *
 * @throws ConfigError if a kubeconfig on this machine is not usable, unless it `isDeferred`
 */
export function createKubernetesClient(options: KubernetesClientOptions): KubernetesClient {
  const { cluster, timeouts, userAgent, onResponse, nowMs = Date.now } = options;
  const { environment, isDeferred, readText } = options;
  const credentials = openCredentials(options.kubeConfig, { environment, isDeferred, readText, nowMs });
  const transport = createTransport({ credentials, timeouts, userAgent, nowMs });

  async function observed<T extends { readonly kind: string }>(
    context: RequestContext,
    signal: AbortSignal | undefined,
    call: () => Promise<T | Answer>,
  ): Promise<T | Answer> {
    const startedMs = nowMs();
    const report = (status: number | undefined, warning?: string): void =>
      onResponse?.({ cluster, verb: context.verb, kind: context.type.kind, status, durationMs: nowMs() - startedMs, warning });
    try {
      const result = await call();
      const answer = result.kind === 'answer' ? (result as Answer) : undefined;
      report(answer?.status ?? 200, answer?.headers['warning']?.toString());
      return result;
    } catch (error) {
      report(undefined);
      throw signal?.aborted && error === signal.reason ? error : located(error, context);
    }
  }

  /** The answer of a 2xx, or of a 404 that means absent where `absentIsAnswer`. */
  async function send(context: RequestContext, request: TransportRequest): Promise<string>;
  async function send(context: RequestContext, request: TransportRequest, absentIsAnswer: true): Promise<string | undefined>;
  async function send(context: RequestContext, request: TransportRequest, absentIsAnswer = false): Promise<string | undefined> {
    const answer = (await observed(context, request.signal, () => transport.send(request))) as Answer;
    if (answer.status >= 200 && answer.status < 300) return answer.text;
    if (absentIsAnswer && isAbsent(answer)) return undefined;
    throw errorOf(answer, context, nowMs());
  }

  const read = (type: ResourceType, at: ObjectAddress, accept: string, { resourceVersion, signal }: ReadOptions) =>
    send(
      { verb: 'get', type, at },
      { method: 'GET', path: objectPath(type, at, { resourceVersion: checkedVersion(resourceVersion) }), accept, signal },
      true,
    );

  const patch = (
    context: RequestContext & { readonly type: ResourceType; readonly at: ObjectAddress },
    body: unknown,
    contentType: string,
    { signal, fieldManager = FIELD_MANAGER }: ApplyOptions,
  ): TransportRequest => ({
    method: 'PATCH',
    path: objectPath(
      context.type,
      context.at,
      { fieldManager, force: contentType === APPLY_PATCH ? true : undefined },
      context.verb === 'apply-status' ? 'status' : undefined,
    ),
    accept: METADATA,
    contentType,
    body: JSON.stringify(body),
    signal,
  });

  return {
    cluster,
    get requestCount() {
      return transport.requestCount;
    },
    close: () => transport.close(),

    async get(type, at, options = {}) {
      const text = await read(type, at, JSON_TYPE, options);
      return text === undefined ? undefined : (parseObject(text, type.kind) as unknown as KubernetesObject);
    },

    async getMetadata(type, at, options = {}) {
      const text = await read(type, at, METADATA, options);
      return text === undefined ? undefined : metadataOf(text);
    },

    async list(type, { form, at, ownFields, labelSelector, fieldSelector, limit = PAGE_LIMIT, continue: token, resourceVersion, signal }) {
      const since = token === undefined ? checkedVersion(resourceVersion) : undefined;
      const path = collectionPath(type, at?.namespace, {
        includeObject: form === 'table' ? 'Metadata' : undefined,
        limit,
        continue: token,
        // Together with the namespace the server reads one key, however many objects there are.
        fieldSelector: at === undefined ? fieldSelector : [`metadata.name=${at.name}`, fieldSelector].filter(Boolean).join(','),
        labelSelector,
        resourceVersion: since,
        resourceVersionMatch: since === undefined ? undefined : 'NotOlderThan',
      });
      const cut = ownFields === true ? undefined : 'managed-fields';
      const text = await send({ verb: 'list', type }, { method: 'GET', path, accept: acceptOf(form, 'list'), cut, signal });
      return projectPage(text, { form, ownFields });
    },

    async watch(type, { form, ownFields, resourceVersion, timeoutSeconds, graceSeconds, labelSelector, fieldSelector, signal }) {
      const context: RequestContext = { verb: 'watch', type };
      const path = collectionPath(type, undefined, {
        watch: true,
        allowWatchBookmarks: true,
        includeObject: form === 'table' ? 'Metadata' : undefined,
        resourceVersion: checkedVersion(resourceVersion),
        timeoutSeconds,
        labelSelector,
        fieldSelector,
      });
      const opened = await observed(context, signal, () =>
        transport.open({ method: 'GET', path, accept: acceptOf(form, 'watch'), signal }),
      );
      if (opened.kind === 'answer') throw errorOf(opened as Answer, context, nowMs());
      return readFrames(opened, { form, ownFields, lifetimeMs: (timeoutSeconds + graceSeconds) * 1000, signal });
    },

    async apply(type, body, options = {}) {
      const context = { verb: 'apply', type, at: addressOf(body), guard: guardOf(body) } as const;
      return metadataOf(await send(context, patch(context, body, APPLY_PATCH, options)));
    },

    async applyStatus(type, body, options = {}) {
      // uid is ignored there, so it guards nothing.
      const guard = { resourceVersion: body.metadata.resourceVersion !== undefined };
      const context = { verb: 'apply-status', type, at: addressOf(body), guard } as const;
      const text = await send(context, patch(context, body, APPLY_PATCH, options), true);
      return text === undefined ? undefined : metadataOf(text);
    },

    async patchFinalizers(type, at, { uid, resourceVersion }, finalizers, options = {}) {
      const context = { verb: 'patch', type, at, guard: { uid: true, resourceVersion: true } } as const;
      const text = await send(context, patch(context, { metadata: { uid, resourceVersion, finalizers } }, MERGE_PATCH, options), true);
      return text === undefined ? undefined : metadataOf(text);
    },

    async delete(type, at, uid, { signal } = {}) {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background' });
      const context: RequestContext = { verb: 'delete', type, at, guard: { uid: true } };
      const text = await send(context, { method: 'DELETE', path: objectPath(type, at), accept: JSON_TYPE, body, signal }, true);
      return text === undefined ? 'absent' : 'deleted';
    },

    async createEvent(event, namespace, { signal } = {}) {
      const context: RequestContext = { verb: 'create', type: events, at: { namespace } };
      const body = JSON.stringify({ ...event, apiVersion: 'events.k8s.io/v1', kind: 'Event' });
      const path = collectionPath(events, namespace, { fieldManager: FIELD_MANAGER });
      const request: TransportRequest = { method: 'POST', path, accept: METADATA, body, signal };
      const answer = (await observed(context, request.signal, () => transport.send(request))) as Answer;
      if (answer.status >= 200 && answer.status < 300) return;
      // The first copy of a request that was sent twice has made it.
      if (answer.status === 409 && parseStatus(answer.text)?.reason === 'AlreadyExists') return;
      throw errorOf(answer, context, nowMs());
    },

    async servedKind(type, { signal } = {}) {
      if (!type.group.includes('.')) return undefined; // No CRD can have such a group.
      const at = { name: `${type.plural}.${type.group}` };
      const context: RequestContext = { verb: 'get', type: customResourceDefinitions, at };
      const path = objectPath(customResourceDefinitions, at);
      try {
        const text = await send(context, { method: 'GET', path, accept: JSON_TYPE, signal }, true);
        return text === undefined ? undefined : projectServedKind(text, type.version);
      } catch (error) {
        if (error instanceof TransientError && error.code === 'forbidden') return undefined;
        throw error;
      }
    },
  };
}

function metadataOf(text: string) {
  return projectMetadata(parseObject(text, 'PartialObjectMetadata')['metadata']);
}

function addressOf({ metadata: { namespace, name } }: AppliedObject): ObjectAddress {
  return namespace === undefined ? { name } : { namespace, name };
}

function guardOf({ metadata }: AppliedObject): { readonly uid: boolean; readonly resourceVersion: boolean } {
  return { uid: metadata.uid !== undefined, resourceVersion: metadata.resourceVersion !== undefined };
}

/** The server answers a malformed one with a 500, so it is stopped here. */
function checkedVersion(resourceVersion: string | undefined): string | undefined {
  if (resourceVersion === undefined || /^[0-9]+$/.test(resourceVersion)) return resourceVersion;
  throw new TerminalError('bad-request', 'a resourceVersion is not decimal digits; it was not sent', { facts: { resourceVersion } });
}

/** An error of the transport with what was being asked. */
function located(error: unknown, { verb, type, at }: RequestContext): unknown {
  if (!(error instanceof TransientError) || error.facts['verb'] !== undefined) return error;
  const place = {
    ...(at?.namespace === undefined ? {} : { namespace: at.namespace }),
    ...(at?.name === undefined ? {} : { name: at.name }),
  };
  return new TransientError(error.code, error.message, {
    cause: error.cause,
    facts: { ...error.facts, verb, kind: type.kind, ...place },
    retryAfterSeconds: error.retryAfterSeconds,
  });
}
