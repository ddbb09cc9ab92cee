/** All objects of a kind are to be run, so many a second. */
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import type { ResourceType } from '../../events/resource.ts';
import { TransientError } from '../core/errors.ts';
import type { ExitCode } from './main.ts';
import { type Manual, manualMessage, type Seen } from './manual.ts';

export interface AllOptions {
  /** Left out: all namespaces. */
  readonly namespace: string | undefined;
  /** Messages a second, 1 to 200. */
  readonly rate: number;
  /** Aborted to stop: what is being sent is sent to its end. */
  readonly signal: AbortSignal;
}

/** Messages of one call of SQS. */
const BATCH_MAX = 10;
/** How often progress is told, in milliseconds. */
const PROGRESS_MS = 5_000;
/** A list that lasts longer than its token is begun anew so often. */
const LIST_TRIES = 3;
/** Calls of which SQS took nothing, one after the other, before we give up; the wait before each doubles from a second. */
const FRUITLESS_MAX = 5;

interface Listed {
  readonly objects: readonly Seen[];
  readonly pausedCount: number;
  readonly heldBackCount: number;
}

const NOTHING: Listed = { objects: [], pausedCount: 0, heldBackCount: 0 };

/**
 * Sends `manual` for every object of the kind that its reconciler selects and that is not paused; 1 where not all were sent.
 *
 * All are listed before the first is sent: a slow rate would outlive the token that the next page is asked for with.
 */
export async function reconcileAll(manual: Manual, { namespace, rate, signal }: AllOptions): Promise<ExitCode> {
  const { client, reconciler, json, print, say } = manual;
  const { resource } = reconciler;
  const listed = await listAll(manual, namespace, signal);
  const { objects, pausedCount, heldBackCount } = listed ?? NOTHING;
  const whose = `${client.cluster}: ${resource.plural}`;
  if (listed !== undefined) say(`${whose}: ${objects.length} to be run, ${rate} a second${leftOut(pausedCount, heldBackCount)}`);
  const { sentCount, refusedCount, leftCount, code } = await sendAll(manual, objects, { rate, signal });
  // A signal that comes when all is done has stopped nothing.
  const isStopped = listed === undefined || (signal.aborted && leftCount > 0);
  const isWhole = listed !== undefined && sentCount === objects.length;
  const stopped = isStopped ? 'stopped: ' : '';
  const why = code === undefined ? '' : `; SQS: ${code}`;
  if (json) {
    const counts = { found: objects.length, sent: sentCount, refused: refusedCount, paused: pausedCount, heldBack: heldBackCount };
    const place = namespace === undefined ? {} : { namespace };
    const error = code === undefined ? {} : { code };
    print(
      JSON.stringify({
        cluster: client.cluster,
        kind: resource.kind,
        group: resource.group,
        ...place,
        ...counts,
        stopped: isStopped,
        ...error,
      }),
    );
  } else print(`${whose}: ${stopped}${sentCount} of ${objects.length} sent${why}`);
  return isWhole ? 0 : 1;
}

function leftOut(pausedCount: number, heldBackCount: number): string {
  const parts = [...(pausedCount === 0 ? [] : [`${pausedCount} paused`]), ...(heldBackCount === 0 ? [] : [`${heldBackCount} held back`])];
  return parts.length === 0 ? '' : `; left out: ${parts.join(', ')}`;
}

/** Undefined where the signal ended it: how many there are is not known then. */
async function listAll(manual: Manual, namespace: string | undefined, signal: AbortSignal): Promise<Listed | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await listOnce(manual, namespace, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof TransientError && error.code === 'expired') || tries === LIST_TRIES) throw error;
    }
  }
}

async function listOnce({ client, reconciler }: Manual, namespace: string | undefined, signal: AbortSignal): Promise<Listed> {
  const { resource, watch } = reconciler;
  const inNamespace = namespace === undefined ? [] : [`metadata.namespace=${namespace}`];
  const fieldSelector = [...(watch.fieldSelector === undefined ? [] : [watch.fieldSelector]), ...inNamespace].join() || undefined;
  const objects: Seen[] = [];
  let [pausedCount, heldBackCount] = [0, 0];
  let next: string | undefined;
  do {
    const page = await client.list(resource satisfies ResourceType, {
      form: 'metadata',
      signal,
      labelSelector: watch.labelSelector,
      fieldSelector,
      continue: next,
    });
    for (const { metadata } of page.rows) {
      const { namespace: place, name, uid, resourceVersion, generation, annotations = {} } = metadata;
      if (Object.hasOwn(annotations, PAUSED_ANNOTATION)) pausedCount += 1;
      else if (watch.filter !== undefined && !watch.filter.admits(metadata)) heldBackCount += 1;
      else
        objects.push({
          ...(place === undefined ? {} : { namespace: place }),
          name,
          uid,
          resourceVersion,
          ...(generation === undefined ? {} : { generation }),
        });
    }
    next = page.continue;
  } while (next !== undefined);
  return { objects, pausedCount, heldBackCount };
}

interface Sent {
  readonly sentCount: number;
  readonly refusedCount: number;
  /** Those that were neither sent nor refused for good. */
  readonly leftCount: number;
  /** What SQS said last of what it did not take. */
  readonly code: string | undefined;
}

async function sendAll(manual: Manual, objects: readonly Seen[], { rate, signal }: Omit<AllOptions, 'namespace'>): Promise<Sent> {
  const { client, reconciler, queue, queueUrl, clock, say } = manual;
  const waiting = [...objects];
  const batchSize = Math.min(BATCH_MAX, rate);
  let [sentCount, refusedCount, fruitless] = [0, 0, 0];
  let code: string | undefined;
  let toldAtMs = clock.steadyMs();
  while (waiting.length > 0 && !signal.aborted && fruitless < FRUITLESS_MAX) {
    const startedAtMs = clock.steadyMs();
    const batch = waiting.splice(0, batchSize);
    const messages = batch.map((seen) => manualMessage(client.cluster, reconciler.resource, seen, clock));
    const results = await queue.send(queueUrl, messages);
    const taken = results.filter(({ kind }) => kind === 'sent').length;
    sentCount += taken;
    for (const [at, seen] of batch.entries()) {
      const result = results[at];
      if (result?.kind === 'sent') continue;
      code = result?.code ?? 'no-result';
      if (result?.kind === 'refused') refusedCount += 1;
      else waiting.push(seen);
    }
    fruitless = taken === 0 ? fruitless + 1 : 0;
    if (clock.steadyMs() - toldAtMs >= PROGRESS_MS && waiting.length > 0) {
      toldAtMs = clock.steadyMs();
      say(`${client.cluster}: ${sentCount} of ${objects.length} sent`);
    }
    if (waiting.length === 0) break;
    const paceMs = fruitless === 0 ? (batch.length / rate) * 1000 : 1000 * 2 ** (fruitless - 1);
    await clock.sleep(startedAtMs + paceMs - clock.steadyMs(), signal);
  }
  return { sentCount, refusedCount, leftCount: waiting.length, code: sentCount === objects.length ? undefined : code };
}
