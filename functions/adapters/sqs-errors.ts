/** What SQS's refusals mean for the sender: later again, in smaller batches, or never. */
import { awsCodeOf, bareAwsCode, isDenied, isThrottling } from '../core/aws-errors.ts';
import { cutText } from '../core/errors.ts';
import type { SendResult } from './queue-port.ts';

/**
 * Codes that say "not now" besides throttling and missing rights: a fault of SQS, or a queue that is missing today and may be
 * there tomorrow, with the message unharmed.
 */
const PASSING = new Set(['InternalError', 'InternalFailure', 'QueueDeletedRecently', 'QueueDoesNotExist', 'ServiceUnavailable']);

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

/** "Not now", whatever the entry's SenderFault says: throttling is often marked as the sender's fault. */
function isPassing(code: string): boolean {
  return isThrottling(code) || isDenied(code) || PASSING.has(code) || KEY_TROUBLE.test(code);
}

/** The result of an entry in `Failed`: by its code first, by SenderFault where the code says nothing. */
export function resultOfFailure(failure: {
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
  readonly SenderFault?: boolean | undefined;
}): SendResult {
  const code = bareAwsCode(failure.Code ?? 'no-code');
  if (failure.SenderFault !== true || isPassing(code)) return { kind: 'retry', code };
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

/** For anything that the SDK threw. */
export function requestFailure(error: unknown): RequestFailure {
  const code = awsCodeOf(error);
  return error instanceof Error && CONTENT.has(code)
    ? { kind: 'content', code, message: cutText(error.message) }
    : { kind: 'passing', code };
}
