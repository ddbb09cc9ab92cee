/**
 * Makes batches of what comes from a queue. A batch is complete with the first of: its number of records, the end of its window,
 * the bytes that an invocation may have.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html and the limits of its parameters, services-sqs-parameters.html
 */
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../../functions/adapters/clock.ts';
import type { Receiver } from '../receive.ts';

/** The request of an invocation is smaller than this, in bytes of JSON: Lambda's own refusal says so. Metadata of the records counts. */
export const INVOCATION_BYTES = 6_291_456;

/** Bytes of `{"Records":[]}`. */
const EMPTY_EVENT_BYTES = 14;

/** The most that one receive of SQS returns. */
const RECEIVE_MAX = 10;

/** Longest wait of a poll: what the end has to wait for, and how late after its window a batch may be. */
const POLL_WAIT_SECONDS = 1;

interface BatchLimits {
  /** 1 to 10,000; above 10 only with a window. */
  readonly batchSize: number;
  /** MaximumBatchingWindowInSeconds: 0 to 300. 0: a batch is what one poll finds. */
  readonly windowSeconds: number;
}

/** @throws RangeError where Lambda would refuse the mapping; osls and cfn-lint accept a size of 11 without a window. */
function checkBatchLimits({ batchSize, windowSeconds }: BatchLimits): void {
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > 10_000)
    throw new RangeError('batchSize is a whole number from 1 to 10,000');
  if (!Number.isInteger(windowSeconds) || windowSeconds < 0 || windowSeconds > 300)
    throw new RangeError('windowSeconds is a whole number from 0 to 300');
  if (batchSize > 10 && windowSeconds === 0) throw new RangeError('a batchSize above 10 needs a windowSeconds of 1 or more');
}

export interface Gatherer {
  /** Records that were received and are in no batch yet. */
  readonly heldCount: number;
  /**
   * The next batch. None when a poll found nothing and nothing is held. The window begins with the first record; the signal ends it,
   * and then nothing more is received. What does not fit by its bytes is held and begins the next batch.
   *
   * @throws what the receiver throws; while records are held these come first, as a batch, and the next call throws
   */
  next(signal: AbortSignal): Promise<readonly SQSRecord[]>;
}

interface Held {
  readonly record: SQSRecord;
  readonly bytes: number;
  readonly receivedAtMs: number;
}

export interface GathererOptions extends BatchLimits {
  readonly receiver: Receiver;
  readonly toRecord: (message: Message) => SQSRecord;
  readonly clock: Clock;
}

/** @throws RangeError for limits that Lambda would refuse */
export function createGatherer(options: GathererOptions): Gatherer {
  const { receiver, toRecord, batchSize, windowSeconds, clock } = options;
  checkBatchLimits(options);
  const held: Held[] = [];
  let fault: { readonly error: unknown } | undefined;

  const take = (count: number): SQSRecord[] => held.splice(0, count).map(({ record }) => record);
  const isWindowOver = (): boolean => held[0] !== undefined && clock.steadyMs() - held[0].receivedAtMs >= windowSeconds * 1000;

  async function receive(signal: AbortSignal): Promise<number> {
    const max = Math.min(RECEIVE_MAX, batchSize - held.length);
    const messages = await receiver.receive({ max, waitSeconds: POLL_WAIT_SECONDS }, signal);
    const receivedAtMs = clock.steadyMs();
    for (const message of messages) {
      const record = toRecord(message);
      held.push({ record, bytes: Buffer.byteLength(JSON.stringify(record)), receivedAtMs });
    }
    return messages.length;
  }

  return {
    get heldCount() {
      return held.length;
    },
    async next(signal) {
      if (fault !== undefined) {
        const { error } = fault;
        fault = undefined;
        throw error;
      }
      for (;;) {
        const count = fittingCount(held, batchSize);
        if (count < held.length || count === batchSize || signal.aborted || isWindowOver()) return take(count);
        try {
          if ((await receive(signal)) === 0 && held.length === 0) return [];
        } catch (error) {
          if (held.length === 0) throw error;
          fault = { error };
          return take(count);
        }
      }
    },
  };
}

/** How many of the first make a batch. One too large by itself makes one too: the function has to say what it thinks of it. */
function fittingCount(held: readonly Held[], batchSize: number): number {
  let bytes = EMPTY_EVENT_BYTES;
  const most = Math.min(held.length, batchSize);
  for (let count = 0; count < most; count += 1) {
    bytes += (held[count] as Held).bytes + (count === 0 ? 0 : 1); // a comma between two
    if (bytes >= INVOCATION_BYTES) return Math.max(1, count);
  }
  return most;
}
