/** Which records of a batch failed, by what the function answered: Lambda's rules for ReportBatchItemFailures on SQS. */
import type { InvocationResult } from '../function-host/invocation.ts';

/** `'all'`: none of the batch may be deleted. */
export type FailedIds = ReadonlySet<string> | 'all';

/**
 * - An error (thrown, time-out, an answer that is no JSON), or throttled: all failed.
 * - No answer, null, an empty text, an object without `batchItemFailures` or with null or an empty list there: none failed. A
 *   failure list wrapped in `{ statusCode, body }` or under a misspelt name is such an object: its failures are lost.
 * - A list of ids of this batch: those failed.
 * - One id that is empty, null, under another name, or not of this batch: all failed.
 * - Anything else, which the documentation does not name (a number, an array, a list that is none): all failed, so that
 *   nothing is deleted by accident.
 *
 * @param ids  the messageIds of the batch
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html, success and failure conditions
 */
export function failedIds(result: Outcome, ids: ReadonlySet<string>): FailedIds {
  if (result.kind !== 'answer') return 'all';
  const { payload } = result;
  if (payload === undefined || payload === null || payload === '') return new Set();
  if (typeof payload !== 'object' || Array.isArray(payload)) return 'all';
  const list = (payload as { batchItemFailures?: unknown }).batchItemFailures;
  if (list === undefined || list === null) return new Set();
  if (!Array.isArray(list)) return 'all';
  const failed = new Set<string>();
  for (const item of list as unknown[]) {
    const id = typeof item === 'object' && item !== null ? (item as { itemIdentifier?: unknown }).itemIdentifier : undefined;
    if (typeof id !== 'string' || !ids.has(id)) return 'all';
    failed.add(id);
  }
  return failed;
}

type Outcome = { readonly kind: 'error' | 'throttled' } | Pick<Extract<InvocationResult, { kind: 'answer' }>, 'kind' | 'payload'>;
