/** Step 1 of a run: reading, not older than what is known, without ever waiting for a position that will not come. */
import { TransientError } from '../core/errors.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { isPaused } from './decide.ts';
import type { RunContext } from './run-context.ts';

/** Seconds to wait where a server says that it is behind without saying for how long (one without a watch cache does not). */
const BEHIND_SECONDS = 1;

/**
 * What `read` answers for an object state not older than `resourceVersion`. A server that is behind is asked once more after
 * the wait it names, then for its newest: after a restore of etcd it would never reach a position of the lost history.
 *
 * @param resourceVersion  undefined: the newest, at once
 */
export async function readNotOlderThan<Result>(
  context: Pick<RunContext, 'clock' | 'signal'>,
  resourceVersion: string | undefined,
  read: (resourceVersion: string | undefined) => Promise<Result>,
): Promise<Result> {
  if (resourceVersion === undefined) return read(undefined);
  try {
    return await read(resourceVersion);
  } catch (error) {
    if (!isBehind(error)) throw error;
    await context.clock.sleep((error.retryAfterSeconds ?? BEHIND_SECONDS) * 1000, context.signal);
  }
  try {
    return await read(resourceVersion);
  } catch (error) {
    if (!isBehind(error)) throw error;
  }
  return read(undefined);
}

/** The object as it was read, and whether the position that the envelope names will never come. */
export interface ReadAnswer {
  readonly object: KubernetesObject | undefined;
  readonly isPositionLost: boolean;
}

/**
 * The object as it is now, or undefined. Not older than the envelope says; the newest where a record was received more than
 * once, because the run that died may have known more than its envelope.
 *
 * One that a cache shows as paused, or outside the selection, is read anew: the run of the pause's or the absence's end may be over
 * already, and it has trusted that this message, a wake-up above all, would be worked on.
 */
export async function readObject(context: RunContext): Promise<ReadAnswer> {
  const { run, reconciler, client } = context;
  const known = run.redelivered ? undefined : run.data.resourceVersion;
  let asked = known;
  const object = await readNotOlderThan(context, known, async (resourceVersion) => {
    asked = resourceVersion;
    try {
      return await client.get(reconciler.resource, run.key, { resourceVersion });
    } catch (error) {
      // A CRD that is removed takes every object with it: their deletions are true, and nobody has to wait for the kind to come back.
      if (isNotServed(error) && run.data.reason === 'deleted') return undefined;
      throw error;
    }
  });
  const isInDoubt = asked !== undefined && object !== undefined && isLeftAlone(context, object);
  return { object: isInDoubt ? await client.get(reconciler.resource, run.key) : object, isPositionLost: asked !== known };
}

/** True for an object that nothing is done about, unless it was sent because of that: then what the cache shows is news. */
function isLeftAlone({ run, reconciler }: RunContext, object: KubernetesObject): boolean {
  const paused = isPaused(object);
  if (!paused && reconciler.watch.selects(object)) return false;
  return [...run.reasons].some((reason) => reason !== (paused ? 'paused' : 'deleted'));
}

function isNotServed(error: unknown): boolean {
  return error instanceof TransientError && error.code === 'not-served';
}

function isBehind(error: unknown): error is TransientError {
  return error instanceof TransientError && error.code === 'resource-version-too-large';
}
