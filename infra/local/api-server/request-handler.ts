/** One HTTP request: who asks, what for, which fault hits it, and the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { checkAccess } from './access.ts';
import { ApiFault } from './api-fault.ts';
import { BUILT_IN_KINDS } from './built-in-kinds.ts';
import type { ClusterState } from './cluster-state.ts';
import { AGGREGATED_TYPE, aggregated, apiGroup, apiGroups, apiResources, apiVersions, takesAggregated } from './discovery.ts';
import type { RequestFaults } from './faults.ts';
import { type Answer, notServed, send, sendFault } from './http-answer.ts';
import { booleanOf } from './list-options.ts';
import { openApiIndex, openApiOf } from './open-api.ts';
import { answerResource, kindOf } from './resource-requests.ts';
import { type Route, routeOf } from './routes.ts';
import { notDone } from './served-write.ts';
import { openWatch, type WatchDefaults } from './watch-requests.ts';

export interface Serving {
  readonly state: ClusterState;
  readonly token: string;
  readonly address: string;
  readonly faults: RequestFaults;
  readonly watchDefaults: WatchDefaults;
}

const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+dogwatch',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'dogwatch/embedded',
};

export async function handleRequest(serving: Serving, http: IncomingMessage, response: ServerResponse): Promise<void> {
  let tellNotDone: (refusedWith: number | undefined) => void = () => undefined;
  try {
    const url = new URL(http.url ?? '/', 'http://localhost');
    const route = routeOf(url.pathname);
    tellNotDone = (refusedWith) => {
      const kind = route.kind === 'resource' ? kindOf(serving.state, route) : undefined;
      if (route.kind !== 'resource' || kind === undefined) return;
      notDone({ state: serving.state, kind, route, http }, url.searchParams.get('fieldManager'), refusedWith);
    };
    const isWatch = http.method === 'GET' && booleanOf(url.searchParams, 'watch');
    const isLost = await strike(serving, http, response, isWatch);
    if (typeof isLost === 'object') return tellNotDone(isLost.status);
    checkAccess(http, route, url.pathname, serving.token);
    const answer = await answerTo(serving, route, url, http, response, isWatch);
    if (isLost) response.destroy();
    else if (answer !== undefined) send(response, answer);
  } catch (error) {
    // A client that goes in the middle of its request is no fault of ours.
    if (http.destroyed && !http.complete) return;
    if (!(error instanceof ApiFault)) serving.state.options.onError(error);
    tellNotDone(error instanceof ApiFault ? error.code : 500);
    sendFault(response, error);
  } finally {
    // What nobody read of the body would keep the connection from its next request.
    http.resume();
  }
}

/** A group of built-in kinds answers in JSON where a kind is missing; others in plain text. */
const hasBuiltIns = (group: string): boolean => BUILT_IN_KINDS.some((kind) => kind.group === group);

/** Undefined: the answer went out another way, as a stream. */
async function answerTo(
  serving: Serving,
  route: Route,
  url: URL,
  http: IncomingMessage,
  response: ServerResponse,
  isWatch: boolean,
): Promise<Answer | undefined> {
  const { state } = serving;
  if (route.kind !== 'resource') return fixedAnswer(serving, route, http);
  const kind = kindOf(state, route);
  if (kind === undefined) {
    if (!hasBuiltIns(route.group)) return notServed;
    throw new ApiFault(404, 'the server could not find the requested resource', { reason: 'NotFound', details: {} });
  }
  const request = { state, kind, route, query: url.searchParams, http };
  if (!isWatch || route.subresource !== '') return await answerResource(request);
  await openWatch(request, response, serving.watchDefaults);
  return undefined;
}

function fixedAnswer({ state, address }: Serving, route: Exclude<Route, { kind: 'resource' }>, http: IncomingMessage): Answer {
  const kinds = state.kinds.all();
  const object = (body: ReturnType<typeof apiGroup>): Answer => (body === undefined ? notServed : { kind: 'object', status: 200, body });
  const whole = (isCore: boolean): Answer => ({ kind: 'object', status: 200, body: aggregated(kinds, isCore), mediaType: AGGREGATED_TYPE });
  switch (route.kind) {
    case 'health':
      return { kind: 'text', status: 200, text: 'ok' };
    case 'version':
      return object(VERSION);
    case 'api-versions':
      return takesAggregated(http.headers.accept) ? whole(true) : object(apiVersions(address));
    case 'api-groups':
      return takesAggregated(http.headers.accept) ? whole(false) : object(apiGroups(kinds));
    case 'api-group':
      return object(apiGroup(kinds, route.group));
    case 'api-resources':
      return object(apiResources(kinds, route.group, route.version));
    case 'openapi':
      return object(route.document === '' ? openApiIndex(kinds) : openApiOf(kinds, route.document));
    case 'openapi-v2':
      // A protobuf message without a field: kubectl, which asks for it before it sends a List, checks nothing by itself then.
      return { kind: 'text', status: 200, text: '' };
    case 'unknown':
      return notServed;
  }
}

/** Lets an armed fault hit the request. True: it is to be done, but its answer is lost. With a status, or none: it is not to be done. */
async function strike(
  { faults }: Serving,
  http: IncomingMessage,
  response: ServerResponse,
  isWatch: boolean,
): Promise<boolean | { readonly status: number | undefined }> {
  const fault = faults.take({
    method: http.method ?? 'GET',
    url: http.url ?? '/',
    isWatch,
    userAgent: http.headers['user-agent'] ?? '',
  });
  switch (fault?.kind) {
    case undefined:
      return false;
    case 'throttle': {
      const { retryAfterSeconds } = fault;
      const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
      send(response, { kind: 'text', status: 429, text: 'Too many requests, please try again later.\n', headers });
      return { status: 429 };
    }
    case 'initializing':
      throw new ApiFault(429, 'storage is (re)initializing', {
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        retryAfterSeconds: 1,
      });
    case 'error':
      throw new ApiFault(fault.code, fault.message ?? 'the embedded API server was told to fail', { reason: 'InternalError' });
    case 'reset':
      response.destroy();
      return { status: undefined };
    case 'lose-answer':
      return true;
    case 'delay':
      await wait(fault.ms, undefined, { ref: false });
      return false;
  }
}
