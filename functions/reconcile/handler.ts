/**
 * The Lambda entry: wiring only. The environment is made inside the first invocation and not while the module loads, so that
 * a fault in the configuration fails invocations with a line that names it. Their messages go back to the queue, but not for
 * ever: each failed invocation is a receive, and after maxReceiveCount SQS moves them to the dead-letter queue as they are.
 */
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { reconcilers } from '../reconcilers/index.ts';
import { processBatch } from './batch.ts';
import { startEnvironment } from './environment.ts';
import { rememberSuccess } from './remember.ts';

const started = rememberSuccess(() => startEnvironment(process.env, reconcilers));

/** Answers a batch of SQS records with the partial batch response. */
export const handler = middy<SQSEvent, SQSBatchResponse>().handler(async (event, context) => {
  const environment = await started();
  return processBatch(event, { remainingMs: () => context.getRemainingTimeInMillis() }, await environment());
});
