/**
 * Sends what is dirty: from the marks of every cell to the queues.
 *
 * - Fair: each batch begins with the next source in turn and is filled up from those after it, so that a source with a huge
 *   backlog costs another one at most one batch. Each lane has its own calls, so that neither holds up the other.
 * - At once: a batch leaves as soon as something is dirty and a call is free; what comes while all calls are busy gathers.
 * - Every entry has its own result. What was not taken goes back and is folded with what came meanwhile; what never will be
 *   is logged and dropped, so that it blocks nothing.
 * - While nothing of a lane is taken, one batch at a time probes it, with a jittered and growing pause between.
 *
 * Nothing is stored: what a killed process had not sent is found again by its successor's first list.
 */
import type { DirtyMarks, Mark } from '../../events/dirty-marks.ts';
import type { Lane } from '../../events/envelope.ts';
import { type ClusterName, formatResourceKey, type ResourceType } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { OutgoingMessage, Queue, SendResult } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { cutText } from '../core/errors.ts';
import { messageOf } from './message.ts';
import { SendGate } from './send-gate.ts';

/** The cell whose marks are sent. */
export interface OutboxSource {
  readonly cluster: ClusterName;
  readonly type: ResourceType;
  readonly marks: DirtyMarks;
}

export interface OutboxOptions {
  readonly queue: Queue;
  readonly queueUrls: Readonly<Record<Lane, string>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly sources?: readonly OutboxSource[];
  /** Called for every entry whose result is known: for counters. */
  readonly onResult?: (source: OutboxSource, result: SendResult, lane: Lane) => void;
}

export interface Outbox {
  add(source: OutboxSource): void;
  /** Nothing more of it is sent; results still outstanding are told to its marks. */
  remove(source: OutboxSource): void;
  /** Something became dirty: the callback of {@link DirtyMarks}. */
  wake(): void;
  /** Sends until the signal aborts; resolves then, once no call is outstanding. Rejects for a fault of our own only. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Sends all that is dirty, at once and whatever pause was due; for a stopping process. Need not wait for `run` to resolve.
   *
   * @param withinMs milliseconds from now, after which the calls it made are aborted and what is outstanding counts as not sent
   * @returns        how many objects are left
   */
  drain(withinMs: number): Promise<number>;
  /** Objects not known to be in the queue: dirty, or being sent. */
  depth(): number;
}

/** Entries a call: what one SendMessageBatch takes. */
const BATCH_MAX = 10;
/** Calls under way at once, for each lane. */
const CALLS_MAX = 4;

interface Entry {
  readonly source: OutboxSource;
  readonly mark: Mark;
  readonly message: OutgoingMessage;
}

interface LaneState {
  readonly lane: Lane;
  readonly gate: SendGate;
  calls: number;
  /** Index of the source whose turn it is. */
  turn: number;
}

