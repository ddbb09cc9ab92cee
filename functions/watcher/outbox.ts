/**
 * Sends what is dirty: from the marks of every cell to the queues.
 *
 * - Fair: each batch begins with the next source in turn and is filled up from those after it, so that a source with a huge
 *   backlog costs another one at most one batch. Each lane has its own calls, so that neither holds up the other.
 * - At once: a live batch leaves as soon as something is dirty and a call is free; what comes while all calls are busy gathers.
 *   Repairs go at their own pace (`bulk-pace.ts`).
 * - Every entry has its own result. What was not taken goes back and is folded with what came meanwhile; what never will be
 *   is logged and dropped, so that it blocks nothing.
 * - While nothing of a lane is taken, one batch at a time probes it, with a jittered and growing pause between. An entry
 *   that alone is at fault keeps nobody waiting but itself.
 *
 * Nothing is stored: what a killed process had not sent is found again by its successor's first list.
 */
import type { DirtyMarks, Mark } from '../../events/dirty-marks.ts';
import type { Lane } from '../../events/envelope.ts';
import { type ClusterName, formatResourceKey, type ResourceType } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { OutgoingMessage, Queue, SendResult } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError, cutText } from '../core/errors.ts';
import { BulkPace } from './bulk-pace.ts';
import { messageOf } from './message.ts';
import { QueueLevel } from './queue-level.ts';
import { SendLane, type Taken } from './send-lane.ts';

/** The cell whose marks are sent. */
export interface OutboxSource {
  readonly cluster: ClusterName;
  readonly type: ResourceType;
  readonly marks: DirtyMarks;
  /** Whether its cell has listed the kind once: until then, and until what it found is sent, repairs go at the pace of a start. */
  readonly hasListed: () => boolean;
  /** How many of its objects come due for a resync in a second, on average. */
  readonly resyncsPerSecond: () => number;
}

export interface OutboxOptions {
  readonly queue: Queue;
  readonly queueUrls: Readonly<Record<Lane, string>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for every entry whose result is known: for counters. */
  readonly onResult?: (source: OutboxSource, result: SendResult, lane: Lane) => void;
}

export interface Outbox {
  add(source: OutboxSource): void;
  /** Nothing more of it is sent; results still outstanding are told to its marks. */
  remove(source: OutboxSource): void;
  /** Something became dirty: the callback of {@link DirtyMarks}. */
  wake(): void;
  /**
   * Sends until the signal aborts; resolves then, once no call is outstanding. Rejects for a fault of our own only.
   *
   * @throws ConfigError where the queue says that it cannot be used as we are deployed
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Sends what is dirty on the live lane, at once and whatever pause was due; for a stopping process. Need not wait for `run` to
   * resolve. No repair is sent: the next start finds them again.
   *
   * @param withinMs milliseconds from now, after which the calls it made are aborted and what is outstanding counts as not sent
   * @returns        how many objects are left
   */
  drain(withinMs: number): Promise<number>;
  /** Objects not known to be in the queue: dirty, or being sent. */
  depth(): number;
}

interface Entry extends Taken {
  readonly message: OutgoingMessage;
}

