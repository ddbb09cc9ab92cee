/**
 * Reads the cluster registry, and where its kubeconfigs lead, again and again, and hands on what it says.
 *
 * By content: ConfigMaps and mounted secrets are replaced by swapping a link, where file events and times tell little. And only
 * what two readings in a row agree on: a file that is just being written may well be valid, with fewer clusters in it.
 */

import type { Clock } from '../adapters/clock.ts';
import type { ClusterEntry } from '../adapters/clusters.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError, cutText } from '../core/errors.ts';

/** A cluster as the registry has it now. */
export interface RegisteredCluster {
  readonly entry: ClusterEntry;
  /** The API server's address; undefined where it is not known. */
  readonly server: string | undefined;
}

export interface RegistryWatchOptions {
  /** Rejects with a ConfigError where the registry cannot be used. How often what lies elsewhere is really fetched is its own matter. */
  readonly read: () => Promise<readonly RegisteredCluster[]>;
  /** Called after every reading that can be used, also where nothing changed: what failed the last time may work now. */
  readonly apply: (clusters: readonly RegisteredCluster[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Between two readings, in milliseconds. */
export const READ_MS = 5_000;
/** Between a reading with news and the one that confirms it, in milliseconds. */
export const CONFIRM_MS = 1_000;

interface Reading {
  /** Two readings with the same key say the same. */
  readonly key: string;
  readonly clusters?: readonly RegisteredCluster[];
  readonly error?: unknown;
}

/** Watches until the signal aborts. A registry that cannot be used is told of once for each reason, and changes nothing. */
export async function watchRegistry({ read, apply, clock, log }: RegistryWatchOptions, signal: AbortSignal): Promise<void> {
  let last: string | undefined;
  let told: string | undefined;
  for (let waitMs = READ_MS; ; ) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    const reading = await untilAborted(readOnce(read), signal);
    if (reading === undefined) return;
    const { key, clusters, error } = reading;
    const isConfirmed = key === last;
    last = key;
    waitMs = isConfirmed ? READ_MS : CONFIRM_MS;
    if (!isConfirmed) continue;
    if (clusters === undefined) {
      if (told !== key) tell(log, error);
      told = key;
      continue;
    }
    if (told !== undefined) log.info('the cluster registry can be used again', { clusters: clusters.length });
    told = undefined;
    apply(clusters);
  }
}

async function readOnce(read: RegistryWatchOptions['read']): Promise<Reading> {
  try {
    const clusters = await read();
    return { key: JSON.stringify(clusters), clusters };
  } catch (error) {
    return { key: String(error), error };
  }
}

/** What comes of the work, which never fails; undefined as soon as the signal aborts: a store that hangs must not hold up a stop. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result | undefined> {
  const { promise, resolve } = Promise.withResolvers<Result | undefined>();
  const end = (): void => resolve(undefined);
  signal.addEventListener('abort', end, { once: true });
  void work.then((result) => {
    signal.removeEventListener('abort', end);
    resolve(signal.aborted ? undefined : result);
  });
  return promise;
}

function tell(log: Log, error: unknown): void {
  const reason = cutText(error instanceof Error ? error.message : String(error));
  const code = error instanceof ConfigError ? error.code : 'unclassified';
  // What nobody foresaw comes with its stack. It is no reason to stop either: the clusters that are watched know nothing of it.
  const stack = error instanceof ConfigError ? {} : { error };
  log.error('the cluster registry cannot be used; the clusters stay as they are', { code, reason, ...stack });
}
