/** Reads the objects that letters are about: one GET each, so many at once of a cluster, and a cluster that does not answer is left alone. */
import { clusterName } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { mapBounded } from '../core/bounded.ts';
import { DogwatchError, TransientError } from '../core/errors.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import type { Target } from './letter-record.ts';
import { stateOf } from './object-state.ts';
import type { KindFacts, Reading } from './verdict.ts';

const CLUSTERS_AT_ONCE = 20;
const CALLS_AT_ONCE = 8;
/** Objects of a cluster in a row that it did not answer for, after which the rest is not asked. */
const FAILURES_MAX = 3;
/** Codes of a cluster that does not answer us at all. */
export const NO_ANSWER: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'unauthorized']);
/** A throttled GET is not one that was answered. The longest wait that is obeyed, in seconds. */
const THROTTLED_TRIES = 3;
const WAIT_MAX_SECONDS = 30;

export interface ObjectSource {
  /** A client of the cluster; a code where there is none: `unknown-cluster`, or what is wrong with its entry. */
  readonly clientOf: (cluster: string) => KubernetesClient | string;
  readonly reconcilers: readonly Reconciler[];
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
  /** Told once of each cluster and code: why an object could not be read. */
  readonly tell?: (cluster: string, says: string) => void;
}

/** The reconciler of a letter's object. */
export function reconcilerFor({ group, kind }: Pick<Target, 'group' | 'kind'>, reconcilers: readonly Reconciler[]): Reconciler | undefined {
  return reconcilers.find(({ resource }) => resource.group === group && resource.kind === kind);
}

export function kindFactsOf(reconciler: Reconciler | undefined): KindFacts {
  return { hasFinalize: reconciler?.finalization !== undefined, isDescribed: reconciler?.resource.isDescribed === true };
}

/** Told what was found where a target should be, once for each: none is kept here, since there may be very many. */
export type OnReading = (target: Target, reading: Reading) => void;

/** Resolves when each was read. @throws the signal's reason once it is aborted, and what is no error of a cluster */
export async function readObjects(targets: Iterable<Target>, source: ObjectSource, onReading: OnReading): Promise<void> {
  const byCluster = Map.groupBy(targets, ({ cluster }) => cluster);
  await mapBounded([...byCluster], CLUSTERS_AT_ONCE, ([cluster, theirs]) => readCluster(cluster, theirs, source, onReading));
}

async function readCluster(cluster: string, targets: readonly Target[], source: ObjectSource, onReading: OnReading): Promise<void> {
  const client = source.clientOf(cluster);
  if (typeof client === 'string') {
    for (const target of targets) onReading(target, { kind: 'untold', code: client });
    return;
  }
  let failures = 0;
  const told = new Set<string>();
  await mapBounded(targets, CALLS_AT_ONCE, async (target): Promise<void> => {
    source.signal.throwIfAborted();
    if (failures >= FAILURES_MAX) return onReading(target, { kind: 'untold', code: 'given-up' });
    const answer = await readTarget(client, target, source);
    if (answer.kind === 'read') {
      failures = 0;
      return onReading(target, answer.reading);
    }
    if (!told.has(answer.code)) source.tell?.(cluster, answer.says);
    told.add(answer.code);
    failures = NO_ANSWER.has(answer.code) ? failures + 1 : 0;
    onReading(target, { kind: 'untold', code: answer.code });
  });
}

/** An object with its state, or why there is none. */
export type Answer =
  | { readonly kind: 'read'; readonly reading: Reading; readonly object: KubernetesObject | undefined }
  | { readonly kind: 'failed'; readonly code: string; readonly says: string };

/** The newest state of the object, read once. @throws the signal's reason, and what is no error of a cluster */
export async function readTarget(client: KubernetesClient, target: Target, source: Omit<ObjectSource, 'clientOf'>): Promise<Answer> {
  const reconciler = reconcilerFor(target, source.reconcilers);
  if (reconciler === undefined) return { kind: 'failed', code: 'unknown-kind', says: 'no reconciler is for its kind' };
  const { namespace, name } = target;
  const place = namespace === undefined ? { name } : { namespace, name };
  if ((reconciler.resource.scope === 'Namespaced') !== (namespace !== undefined))
    return { kind: 'failed', code: 'other-scope', says: `its kind is ${namespace === undefined ? 'in namespaces' : 'in none'} here` };
  for (let tries = 1; ; tries += 1) {
    try {
      const object = await client.get(reconciler.resource, place, { signal: source.signal });
      const reading: Reading = object === undefined ? { kind: 'absent' } : { kind: 'found', state: stateOf(object, reconciler) };
      return { kind: 'read', reading, object };
    } catch (error) {
      source.signal.throwIfAborted();
      if (!(error instanceof DogwatchError)) throw error;
      const isThrottled = error instanceof TransientError && error.code === 'throttled';
      if (!isThrottled || tries === THROTTLED_TRIES) return { kind: 'failed', code: error.code, says: error.message };
      await source.clock.sleep(Math.min(error.retryAfterSeconds ?? 1, WAIT_MAX_SECONDS) * 1000, source.signal);
    }
  }
}

/** The registry's clients by name, connected when first asked for. */
export function clientsBy(connect: (cluster: string) => KubernetesClient | string): {
  readonly clientOf: ObjectSource['clientOf'];
  close(): void;
} {
  const known = new Map<string, KubernetesClient | string>();
  return {
    clientOf(cluster) {
      const before = known.get(cluster);
      if (before !== undefined) return before;
      const client = connect(clusterName(cluster));
      known.set(cluster, client);
      return client;
    },
    close() {
      for (const client of known.values()) if (typeof client !== 'string') client.close();
    },
  };
}