/** An outbox that sends nothing until {@link Outbox.run} or {@link Outbox.drain} is called. */
export function createOutbox({ queue, queueUrls, clock, log, onResult = () => {} }: OutboxOptions): Outbox {
  const sources: OutboxSource[] = [];
  const pace = new BulkPace(new QueueLevel({ ask: (signal) => queue.depth(queueUrls.bulk, { signal }), log, onAnswer: wake }));
  const lanes: readonly [live: SendLane, bulk: SendLane] = [new SendLane('live', sources), new SendLane('bulk', sources, pace)];
  const outstanding = new Set<Promise<void>>();
  let woken = Promise.withResolvers<void>();
  let isDraining = false;
  /** A fault of our own, from a call that nobody awaits: whoever pumps throws it. */
  let fault: { readonly error: unknown } | undefined;

  const nowMs = (): number => clock.steadyMs();
  const openLanes = (): readonly SendLane[] => (isDraining ? lanes.slice(0, 1) : lanes);
  const depth = (): number => sources.reduce((sum, { marks }) => sum + marks.size + marks.inFlightCount, 0);

  function wake(): void {
    woken.resolve();
    woken = Promise.withResolvers();
  }

  function encode({ source, mark }: Taken): Entry | undefined {
    try {
      return { source, mark, message: messageOf(source.cluster, source.type, mark, clock) };
    } catch (error) {
      // One object that cannot be put into words must not stop the others.
      refuse(source, mark, { kind: 'refused', code: 'not-encodable', message: String(error) });
      return undefined;
    }
  }

  function refuse(source: OutboxSource, mark: Mark, result: SendResult & { readonly kind: 'refused' }): void {
    log.error('message refused for good; healing or a change of its object sends another', {
      key: formatResourceKey({ ...placeOf(mark), cluster: source.cluster, group: source.type.group, kind: source.type.kind }),
      uid: mark.uid,
      lane: mark.lane,
      code: result.code,
      cause: cutText(result.message),
    });
    forget(source, mark);
    source.marks.refused(mark);
    onResult(source, result, mark.lane);
  }

  /** An object that failed on one lane may leave on the other. */
  function forget(source: OutboxSource, { uid }: Mark): void {
    for (const { gate } of lanes) gate.forget(source, uid);
  }

  async function send(lane: SendLane, batch: readonly Entry[], signal: AbortSignal): Promise<void> {
    const ticket = lane.gate.ticket();
    const messages = batch.map(({ message }) => message);
    let results: readonly SendResult[];
    try {
      results = await queue.send(queueUrls[lane.name], messages, { signal });
    } catch (error) {
      // Nothing is known of any entry, and sending twice is the safe side.
      results = batch.map(() => ({ kind: 'retry', code: error instanceof Error ? error.name : 'thrown' }));
      settle(lane, batch, results, ticket);
      // No wait mends a wrong deployment. Anything else the port promises not to throw.
      if (error instanceof ConfigError) throw error;
      log.error('sending threw; all entries of the batch are sent again', { lane: lane.name, count: batch.length, error });
      return;
    }
    settle(lane, batch, results, ticket);
  }

  function settle({ gate, name: lane }: SendLane, batch: readonly Entry[], results: readonly SendResult[], ticket: number): void {
    // An entry that the answer does not mention was not accepted, as far as we know.
    const resultAt = (index: number): SendResult => results[index] ?? { kind: 'retry', code: 'no-result' };
    const takenCount = batch.filter((_, index) => resultAt(index).kind !== 'retry').length;
    const wasSilent = gate.isSilent;
    if (takenCount > 0) gate.succeeded();
    // A drain takes what waits at once: nothing but the lane's pause holds it back.
    else gate.failed(ticket, nowMs(), clock.random(), isDraining ? [] : batch);
    let failure: string | undefined;
    for (const [index, { source, mark }] of batch.entries()) {
      const result = resultAt(index);
      switch (result.kind) {
        case 'sent':
          forget(source, mark);
          source.marks.accepted(mark);
          onResult(source, result, lane);
          break;
        case 'refused':
          refuse(source, mark, result);
          break;
        case 'retry':
          failure ??= result.code;
          source.marks.returned(mark, gate.retryAtMs(source, mark.uid, takenCount > 0, nowMs(), clock.random()));
          onResult(source, result, lane);
          break;
      }
    }
    if (failure !== undefined) {
      const facts = { lane, code: failure, count: batch.length, takenCount, depth: depth() };
      log.warn('messages not taken by SQS now; they are sent again', facts);
    } else if (wasSilent) {
      log.info('SQS takes messages again', { lane, depth: depth() });
    }
  }

  /** Starts every call that may start now. */
  function startCalls(signal: AbortSignal): void {
    for (const lane of openLanes()) {
      while (lane.isOpen(nowMs())) {
        const taken = lane.take(nowMs(), isDraining ? Infinity : nowMs());
        if (taken.length === 0) break;
        const batch = taken.map(encode).filter((entry) => entry !== undefined);
        if (batch.length > 0) startCall(lane, batch, signal);
      }
    }
  }

  function startCall(lane: SendLane, batch: readonly Entry[], signal: AbortSignal): void {
    lane.callCount += 1;
    const call = send(lane, batch, signal)
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => {
        lane.callCount -= 1;
        outstanding.delete(call);
        wake();
      });
    outstanding.add(call);
  }

  /** When a call may start that may not start now; undefined where only a wake-up changes anything. */
  function nextStartMs(): number | undefined {
    const starts = openLanes()
      .map((lane) => lane.nextStartMs(nowMs(), isDraining))
      .filter((startMs) => startMs !== undefined);
    return starts.length === 0 ? undefined : Math.min(...starts);
  }

  /** Whether a draining outbox has done what it is for: what waits on the bulk lane stays. */
  function isDrained(): boolean {
    return lanes[0].isEmpty && outstanding.size === 0;
  }

  function throwFault(): void {
    if (fault === undefined) return;
    const { error } = fault;
    fault = undefined;
    throw error;
  }

  async function pump(stop: AbortSignal, calls: AbortSignal, isDone: () => boolean): Promise<void> {
    stop.addEventListener('abort', wake, { once: true });
    try {
      while (!stop.aborted) {
        throwFault();
        if (!isDraining) pace.look(sources, nowMs(), stop);
        startCalls(calls);
        if (isDone()) return;
        const alarm = new AbortController();
        const startMs = nextStartMs();
        const waits: Promise<void>[] = [woken.promise];
        if (startMs !== undefined) waits.push(clock.sleep(Math.max(1, startMs - nowMs()), alarm.signal));
        await Promise.race(waits).finally(() => alarm.abort());
      }
    } finally {
      stop.removeEventListener('abort', wake);
    }
  }

  return {
    add(source) {
      sources.push(source);
      wake();
    },
    remove(source) {
      const at = sources.indexOf(source);
      if (at < 0) return;
      sources.splice(at, 1);
      if (sources.every(({ cluster }) => cluster !== source.cluster)) pace.forget(source.cluster);
    },
    wake,
    depth,
    async run(signal) {
      // The calls get no signal: a call that is cut off may have been accepted, and would be sent twice.
      await pump(signal, new AbortController().signal, () => false);
      await Promise.all(outstanding);
      throwFault();
    },
    async drain(withinMs) {
      const deadline = new AbortController();
      const done = new AbortController();
      isDraining = true;
      for (const { gate } of lanes) gate.reset();
      const alarm = clock.sleep(withinMs, done.signal).then(() => deadline.abort());
      try {
        await pump(deadline.signal, deadline.signal, isDrained);
      } finally {
        done.abort();
        await alarm;
        isDraining = false;
      }
      return depth();
    },
  };
}

function placeOf(mark: Mark): { readonly name: string; readonly namespace?: string } {
  return mark.namespace === undefined ? { name: mark.name } : { name: mark.name, namespace: mark.namespace };
}
