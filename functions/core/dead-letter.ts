/** The last form of a message: it explains itself, and it can be replayed. */
import { byteSize, type Diagnosis, type EnvelopeData, HISTORY_MAX, type Lane } from '../../events/envelope.ts';
import { cutText } from './errors.ts';
import { fitEnvelope, knownFieldsOnly, type Shortening, shortAttempts } from './fit-envelope.ts';
import type { Failure } from './outcome.ts';

/** String attributes of an SQS message, for filters; values are never empty. */
export type LetterAttributes = Readonly<Record<string, string>>;

export interface DeadLetterInput {
  readonly data: EnvelopeData;
  readonly failure: Failure;
  readonly now: Date;
  /** Which release gave up: Lambda's function version, or what stands for it elsewhere. */
  readonly functionVersion: string;
  /** The generation that the run read; left out where it read nothing. */
  readonly generationSeen?: number | undefined;
  /** The lane of the record, kept for the replay. */
  readonly lane?: Lane | undefined;
  /** True once the run sent any write: then the run after a redrive or a replay may not trust the settled test. */
  readonly wrote: boolean;
}

export interface DeadLetter {
  /** The data of the message with its diagnosis; fits an envelope. A redrive by SQS itself delivers it to the function as it is. */
  readonly data: EnvelopeData;
  readonly attributes: LetterAttributes;
}

/**
 * The dead letter of a message. Its diagnosis takes over the history; what makes it too large is cut: the message first, then
 * the older attempts, then what this release does not know.
 */
export function deadLetter({ data, failure, now, functionVersion, generationSeen, lane = data.lane, wrote }: DeadLetterInput): DeadLetter {
  const { history = [], failures: _spent, notBefore: _over, ...rest } = data;
  const diagnosis: Diagnosis = {
    code: failure.code,
    errorClass: failure.errorClass,
    ...(failure.httpStatus === undefined ? {} : { httpStatus: failure.httpStatus }),
    ...(failure.httpReason === undefined ? {} : { httpReason: failure.httpReason }),
    message: failure.message,
    attempts: [...history, { attempt: data.attempt, at: now.toISOString(), code: failure.code }].slice(-HISTORY_MAX),
    ...(generationSeen === undefined ? {} : { generationSeen }),
    functionVersion,
    firstSeenAt: data.firstSeenAt,
    deadLetteredAt: now.toISOString(),
  };
  const letter: EnvelopeData = { ...rest, mustRun: data.mustRun || wrote, ...(lane === undefined ? {} : { lane }), diagnosis };
  const generation = generationSeen ?? data.generation;
  return {
    data: fitEnvelope(letter, SHORTENINGS),
    attributes: attributesOf({
      cluster: data.cluster,
      kind: data.kind,
      namespace: data.namespace,
      name: data.name,
      code: failure.code,
      generation: generation === undefined ? undefined : String(generation),
    }),
  };
}

export interface ForeignLetterInput {
  /** The record's body, whatever it is. */
  readonly body: string;
  /** `bad-envelope`, or `newer-type` for a type of ours that no function came to know in time. */
  readonly code?: 'bad-envelope' | 'newer-type';
  readonly reason: string;
  readonly now: Date;
  readonly functionVersion: string;
}

/** SQS counts body and attributes: names, types and values together (Amazon SQS developer guide, message quotas). */
const MESSAGE_MAX_BYTES = 1_048_576;

/**
 * The dead letter of a body that is no envelope of ours: the body as it came, so that nothing is lost, and what is wrong with
 * it in the attributes. A body that leaves no room for attributes goes without them.
 */
export function foreignLetter(input: ForeignLetterInput): { readonly body: string; readonly attributes: LetterAttributes } {
  const { body, code = 'bad-envelope', reason, now, functionVersion } = input;
  const attributes = attributesOf({ code, reason, deadLetteredAt: now.toISOString(), functionVersion });
  const size = byteSize(body) + Object.entries(attributes).reduce((sum, [name, value]) => sum + byteSize(`${name}String${value}`), 0);
  return { body, attributes: size > MESSAGE_MAX_BYTES ? {} : attributes };
}

/** Values that SQS takes: no control characters, U+FFFE, U+FFFF or lone surrogates, at most 256 characters; empty ones are left out. */
function attributesOf(values: Readonly<Record<string, string | undefined>>): LetterAttributes {
  const clean = (value = ''): string => cutText(value.toWellFormed().replace(/[\p{Cc}\ufffe\uffff]/gu, '\ufffd'));
  const entries = Object.entries(values).map(([name, value]) => [name, clean(value)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const withDiagnosis =
  (change: (diagnosis: Diagnosis) => Partial<Diagnosis>): Shortening =>
  (data) =>
    data.diagnosis === undefined ? data : { ...data, diagnosis: { ...data.diagnosis, ...change(data.diagnosis) } };

const SHORTENINGS: readonly Shortening[] = [
  withDiagnosis(({ message }) => ({ message: cutText(message) })),
  withDiagnosis(({ attempts }) => ({ attempts: shortAttempts(attempts.slice(-3)) })),
  knownFieldsOnly,
  withDiagnosis(({ message, attempts, code, errorClass, functionVersion, httpReason }) => ({
    code: cutText(code, 64),
    errorClass: cutText(errorClass, 64),
    functionVersion: cutText(functionVersion, 64),
    ...(httpReason === undefined ? {} : { httpReason: cutText(httpReason, 64) }),
    message: cutText(message, 40),
    attempts: attempts.slice(-1),
  })),
];
