/**
 * The event source mapping: it takes batches from one queue to the function, and deletes what did not fail. Lambda's rules for
 * SQS, with ReportBatchItemFailures on.
 *
 * - At most `maximumConcurrency` batches are at the function; a message is received only when there is room for it.
 * - What failed stays as it is and comes again when its visibility ends; that is all the retrying there is.
 * - At the end the last poll is not cut off, for endpoints hand the next message to a poll that nobody waits for: it ends by
 *   itself, running batches end, then `run` resolves.
 *
 * Left out: the batching window, filters, throttles, the slow start of Lambda's pollers.
 */
import { DeleteMessageBatchCommand, GetQueueAttributesCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { type Clock, systemClock } from '../../../functions/adapters/clock.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import type { InvokeOptions } from '../function-host/environment.ts';
import type { InvocationResult } from '../function-host/invocation.ts';
import type { Receiver } from '../receive.ts';
import { type FailedIds, failedIds } from './partial-batch.ts';
import { recordOf } from './record.ts';

/** Longest wait of a poll: what the end has to wait for. */
const POLL_WAIT_SECONDS = 1;

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
  /** 1 to 10; 10 if left out. Above 10 Lambda wants a batching window. */
  readonly batchSize?: number;
  /** Batches at the function at the same time; 1 or more. */
  readonly maximumConcurrency: number;
  readonly log: Log;
  readonly clock?: Clock;
  /** Told of every batch after the function answered and before anything is deleted. */
  readonly onBatch?: (batch: FinishedBatch) => void;
}

interface FinishedBatch {
  readonly records: readonly SQSRecord[];
  readonly result: InvocationResult;
  readonly failed: FailedIds;
}

export interface EventSource {
  /**
   * Runs until the signal, and then until what was received is finished. Faults of SQS are logged and waited out.
   *
   * @throws ConfigError `visibility-too-short` before anything is received, where Lambda would refuse the mapping
   */
  run(signal: AbortSignal): Promise<void>;
  /** `running`: batches at the function. `emptyPolls`: polls in a row that found nothing. */
  idle(): { readonly running: number; readonly emptyPolls: number };
}

/** @throws RangeError for a batch size or concurrency out of its bounds */
export function createEventSource(options: EventSourceOptions): EventSource {
  const { receiver, pool, queueUrl, maximumConcurrency, log, batchSize = 10, clock = systemClock } = options;
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > 10) throw new RangeError('batchSize is a whole number from 1 to 10');
  if (!Number.isInteger(maximumConcurrency) || maximumConcurrency < 1) throw new RangeError('maximumConcurrency is 1 or more');
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

  function begin(messages: readonly Message[]): void {
    const batch = handleBatch(options, messages)
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => running.delete(batch));
    running.add(batch);
  }

  return {
    idle: () => ({ running: running.size, emptyPolls }),
    async run(signal) {
      await persist('attributes', signal, () => checkVisibility(options, pool.timeoutMs));
      while (!signal.aborted && fault === undefined) {
        if (running.size >= maximumConcurrency) {
          await Promise.race(running);
          continue;
        }
        const request = { max: batchSize, waitSeconds: POLL_WAIT_SECONDS };
        const messages = (await persist('receive', signal, () => receiver.receive(request, signal))) ?? [];
        emptyPolls = messages.length === 0 ? emptyPolls + 1 : 0;
        if (messages.length > 0) begin(messages);
      }
      await Promise.all(running);
      if (fault !== undefined) throw fault.error;
    },
  };
}

async function checkVisibility({ client, queueUrl }: EventSourceOptions, timeoutMs: number): Promise<void> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['VisibilityTimeout'] });
  const visibilitySeconds = Number((await client.send(command)).Attributes?.['VisibilityTimeout']);
  const timeoutSeconds = timeoutMs / 1000;
  if (visibilitySeconds >= timeoutSeconds) return;
  throw new ConfigError(
    'visibility-too-short',
    `visibility of ${queueUrl} is ${visibilitySeconds} s, below the function's time-out of ${timeoutSeconds} s; set it to six times that`,
    { facts: { queueUrl, visibilitySeconds, timeoutSeconds } },
  );
}

async function handleBatch(options: EventSourceOptions, messages: readonly Message[]): Promise<void> {
  const { pool, queueArn, log, onBatch } = options;
  const records = messages.map((message) => recordOf(message, queueArn));
  // One trace goes on only where it is clear which: Lambda starts another for a batch of several.
  const traceId = records.length === 1 ? records[0]?.attributes.AWSTraceHeader : undefined;
  const result = await pool.invoke({ Records: records }, { traceId });
  if (result.kind === 'error')
    log.warn('function failed; its batch comes again', {
      errorType: result.error.errorType,
      errorMessage: cutText(result.error.errorMessage),
      records: records.length,
    });
  const failed = failedIds(result, new Set(records.map(({ messageId }) => messageId)));
  onBatch?.({ records, result, failed });
  if (failed !== 'all')
    await deleteRecords(
      options,
      records.filter(({ messageId }) => !failed.has(messageId)),
    );
}

/** What cannot be deleted comes again, as it may on AWS: the function is made for that. */
async function deleteRecords({ client, queueUrl, log }: EventSourceOptions, records: readonly SQSRecord[]): Promise<void> {
  if (records.length === 0) return;
  const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  try {
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    for (const { Id, Code, Message: text } of Failed) {
      const messageId = records[Number(Id)]?.messageId;
      log.error('message was not deleted; it comes again', { queueUrl, messageId, code: Code, error: cutText(text ?? '') });
    }
  } catch (error) {
    log.error('messages were not deleted; they come again', { queueUrl, records: records.length, ...factsOf(error) });
  }
}

/** Named so that none is the log's own `message`. */
function factsOf(error: unknown): { readonly code: string; readonly error: string } {
  if (!(error instanceof Error)) return { code: 'unknown', error: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, error: cutText(error.message) };
}
