/**
 * What a refusal of the API server means. Decided by HTTP status, media type, `reason` and `details`, never by the text,
 * save for the final 500s, which have nothing else. Verified against kube-apiserver 1.36.
 */
import type { ObjectAddress, ResourceType } from '../../../events/resource.ts';
import { ConflictError, cutText, type DogwatchError, type ErrorFacts, TerminalError, TransientError } from '../../core/errors.ts';
import type { Answer } from './transport.ts';

/** What was asked, for the meaning of a 409 and for the facts of an error. */
export interface RequestContext {
  readonly verb: 'get' | 'list' | 'watch' | 'apply' | 'apply-status' | 'patch' | 'delete' | 'create';
  readonly type: Pick<ResourceType, 'kind' | 'plural'>;
  readonly at?: Partial<ObjectAddress> | undefined;
  /** What the request demanded of the stored object. */
  readonly guard?: { readonly uid?: boolean; readonly resourceVersion?: boolean } | undefined;
}

/** A Status object as far as we read it. */
export interface StatusBody {
  readonly reason: string | undefined;
  readonly message: string;
  readonly code: number | undefined;
  readonly detailsKind: string | undefined;
  readonly causes: readonly { readonly reason: string | undefined; readonly field: string | undefined }[];
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Starts of the messages of 500s that come again however often one asks; they have no reason. The last one is the gRPC
 * client of the API server refusing what etcd would refuse.
 */
const FINAL_500 = [
  'failed to create typed patch object',
  'etcdserver: request is too large',
  'resourceVersion: Invalid value',
  'rpc error: code = ResourceExhausted desc = trying to send message larger than max',
];

/** Longest Retry-After that is believed, in seconds. */
const RETRY_AFTER_MAX_SECONDS = 3600;

/** True for a 404 that says the object is not there; a plain-text 404 says that the kind is not served. */
export function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && parseStatus(answer.text)?.reason === 'NotFound';
}

/** The error of an answer that is not 2xx (a 404 that means "absent" is the caller's to take out first). */
export function errorOf(answer: Answer, context: RequestContext, nowMs: number): DogwatchError {
  const status = parseStatus(answer.text);
  const retryAfterSeconds = retryAfterOf(answer.headers['retry-after'], nowMs) ?? status?.retryAfterSeconds;
  const facts = factsOf(answer, status, context);
  const transient = (code: string, message: string) => new TransientError(code, message, { facts, retryAfterSeconds });
  switch (answer.status) {
    case 401:
      return transient('unauthorized', 'the API server does not accept our credentials; renew them');
    case 403:
      return status?.causes.some(({ reason }) => reason === 'NamespaceTerminating')
        ? transient('namespace-terminating', 'the namespace is being deleted; this passes once it is gone')
        : transient('forbidden', 'the API server forbids this; grant the right or lift the quota');
    case 404:
      if (status === undefined) return transient('not-served', 'the cluster does not serve this kind; install its CRD');
      if (status.detailsKind === 'namespaces' && context.type.plural !== 'namespaces') {
        return transient('namespace-missing', 'the namespace does not exist; this passes once it is created');
      }
      return transient('server-error', 'the API server answered 404 where no object was asked for');
    case 409:
      return conflictOf(status, context, facts, transient);
    case 410:
      return transient('expired', 'the position or list token is too old; list anew');
    case 422:
      return isUidRefusal(status, context)
        ? new ConflictError('uid-conflict', 'another object has the name now; read it again', { facts })
        : new TerminalError('invalid', 'the API server finds the object invalid; mend what it names', { facts });
    case 429:
      return transient('throttled', 'the API server has too many requests; wait');
    case 408:
      return transient('server-error', 'the API server or a proxy gave up waiting; wait');
    case 504:
      return status?.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')
        ? transient('resource-version-too-large', 'the API server has not reached the resourceVersion; wait, then read without it')
        : transient('server-error', 'the API server did not answer a proxy in time; wait');
    default:
  }
  if (
    answer.status === 500 &&
    status !== undefined &&
    status.reason === undefined &&
    FINAL_500.some((start) => status.message.startsWith(start))
  ) {
    return new TerminalError('final-server-error', 'the API server cannot take this object in any attempt; mend what it names', { facts });
  }
  if (answer.status >= 400 && answer.status < 500) {
    return new TerminalError('bad-request', 'the API server refuses the request as such; this is a fault of Dogwatch or its Plan', {
      facts,
    });
  }
  return transient('server-error', 'the API server failed; this may pass by itself');
}

