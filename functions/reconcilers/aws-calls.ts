/**
 * How a reconciler calls AWS: with a time limit of its own, and with what AWS says no to sorted into our errors. It knows no
 * SDK: clients come by `await import('@aws-sdk/...')`, so that a function which needs none at the moment loads none.
 */
import { awsCodeOf, isDenied, isThrottling } from '../core/aws-errors.ts';
import { TransientError } from '../core/errors.ts';
import { invalidPlan } from '../core/plan.ts';

/** Milliseconds that one call may take, retries of the SDK included. Three of them fit into the default record deadline. */
const CALL_TIMEOUT_MS = 4_000;

/** What a client needs so that its own retries fit into {@link CALL_TIMEOUT_MS}: `new SQSClient({ ...CLIENT_LIMITS })`. */
export const CLIENT_LIMITS = {
  maxAttempts: 2,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 1_800,
    throwOnRequestTimeout: true, // else the SDK only logs that the time is over, and waits on
  },
} as const;

/** The second argument of a client's `send`. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/**
 * What `send` resolves to, or what `expected` makes of the refusal of that code, without prefix and under its present name.
 *
 * @param operation  as IAM spells it: it is named in the remedy
 * @throws TransientError for what passes by itself, and as `forbidden` where rights or credentials are missing; TerminalError
 *   `invalid-plan` where AWS will not do this; the signal's reason at the deadline; anything that is no answer of AWS as it is.
 *   The SDK's own text stays in `cause`, which is never written anywhere.
 */
export async function callAws<Answer>(
  operation: string,
  signal: AbortSignal,
  send: (options: CallOptions) => Promise<Answer>,
  expected: Readonly<Record<string, (cause: unknown) => Answer>> = {},
): Promise<Answer> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const abortSignal = AbortSignal.any([signal, timeout]);
  try {
    return await Promise.race([send({ abortSignal }), whenAborted(abortSignal)]);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const awsCode = awsCodeOf(cause);
    const answer = Object.hasOwn(expected, awsCode) ? expected[awsCode] : undefined;
    if (answer !== undefined) return answer(cause);
    throw sorted(cause, timeout.aborted ? 'TimeoutError' : awsCode, operation);
  }
}

/** Credentials are fetched without the signal: the SDK alone might wait longer for them than we do. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function sorted(cause: unknown, awsCode: string, operation: string): unknown {
  const status = statusOf(cause);
  const options = { cause, facts: { operation, awsCode, ...(status === undefined ? {} : { httpStatus: status }) } };
  if (awsCode === 'TimeoutError') {
    return new TransientError('aws-timeout', 'AWS did not answer in time; tried again by itself', options);
  }
  if (isThrottling(awsCode) || status === 429) {
    return new TransientError('aws-throttled', 'AWS throttles the function; tried again by itself', options);
  }
  if (isDenied(awsCode) || status === 401 || status === 403) {
    return new TransientError('forbidden', "AWS forbids this; allow the operation in the policy of the function's role", options);
  }
  // What the SDK cannot parse is no answer of AWS.
  if (status !== undefined && status >= 400 && status < 500 && awsCode !== 'SyntaxError') {
    return invalidPlan('AWS refuses this; change the spec', options.facts);
  }
  if (!isOfSdk(cause)) return cause;
  return new TransientError('aws-unavailable', 'AWS cannot be reached, or answered with a fault; tried again by itself', options);
}

/** Only what came over the wire has a status; the SDK's retries leave `$metadata` on everything that they saw. */
function statusOf(error: unknown): number | undefined {
  const { $metadata: metadata } = Object(error) as { $metadata?: { httpStatusCode?: number } };
  return metadata?.httpStatusCode;
}

/** Else it is a fault of the code, or of its configuration, and no reason to try again for hours. */
function isOfSdk(error: unknown): boolean {
  return error instanceof Error && ('$metadata' in error || ('code' in error && /^E[A-Z]+/.test(String(error.code))));
}
