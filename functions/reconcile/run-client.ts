/**
 * One run's view of its cluster: every call carries the run's signal, is counted, and is refused once the signal is
 * aborted, so that a run that outlives its deadline reads and writes nothing more. What each came to is told to the cluster's
 * circuit.
 */
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { untilAborted } from './abort.ts';
import type { CallWatch, CircuitVisit } from './circuits.ts';

type Call = 'get' | 'getMetadata' | 'list' | 'apply' | 'applyStatus' | 'delete' | 'patchFinalizers' | 'createEvent';
const WRITES: ReadonlySet<Call> = new Set<Call>(['apply', 'applyStatus', 'delete', 'patchFinalizers']);

/** The calls that a run may make. `createEvent` is no write in the sense of {@link RunClient.wrote}: it changes nothing that a run rests on. */
export interface RunClient extends Pick<KubernetesClient, Call> {
  /** Calls sent so far; pages of a list each count. */
  readonly requestCount: number;
  /** True once a write was sent, whatever became of it. */
  readonly wrote: boolean;
  /** True if a call was under way when the signal was aborted: then the API server has its part in the run's length. */
  readonly isCutShort: boolean;
  /** True if a call was refused or given up because the circuit of the cluster opened, before the run had written anything. */
  readonly isHeldBack: boolean;
  /** True for an error that one of these calls threw: the API server's own, not the author's. */
  isOwnError(error: unknown): boolean;
}

/**
 * @param signal   aborted when the record's deadline passes
 * @param circuit  left out for calls that come after a run
 */
export function createRunClient(
  client: KubernetesClient,
  signal: AbortSignal,
  circuit?: Pick<CircuitVisit, 'begin' | 'opened'>,
): RunClient {
  let requestCount = 0;
  let wrote = false;
  const underWay = new Set<CallWatch>();
  let isCutShort = false;
  let isHeldBack = false;
  const opened = circuit?.opened;
  const patience = opened === undefined ? signal : AbortSignal.any([signal, opened]);
  const thrown = new WeakSet<object>();
  // Registered before anybody else's, so that no call has noticed the end yet.
  const onAbort = (): void => {
    isCutShort = underWay.size > 0;
    for (const watch of underWay) watch.cutShort();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const call = async <Result>(name: Call, send: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    signal.throwIfAborted();
    if (opened?.aborted && !wrote) isHeldBack = true;
    if (isHeldBack) throw opened?.reason;
    requestCount += 1;
    if (WRITES.has(name)) wrote = true;
    const watch = circuit?.begin() ?? { ended() {}, cutShort() {} };
    underWay.add(watch);
    try {
      const result = await (wrote ? send(signal) : untilAborted(patience, send(patience)));
      watch.ended();
      return result;
    } catch (error) {
      watch.ended(error);
      if (opened?.aborted && error === opened.reason) isHeldBack = true;
      if (typeof error === 'object' && error !== null) thrown.add(error);
      throw error;
    } finally {
      underWay.delete(watch);
    }
  };
  return {
    get: (type, at, options) => call('get', (until) => client.get(type, at, { ...options, signal: until })),
    getMetadata: (type, at, options) => call('getMetadata', (until) => client.getMetadata(type, at, { ...options, signal: until })),
    list: (type, options) => call('list', (until) => client.list(type, { ...options, signal: until })),
    apply: (type, body, options) => call('apply', (until) => client.apply(type, body, { ...options, signal: until })),
    applyStatus: (type, body) => call('applyStatus', (until) => client.applyStatus(type, body, { signal: until })),
    delete: (type, at, uid) => call('delete', (until) => client.delete(type, at, uid, { signal: until })),
    patchFinalizers: (type, at, guard, finalizers) =>
      call('patchFinalizers', (until) => client.patchFinalizers(type, at, guard, finalizers, { signal: until })),
    createEvent: (event, namespace) => call('createEvent', (until) => client.createEvent(event, namespace, { signal: until })),
    get requestCount() {
      return requestCount;
    },
    get wrote() {
      return wrote;
    },
    get isCutShort() {
      return isCutShort;
    },
    get isHeldBack() {
      return isHeldBack;
    },
    isOwnError: (error) => typeof error === 'object' && error !== null && thrown.has(error),
  };
}
