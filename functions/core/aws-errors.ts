/** What AWS calls its refusals, for whoever calls it: the queue's adapter and reconcilers alike. It knows no SDK. */

/** "Not now", whatever the status: SQS throttles with 403 where others do with 400 or 429. */
const THROTTLING = /Throttl|TooManyRequests|RequestLimitExceeded|OverLimit|SlowDown|LimitExceededException$/;
const DENIED =
  /AccessDenied|NotAuthorized|Unauthorized|ExpiredToken|RequestExpired|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSecurity|MissingAuthenticationToken|OptInRequired|CredentialsProviderError/;

/** Whether AWS says that there are too many calls, or too much under way, for now. */
export function isThrottling(code: string): boolean {
  return THROTTLING.test(code);
}

/** Whether rights or credentials are missing, or are not good any more. */
export function isDenied(code: string): boolean {
  return DENIED.test(code);
}

/** A code without the prefix that some endpoints put before it, and under its present name. */
export function bareAwsCode(code: string): string {
  const bare = code.replace(/^AWS\.SimpleQueueService\./, '').replace(/^com\.amazonaws\.\w+#/, '');
  // The name in the older of SQS's two protocols.
  return bare === 'NonExistentQueue' ? 'QueueDoesNotExist' : bare;
}

/** The code of anything that the SDK threw: Node's (`ECONNREFUSED`) where there is one, else the error's name. */
export function awsCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return bareAwsCode('code' in error && typeof error.code === 'string' ? error.code : error.name);
}
