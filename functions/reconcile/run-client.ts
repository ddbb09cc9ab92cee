/**
 * One run's view of its cluster: every call carries the run's signal, is counted, and is refused once the signal is
 * aborted, so that a run that outlives its deadline reads and writes nothing more.
 */
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';

type Call = 'get' | 'getMetadata' | 'list' | 'apply' | 'applyStatus' | 'delete' | 'createEvent';
const WRITES: ReadonlySet<Call> = new Set<Call>(['apply', 'applyStatus', 'delete']);

/** The calls that a run may make. `createEvent` is no write in the sense of {@link RunClient.wrote}: it changes nothing that a run rests on. */
export interface RunClient extends Pick<KubernetesClient, Call> {
  /** Calls sent so far; pages of a list each count. */
  readonly requestCount: number;
  /** True once a write was sent, whatever became of it. */
  readonly wrote: boolean;
  /** True if a call was under way when the signal was aborted: then the API server has its part in the run's length. */
  readonly isCutShort: boolean;
  /** True for an error that one of these calls threw: the API server's own, not the author's. */
  isOwnError(error: unknown): boolean;
}

/** @param signal aborted when the record's deadline passes */
export function createRunClient(client: KubernetesClient, signal: AbortSignal): RunClient {
  let requestCount = 0;
  let wrote = false;
  let underWay = 0;
  let isCutShort = false;
  const thrown = new WeakSet<object>();
  // Registered before anybody else's, so that no call has noticed the end yet.
  signal.addEventListener('abort', () => (isCutShort = underWay > 0), { once: true });
  const call = async <Result>(name: Call, send: () => Promise<Result>): Promise<Result> => {
    signal.throwIfAborted();
    requestCount += 1;
    if (WRITES.has(name)) wrote = true;
    underWay += 1;
    try {
      return await send();
    } catch (error) {
      if (typeof error === 'object' && error !== null) thrown.add(error);
      throw error;
    } finally {
      underWay -= 1;
    }
  };
  return {
    get: (type, at, options) => call('get', () => client.get(type, at, { ...options, signal })),
    getMetadata: (type, at, options) => call('getMetadata', () => client.getMetadata(type, at, { ...options, signal })),
    list: (type, options) => call('list', () => client.list(type, { ...options, signal })),
    apply: (type, body) => call('apply', () => client.apply(type, body, { signal })),
    applyStatus: (type, body) => call('applyStatus', () => client.applyStatus(type, body, { signal })),
    delete: (type, at, uid) => call('delete', () => client.delete(type, at, uid, { signal })),
    createEvent: (event, namespace) => call('createEvent', () => client.createEvent(event, namespace, { signal })),
    get requestCount() {
      return requestCount;
    },
    get wrote() {
      return wrote;
    },
    get isCutShort() {
      return isCutShort;
    },
    isOwnError: (error) => typeof error === 'object' && error !== null && thrown.has(error),
  };
}
