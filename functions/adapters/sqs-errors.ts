/** What SQS's refusals mean for the sender: later again, in smaller batches, or never. */
import { cutText } from '../core/errors.ts';
import type { SendResult } from './queue-port.ts';

/**
 * Codes that say "not now", whatever the entry's SenderFault says: throttling is often marked as the sender's fault, and
 * a key, a permission or a queue that is missing today may be there tomorrow, with the message unharmed.
 */
const PASSING = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'InternalError',
  'InternalFailure',
  'InvalidClientTokenId',
  'InvalidSecurity',
  'OverLimit',
  'QueueDeletedRecently',
  'QueueDoesNotExist',
  'RequestExpired',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ServiceUnavailable',
  'SignatureDoesNotMatch',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'UnrecognizedClientException',
]);

/** KmsThrottled, KmsDisabled, KMS.NotFoundException and their kind: the key's state, not the message's. */
const KEY_TROUBLE = /^Kms[A-Z.]|^KMS\./;

/**
 * Codes by which a whole request is refused for what one of its entries holds. Too long, or (not documented, but seen on
 * other implementations) a single bad entry: halves find it.
 */
const CONTENT = new Set([
  'BatchRequestTooLong',
  'InvalidAttributeValue',
  'InvalidMessageContents',
  'InvalidParameterValue',
  'MissingParameter',
  'SerializationException',
  'UnsupportedOperation',
]);

/** A code without `AWS.SimpleQueueService.`, which some endpoints put before it, and under its present name. */
export function errorCode(code: string): string {
  const bare = code.replace(/^AWS\.SimpleQueueService\./, '').replace(/^com\.amazonaws\.sqs#/, '');
  return bare === 'NonExistentQueue' ? 'QueueDoesNotExist' : bare;
}

/** The result of an entry in `Failed`: by its code first, by SenderFault where the code says nothing. */
export function resultOfFailure(failure: {
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
  readonly SenderFault?: boolean | undefined;
}): SendResult {
  const code = errorCode(failure.Code ?? 'no-code');
  if (failure.SenderFault !== true || PASSING.has(code) || KEY_TROUBLE.test(code)) return { kind: 'retry', code };
  return { kind: 'refused', code, message: cutText(failure.Message ?? '') };
}

/**
 * What an error of a whole request means.
 * - `content`: something in it is not acceptable; a smaller request may be
 * - `passing`: anything else: throttling, permissions, a missing queue, credentials, the network
 */
export type RequestFailure =
  | { readonly kind: 'content'; readonly code: string; readonly message: string }
  | { readonly kind: 'passing'; readonly code: string };

/** For anything that the SDK threw. The code is Node's (`ECONNREFUSED`) where there is one, else the error's name. */
export function requestFailure(error: unknown): RequestFailure {
  if (!(error instanceof Error)) return { kind: 'passing', code: 'unknown' };
  const code = errorCode('code' in error && typeof error.code === 'string' ? error.code : error.name);
  return CONTENT.has(code) ? { kind: 'content', code, message: cutText(error.message) } : { kind: 'passing', code };
}