/** An outbox that sends nothing until {@link Outbox.run} or {@link Outbox.drain} is called. */
export function createOutbox({ queue, queueUrls, clock, log, sources: initial = [], onResult = () => {} }: OutboxOptions): Outbox {
  const sources: OutboxSource[] = [...initial];
  const lanes: readonly LaneState[] = (['live', 'bulk'] as const).map((lane) => ({ lane, gate: new SendGate(), calls: 0, turn: 0 }));
  const outstanding = new Set<Promise<void>>();
  let woken = Promise.withResolvers<void>();
  let isDraining = false;
  /** A fault of our own, from a call that nobody awaits: whoever pumps throws it. */
  let fault: { readonly error: unknown } | undefined;

  const nowMs = (): number => clock.now().getTime();
  const depth = (): number => sources.reduce((sum, { marks }) => sum + marks.size + marks.inFlightCount, 0);

  function wake(): void {
    woken.resolve();
    woken = Promise.withResolvers();
  }

  /** Whether a call may start now. While the lane's queue takes nothing, one call at a time. */
  function isOpen({ gate, calls }: LaneState): boolean {
    return calls < (gate.isProbing ? 1 : CALLS_MAX) && gate.notBeforeMs <= nowMs();
  }

  function takeBatch(state: LaneState): Entry[] {
    const batch: Entry[] = [];
    const count = sources.length;
    for (let step = 0; step < count && batch.length < BATCH_MAX; step += 1) {
      const source = sources[(state.turn + step) % count] as OutboxSource;
      for (const mark of source.marks.take(BATCH_MAX - batch.length, isDraining ? Infinity : nowMs(), state.lane)) {
        const message = encode(source, mark);
        if (message !== undefined) batch.push({ source, mark, message });
      }
    }
    state.turn = count === 0 ? 0 : (state.turn + 1) % count;
    return batch;
  }

  function encode(source: OutboxSource, mark: Mark): OutgoingMessage | undefined {
    try {
      return messageOf(source.cluster, source.type, mark, clock);
    } catch (error) {
      // One object that cannot be put into words must not stop the others.
      refuse(source, mark, { kind: 'refused', code: 'not-encodable', message: String(error) });
      return undefined;
    }
  }

  function refuse(source: OutboxSource, mark: Mark, result: SendResult & { readonly kind: 'refused' }): void {
    log.error('message refused for good; its object stays unsettled until it changes', {
      key: formatResourceKey({ ...placeOf(mark), cluster: source.cluster, group: source.type.group, kind: source.type.kind }),
      uid: mark.uid,
      lane: mark.lane,
      code: result.code,
      cause: cutText(result.message),
    });
    source.marks.refused(mark);
    onResult(source, result, mark.lane);
  }

  async function send(state: LaneState, batch: readonly Entry[], signal: AbortSignal): Promise<void> {
    const ticket = state.gate.ticket();
    let results: readonly SendResult[];
    try {
      const messages = batch.map((entry) => entry.message);
      results = await queue.send(queueUrls[state.lane], messages, { signal });
    } catch (error) {
      // The port promises not to throw. If it does, nothing is known of any entry, and sending twice is the safe side.
      results = batch.map(() => ({ kind: 'retry', code: error instanceof Error ? error.name : 'thrown' }));
      log.error('sending threw; all entries of the batch are sent again', { lane: state.lane, count: batch.length, error });
    }
    settle(state, batch, results, ticket);
  }

  function settle(state: LaneState, batch: readonly Entry[], results: readonly SendResult[], ticket: number): void {
    const { gate, lane } = state;
    // An entry that the answer does not mention was not accepted, as far as we know.
    const resultAt = (index: number): SendResult => results[index] ?? { kind: 'retry', code: 'no-result' };
    const takenCount = batch.filter((_, index) => resultAt(index).kind !== 'retry').length;
    const wasProbing = gate.isProbing;
    if (takenCount > 0) gate.succeeded();
    else gate.failed(ticket, nowMs(), clock.random());
    let failure: string | undefined;
    for (const [index, { source, mark }] of batch.entries()) {
      const result = resultAt(index);
      switch (result.kind) {
        case 'sent':
          gate.forget(mark.uid);
          source.marks.accepted(mark);
          onResult(source, result, lane);
          break;
        case 'refused':
          gate.forget(mark.uid);
          refuse(source, mark, result);
          break;
        case 'retry':
          failure ??= result.code;
          source.marks.returned(mark, gate.retryAtMs(mark.uid, takenCount > 0, nowMs(), clock.random()));
          onResult(source, result, lane);
          break;
      }
    }
    if (failure !== undefined) {
      const facts = { lane, code: failure, count: batch.length, takenCount, depth: depth() };
      log.warn('messages not taken by SQS now; they are sent again', facts);
    } else if (wasProbing) {
      log.info('SQS takes messages again', { lane, depth: depth() });
    }
  }

  /** Starts every call that may start now. */
  function startCalls(signal: AbortSignal): void {
    for (const state of lanes) {
      while (isOpen(state)) {
        const batch = takeBatch(state);
        if (batch.length === 0) break;
        state.calls += 1;
        const call = send(state, batch, signal)
          .catch((error: unknown) => {
            fault ??= { error };
          })
          .finally(() => {
            state.calls -= 1;
            outstanding.delete(call);
            wake();
          });
        outstanding.add(call);
      }
    }
  }

  /** When a call may start that may not start now; undefined where only a wake-up changes anything. */
  function nextStartMs(): number | undefined {
    let next: number | undefined;
    for (const { lane, gate, calls } of lanes) {
      if (calls >= (gate.isProbing ? 1 : CALLS_MAX)) continue;
      for (const { marks } of sources) {
        const takableMs = marks.nextAtMs(lane);
        if (takableMs === undefined) continue;
        const startMs = Math.max(isDraining ? 0 : takableMs, gate.notBeforeMs);
        if (next === undefined || startMs < next) next = startMs;
      }
    }
    return next;
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
      for (const { gate } of lanes) gate.forgetAll();
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
      await pump(deadline.signal, deadline.signal, () => depth() === 0);
      done.abort();
      await alarm;
      isDraining = false;
      return depth();
    },
  };
}

function placeOf(mark: Mark): { readonly name: string; readonly namespace?: string } {
  return mark.namespace === undefined ? { name: mark.name } : { name: mark.name, namespace: mark.namespace };
}
