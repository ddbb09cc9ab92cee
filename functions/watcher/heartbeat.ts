/**
 * Sends a heartbeat for each cluster: once an interval on the live lane, the first after one interval.
 *
 * None is queued up behind an outage: one that was not taken is tried again until the next is due, with the state as it is by
 * then. It does not go through the outbox, where it would wait behind changes or they behind it. A send without an answer is given up
 * long before a work message's would be: one heartbeat too many does no harm, and its warning is the first sign of a hanging SQS.
 */

import { buildHeartbeat, encodeHeartbeat, type HeartbeatCell } from '../../events/heartbeat.ts';
import type { ClusterName } from '../../events/resource.ts';
import { nextBackoffMs } from '../../events/watch-backoff.ts';
import type { Clock } from '../adapters/clock.ts';
import type { OutgoingMessage, Queue, SendResult } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError } from '../core/errors.ts';
import type { CellStatus } from './cell-status.ts';

/** Milliseconds for the answer to a send, all its attempts together. */
const ANSWER_MS = 5_000;

export interface HeartbeatOptions {
  /** Of the cells of all clusters, now. A cluster without a cell has no heartbeat. */
  readonly statuses: () => readonly CellStatus[];
  readonly queue: Queue;
  /** The live queue. */
  readonly queueUrl: string;
  readonly intervalSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Sends heartbeats until the signal aborts; a send under way is cut off then.
 *
 * @throws ConfigError where the queue says that it cannot be used as we are deployed
 */
export async function runHeartbeat(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalSeconds } = options;
  const intervalMs = intervalSeconds * 1000;
  const nowMs = (): number => clock.steadyMs();
  const outage = new Outage(options.log);
  let dueMs = nowMs() + intervalMs;
  while (!signal.aborted) {
    await clock.sleep(dueMs - nowMs(), signal);
    if (signal.aborted) return;
    await beat(options, outage, dueMs + intervalMs, signal);
    // Those that a hanging send has made late are left out, not made up for.
    dueMs += intervalMs * (Math.floor(Math.max(0, nowMs() - dueMs) / intervalMs) + 1);
  }
}

/** One heartbeat of each cluster, tried until `untilMs`. */
async function beat(options: HeartbeatOptions, outage: Outage, untilMs: number, signal: AbortSignal): Promise<void> {
  const { clock, statuses } = options;
  let pending: ReadonlySet<ClusterName> | undefined;
  let pauseMs = 0;
  while (!signal.aborted) {
    const clusters = [...Map.groupBy(statuses(), ({ cluster }) => cluster)].filter(([cluster]) => pending?.has(cluster) ?? true);
    if (clusters.length === 0) return;
    const results = await send(
      options,
      clusters.map(([cluster, cells]) => messageOf(cluster, cells, clock)),
      signal,
    );
    if (signal.aborted) return;
    const left = clusters.flatMap(([cluster], index) => (results[index]?.kind === 'sent' ? [] : [cluster]));
    outage.tell(left, results);
    if (left.length === 0) return;
    pending = new Set(left);
    pauseMs = nextBackoffMs(pauseMs, undefined, clock.random());
    if (clock.steadyMs() + pauseMs >= untilMs) return;
    await clock.sleep(pauseMs, signal);
  }
}

async function send(options: HeartbeatOptions, messages: readonly OutgoingMessage[], signal: AbortSignal): Promise<SendResult[]> {
  const { queue, queueUrl, clock, log } = options;
  const answered = new AbortController();
  const givenUp = new AbortController();
  const alarm = clock.sleep(ANSWER_MS, answered.signal).then(() => {
    if (!answered.signal.aborted) givenUp.abort();
  });
  try {
    const results = await queue.send(queueUrl, messages, { signal: AbortSignal.any([signal, givenUp.signal]) });
    if (!givenUp.signal.aborted) return results;
    return results.map((result) => (result.kind === 'retry' ? { ...result, code: 'no-answer' } : result));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    log.error('sending heartbeats threw', { error });
    return [];
  } finally {
    answered.abort();
    await alarm;
  }
}

function messageOf(cluster: ClusterName, cells: readonly CellStatus[], clock: Clock): OutgoingMessage {
  const frame = { id: clock.uuid(), now: clock.now(), traceparent: clock.traceparent() };
  return { body: encodeHeartbeat(buildHeartbeat(cluster, cells.map(cellOf), frame)), delaySeconds: 0, groupId: cluster };
}

function cellOf(status: CellStatus): HeartbeatCell {
  const { kind, role, phase, lastEventMs, objectCount, unsettledCount, oldestUnsettledSeconds, error } = status;
  return {
    ...{ kind, role, phase, objectCount, unsettledCount, oldestUnsettledSeconds },
    ...(lastEventMs === undefined ? {} : { lastEventAt: new Date(lastEventMs).toISOString() }),
    ...(error === undefined ? {} : { code: error.code }),
  };
}

/** Says once that heartbeats are not taken, and once that they are again. */
class Outage {
  readonly #log: Log;
  #isOn = false;

  constructor(log: Log) {
    this.#log = log;
  }

  tell(left: readonly ClusterName[], results: readonly SendResult[]): void {
    const isOn = left.length > 0;
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    const code = results.flatMap((result) => (result.kind === 'sent' ? [] : result.code))[0] ?? 'no-result';
    if (isOn) this.#log.warn('heartbeats not taken by SQS now; they are tried again', { clusters: left, code });
    else this.#log.info('SQS takes heartbeats again');
  }
}
