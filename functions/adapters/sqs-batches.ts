/** How messages become batches that SQS takes: at most ten entries, and at most 1 MiB for all of them together. */
import type { OutgoingMessage } from './queue-port.ts';

/** Entries that one SendMessageBatch may hold. @see SQS quotas, message batch */
export const BATCH_MAX_COUNT = 10;

/** Bytes that the entries of one batch may have together, and a single message as well. @see SQS quotas, message size */
export const BATCH_MAX_BYTES = 1_048_576;

/** The data type of every attribute we send; its name counts to the size. */
export const ATTRIBUTE_TYPE = 'String';

/**
 * Bytes of a message as SQS counts them: body, and name, type and value of every attribute, all in UTF-8. Delay and
 * group id do not count.
 *
 * @see SQS quotas, message size: "the message size includes ... message attributes"
 */
export function messageBytes(message: OutgoingMessage): number {
  let bytes = Buffer.byteLength(message.body);
  for (const [name, value] of Object.entries(message.attributes ?? {})) {
    bytes += Buffer.byteLength(name) + ATTRIBUTE_TYPE.length + Buffer.byteLength(value);
  }
  return bytes;
}

/**
 * The indexes of `messages` in batches, in order. A message over the limit gets a batch of its own: SQS says no to that
 * one and to no other.
 */
export function splitIntoBatches(messages: readonly OutgoingMessage[]): number[][] {
  const batches: number[][] = [];
  let batch: number[] = [];
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    const size = messageBytes(message);
    if (batch.length > 0 && (batch.length === BATCH_MAX_COUNT || bytes + size > BATCH_MAX_BYTES)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(index);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
