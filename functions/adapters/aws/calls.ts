/** How calls to AWS are bounded, and what is said of one that failed. */
import { awsCodeOf } from '../../core/aws-errors.ts';
import { isAbsentInAws, type Untold } from '../../core/doctor/finding.ts';
import { ConfigError, cutText, type ErrorFacts } from '../../core/errors.ts';

/** Limits of one call, for every client: milliseconds to a connection and to an attempt's answer, and attempts. */
export const CLIENT_LIMITS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;

/** What to do about the errors that people meet; the rest is said as AWS says it. */
const REMEDIES: readonly (readonly [name: RegExp, remedy: string])[] = [
  [/^(AccessDenied|UnauthorizedAccess|NotAuthorized)/, 'grant it'],
  [/NotFound/, 'look at name, account and region'],
  [/^(CredentialsProviderError|InvalidClientTokenId|UnrecognizedClient|ExpiredToken)/, 'look at the AWS credentials of this process'],
  [/^(TimeoutError|ECONN|ENOTFOUND|EAI_AGAIN|NetworkingError)/, 'look at the way to AWS: in a VPC, at its endpoints'],
];

/**
 * A fault that says what was asked, AWS's own word on it, and what to do. AWS's messages name principals and resources, never
 * what is stored.
 *
 * @param what  what was asked for and in vain: `ssm:/east: cannot be read`
 */
export function awsFault(what: string, error: unknown, facts: ErrorFacts = {}): ConfigError {
  // Ours: there was no call.
  if (error instanceof ConfigError) return new ConfigError(error.code, `${what}: ${error.message}`, { cause: error, facts });
  const { name, message, code } = nameAndMessage(error);
  const remedy = REMEDIES.find(([pattern]) => pattern.test(name) || pattern.test(code))?.[1];
  return new ConfigError(
    'aws-refused',
    `${what}: ${cutText(isSilent(message) ? name : `${name}: ${message}`)}${remedy === undefined ? '' : `; ${remedy}`}`,
    {
      cause: error,
      facts,
    },
  );
}

/** A proxy's page, or another program at the endpoint. The words of who could not parse it are not repeated: they quote it. */
export function strangeAnswer(): ConfigError {
  return new ConfigError('bad-answer', 'the answer is not what AWS sends; look at AWS_ENDPOINT_URL, and for a proxy on the way');
}

/** Nothing, or the SDK's word for nothing, which it puts where AWS says no more than a code. */
function isSilent(message: string): boolean {
  return message === '' || message === 'UnknownError';
}

function nameAndMessage(error: unknown): { readonly name: string; readonly message: string; readonly code: string } {
  if (error instanceof SyntaxError) return { name: 'bad-answer', message: strangeAnswer().message, code: '' };
  const { name = 'Error', message = '', code = '' } = error as { name?: string; message?: string; code?: string };
  // Of several addresses that all refused, Node says only that by the code.
  return { name: name === 'AggregateError' ? code : name, message: (message || code).replace(/\s+/g, ' '), code };
}

/** AWS's word for what it, or the SDK, threw. */
export function awsUntold(error: unknown): Untold {
  if (error instanceof SyntaxError) return awsUntold(strangeAnswer());
  const message = error instanceof Error ? error.message : '';
  const code = error instanceof ConfigError ? error.code : /^Region is missing/.test(message) ? 'region-missing' : awsCodeOf(error);
  const says = error instanceof ConfigError ? message : `${code}: ${cutText((message || 'no answer').replace(/\s+/g, ' '))}`;
  return { kind: 'untold', code, says, ...(isAbsentInAws(code) ? {} : { by: 'aws' }) };
}