/**
 * The shapes of a 409: field managers by their causes; the rest differs only by what was demanded. Where both uid and
 * resourceVersion were, the answer does not tell which failed, and reading again does.
 */
function conflictOf(
  status: StatusBody | undefined,
  { guard }: RequestContext,
  facts: ErrorFacts,
  transient: (code: string, message: string) => TransientError,
): DogwatchError {
  if (status?.causes.some(({ reason }) => reason === 'FieldManagerConflict')) {
    return new ConflictError('field-manager-conflict', 'another field manager owns a field that we want; force or leave it', { facts });
  }
  if (status?.reason === 'AlreadyExists' || (guard?.uid && !guard.resourceVersion)) {
    return new ConflictError('uid-conflict', 'another object has the name, or none; read it again', { facts });
  }
  if (guard?.resourceVersion) {
    return new ConflictError('resource-version-conflict', 'the object has changed since it was read; read it again', { facts });
  }
  return transient('server-error', 'the API server lost a race against itself although nothing was demanded; try again');
}

/** uid is immutable: a body with another object's is answered 422 at that field. */
function isUidRefusal(status: StatusBody | undefined, { guard }: RequestContext): boolean {
  const causes = status?.causes ?? [];
  return guard?.uid === true && causes.length > 0 && causes.every(({ field }) => field === 'metadata.uid');
}

function factsOf(answer: Answer, status: StatusBody | undefined, { verb, type, at }: RequestContext): ErrorFacts {
  // A message may repeat values of the object; those of a Secret are nobody's business.
  const serverMessage = type.kind === 'Secret' ? undefined : (status?.message ?? plainText(answer));
  return {
    httpStatus: answer.status,
    ...(status?.reason === undefined ? {} : { httpReason: status.reason }),
    verb,
    kind: type.kind,
    ...(at?.namespace === undefined ? {} : { namespace: at.namespace }),
    ...(at?.name === undefined ? {} : { name: at.name }),
    ...(serverMessage === undefined ? {} : { serverMessage: cutText(serverMessage) }),
  };
}

/** The API server's plain-text refusals are constant sentences; any other body is not quoted. */
function plainText(answer: Answer): string | undefined {
  return answer.headers['content-type']?.startsWith('text/plain') ? answer.text.trim() : undefined;
}

/** The Status in a body, or undefined where there is none. */
export function parseStatus(text: string): StatusBody | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return statusOf(JSON.parse(text));
  } catch {
    return undefined; // A body that is not JSON is no Status: that is the answer, not a fault.
  }
}

/** The value as a Status, or undefined if its kind is another. */
export function statusOf(value: unknown): StatusBody | undefined {
  const body = record(value);
  if (body['kind'] !== 'Status') return undefined;
  const details = record(body['details']);
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  return {
    reason: textOf(body['reason']),
    message: textOf(body['message']) ?? '',
    code: numberOf(body['code']),
    detailsKind: textOf(details['kind']),
    causes: causes.map(record).map(({ reason, field }) => ({ reason: textOf(reason), field: textOf(field) })),
    retryAfterSeconds: bounded(numberOf(details['retryAfterSeconds'])),
  };
}

/** Seconds of a Retry-After header (seconds or an HTTP date), or undefined where it says nothing usable. */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (!Number.isNaN(seconds)) return bounded(Math.ceil(seconds));
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : bounded(Math.max(0, Math.ceil((date - nowMs) / 1000)));
}

function bounded(seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds < 0 ? undefined : Math.min(seconds, RETRY_AFTER_MAX_SECONDS);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
