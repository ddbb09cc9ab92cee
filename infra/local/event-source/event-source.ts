/**
 * The event source mapping: it takes batches from one queue to the function, and deletes what did not fail. Lambda's rules for
 * SQS, with ReportBatchItemFailures on.
 *
 * - At most `maximumConcurrency` batches are at the function; a message is received only when there is room for it.
 * - What failed stays as it is and comes again when its visibility ends; that is all the retrying there is. So does what was
 *   throttled, where a mapping's maximum concurrency is above what the function may use: no code ran, but the receive counts, and
 *   enough of these make a dead letter that no function ever saw.
 * - At the end the last poll is not cut off, for endpoints hand the next message to a poll that nobody waits for: it ends by
 *   itself, what it found is handed out, running batches end, then `run` resolves.
 *
 * Left out: filters, the slow start of Lambda's pollers and that they slow down when they are throttled.
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { type Clock, systemClock } from '../../../functions/adapters/clock.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import type { InvokeOptions } from '../function-host/environment.ts';
import type { InvocationResult } from '../function-host/invocation.ts';
import type { Receiver } from '../receive.ts';
import { createGatherer } from './gatherer.ts';
import { type FailedIds, failedIds } from './partial-batch.ts';
import { checkVisibility, deleteRecords, factsOf } from './queue-calls.ts';
import { recordOf } from './record.ts';

/** After a receive that failed: 1 s, doubling to this. */
const BACKOFF_MAX_MS = 30_000;

/** What the mapping needs of a function; a Pool is one. */
export interface EventFunction {
  readonly timeoutMs: number;
  invoke(event: SQSEvent, options?: InvokeOptions): Promise<InvocationResult>;
}

export interface EventSourceOptions {
  readonly receiver: Receiver;
  /** For what is not receiving: attributes of the queue, and deletes. */
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly pool: EventFunction;
  /** 1 to 10,000; 10 if left out. Above 10 only with a window. */
  readonly batchSize?: number;
  /** How long a batch may gather, from its first message: 0 to 300; 0 if left out. */
  readonly windowSeconds?: number;
  /** Batches at the function at the same time; 1 or more. */
  readonly maximumConcurrency: number;
  readonly log: Log;
  readonly clock?: Clock;
  /** Told of every batch after the function answered, or did not take it, and before anything is deleted. */
  readonly onBatch?: (batch: FinishedBatch) => void;
}

interface FinishedBatch {
  readonly records: readonly SQSRecord[];
  readonly result: InvocationResult;
  readonly failed: FailedIds;
}

export interface EventSource {
  /**
   * Asks whether the queue suits the function, and receives nothing. To be done before `run`. Faults of SQS are logged and waited out.
   *
   * @throws ConfigError `visibility-too-short` where Lambda would refuse the mapping
   */
  check(signal: AbortSignal): Promise<void>;
  /** Runs until the signal, and then until what was received is finished. Faults of SQS are logged and waited out. */
  run(signal: AbortSignal): Promise<void>;
  /** `running`: batches at the function. `emptyPolls`: polls in a row that found nothing; 0 while a batch gathers. */
  idle(): { readonly running: number; readonly emptyPolls: number };
}

/** @throws RangeError for a batch size, window or concurrency that Lambda would refuse (but here, a concurrency of 1 is allowed) */
export function createEventSource(options: EventSourceOptions): EventSource {
  const { receiver, pool, queueUrl, queueArn, maximumConcurrency, log, batchSize = 10, windowSeconds = 0, clock = systemClock } = options;
  if (!Number.isInteger(maximumConcurrency) || maximumConcurrency < 1) throw new RangeError('maximumConcurrency is 1 or more');
  const gatherer = createGatherer({ receiver, toRecord: (message) => recordOf(message, queueArn), batchSize, windowSeconds, clock });
  const running = new Set<Promise<void>>();
  let emptyPolls = 0;
  let fault: { readonly error: unknown } | undefined;

  /** What `ask` answers; while SQS does not, waits and asks again. Undefined when the signal came. */
  async function persist<T>(what: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T | undefined> {
    for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(2 * waitMs, BACKOFF_MAX_MS)) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof ConfigError) throw error;
        log.error('queue does not answer; trying again', { what, queueUrl, ...factsOf(error), waitMs });
        await clock.sleep(waitMs * (0.5 + clock.random() / 2), signal);
      }
    }
    return undefined;
  }

  function begin(records: readonly SQSRecord[]): void {
    const batch = handleBatch(options, records)
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => running.delete(batch));
    running.add(batch);
  }

  return {
    idle: () => ({ running: running.size, emptyPolls: gatherer.heldCount > 0 ? 0 : emptyPolls }),
    check: (signal) => persist('attributes', signal, () => checkVisibility(options, pool.timeoutMs, windowSeconds)),
    async run(signal) {
      while (fault === undefined && (!signal.aborted || gatherer.heldCount > 0)) {
        if (running.size >= maximumConcurrency) {
          await Promise.race(running);
          continue;
        }
        const next = (): Promise<readonly SQSRecord[]> => gatherer.next(signal);
        const records = signal.aborted ? await next() : ((await persist('receive', signal, next)) ?? []);
        emptyPolls = records.length === 0 ? emptyPolls + 1 : 0;
        if (records.length > 0) begin(records);
      }
      await Promise.all(running);
      if (fault !== undefined) throw fault.error;
    },
  };
}

async function handleBatch(options: EventSourceOptions, records: readonly SQSRecord[]): Promise<void> {
  const { pool, queueUrl, log, onBatch } = options;
  // One trace goes on only where it is clear which: Lambda starts another for a batch of several.
  const traceId = records.length === 1 ? records[0]?.attributes.AWSTraceHeader : undefined;
  const result = await pool.invoke({ Records: [...records] }, { traceId });
  switch (result.kind) {
    case 'answer':
      break;
    case 'error':
      log.warn('function failed; its batch comes again', {
        errorType: result.error.errorType,
        errorMessage: cutText(result.error.errorMessage),
        records: records.length,
      });
      break;
    case 'throttled':
      // On AWS nothing says so but the metric Throttles.
      log.warn('function was throttled; its batch comes again and the receive counts; lower the maximum concurrency of its queues', {
        queueUrl,
        records: records.length,
        reservedConcurrency: result.reservedConcurrency,
      });
      break;
  }
  const failed = failedIds(result, new Set(records.map(({ messageId }) => messageId)));
  onBatch?.({ records, result, failed });
  if (failed !== 'all')
    await deleteRecords(
      options,
      records.filter(({ messageId }) => !failed.has(messageId)),
    );
}
