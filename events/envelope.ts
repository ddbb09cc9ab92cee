/**
 * The message body, version 1: a CloudEvents 1.0 event in structured JSON. It is a reference with evidence (which object,
 * what was seen, why it is sent), never an object's body and never anything secret.
 */
import * as z from 'zod';
import { isDnsLabel } from './resource.ts';

const RECONCILE_TYPE = 'dev.dogwatch.reconcile.v1';

/** Largest body we send, in bytes of UTF-8. SQS takes 1 MiB; a reference needs a fraction of this. */
export const ENVELOPE_MAX_BYTES = 4096;

/** How many failed attempts a message remembers; older ones are forgotten first. */
export const HISTORY_MAX = 10;

/** Why a message was sent. Each has its lane and its mustRun: see {@link REASONS}. */
export type Reason = keyof typeof REASONS;

/** The queue a message travels on: changes on the live one, repairs on the bulk one. */
export type Lane = 'live' | 'bulk';

/**
 * The table of reasons. `mustRun`: the settled test does not apply. A `retry` keeps the lane it came from and carries
 * mustRun; a `sweep` of an overdue object is mustRun although the table says false. `paused` starts a run that does nothing
 * but say so: the log shows when and at which version the pause began. `resumed` is mustRun, since the pause may have ended the
 * run of a message that was. `metadata-changed` (a label or annotation that the author's filter names) and `selected` (the object
 * came into the selection) are, since neither moves the generation, and what happened to the children of an object outside the
 * selection was nobody's business.
 */
export const REASONS = {
  created: { lane: 'live', mustRun: false },
  'generation-changed': { lane: 'live', mustRun: false },
  'metadata-changed': { lane: 'live', mustRun: true },
  selected: { lane: 'live', mustRun: true },
  deleting: { lane: 'live', mustRun: false },
  deleted: { lane: 'live', mustRun: false },
  paused: { lane: 'live', mustRun: false },
  resumed: { lane: 'live', mustRun: true },
  'child-changed': { lane: 'live', mustRun: true },
  requeue: { lane: 'live', mustRun: true },
  sweep: { lane: 'bulk', mustRun: false },
  resync: { lane: 'bulk', mustRun: true },
  manual: { lane: 'bulk', mustRun: true },
  replay: { lane: 'bulk', mustRun: true },
  retry: { lane: 'live', mustRun: false },
} as const satisfies Record<string, { lane: Lane; mustRun: boolean }>;

/** Deepest nesting of a body that we read; ours has five levels. Deeper ones could be read but not written again: JSON.stringify recurses. */
const NESTING_MAX = 32;

/** Longest CloudEvents type that may be one of a newer release. */
const TYPE_MAX = 100;

/**
 * A name that can stand in a path of the API server, which refuses slash, percent, "." and ".." itself. From a queue that others may
 * write to, such a name would lead a request somewhere else, and half a surrogate pair would break its encoding.
 */
function isPathSegment(text: string): boolean {
  return text !== '.' && text !== '..' && !/[/%]/.test(text) && text.isWellFormed();
}

const NO_SEGMENT = 'must be a name that can stand in a path';
const instant = z.iso.datetime({ offset: false }).max(40);

/** The API server counts in 64 bits and answers a larger number with an error that comes again for ever. */
const RESOURCE_VERSION_MAX = 2n ** 64n - 1n;
const resourceVersion = z
  .string()
  .regex(/^[0-9]{1,20}$/, 'must be at most 20 decimal digits')
  .refine((text) => !/^[0-9]+$/.test(text) || BigInt(text) <= RESOURCE_VERSION_MAX, 'must fit 64 bits');

/** Far above every budget, and far below where adding one is lost. */
const COUNT_MAX = 1_000_000_000;
const attempt = z.int().min(1).max(COUNT_MAX);

/** One failed attempt: which (from 1), when, and the code of its error. */
const failedAttempt = z.looseObject({ attempt, at: instant, code: z.string() });

/** What a dead letter says about itself. `message` is cut; no field holds an object's body. */
const diagnosis = z.looseObject({
  code: z.string(),
  errorClass: z.string(),
  httpStatus: z.int().optional(),
  httpReason: z.string().optional(),
  message: z.string(),
  attempts: z.array(failedAttempt),
  generationSeen: z.int().optional(),
  functionVersion: z.string(),
  firstSeenAt: instant,
  deadLetteredAt: instant,
});

const replay = z.looseObject({ count: z.int().min(1), of: z.string(), by: z.string(), at: instant });

// Lengths are those of the API server (DNS label 63, DNS subdomain 253; uid and resourceVersion with room to spare), so that
// a letter about any object fits ENVELOPE_MAX_BYTES.
const label = z.string().min(1).max(63).refine(isPathSegment, NO_SEGMENT);
const data = z.looseObject({
  cluster: z.string().refine(isDnsLabel, 'must be a DNS label'),
  group: z.string().max(253).refine(isPathSegment, NO_SEGMENT),
  version: label,
  plural: label,
  kind: label,
  namespace: label.optional(),
  name: z.string().min(1).max(253).refine(isPathSegment, NO_SEGMENT),
  uid: z.string().min(1).max(128).optional(),
  resourceVersion: resourceVersion.optional(),
  generation: z.int().min(0).optional(),
  reason: z.enum(Object.keys(REASONS) as [Reason, ...Reason[]]),
  mustRun: z.boolean(),
  attempt,
  firstSeenAt: instant,
  heldSeconds: z.number().min(0).optional(),
  notBefore: instant.optional(),
  lane: z.enum(['live', 'bulk']).optional(),
  history: z.array(failedAttempt).optional(),
  /** How often the message failed, by row of the disposition table: each row has a budget of its own. */
  failures: z.record(z.string(), z.int().min(0).max(COUNT_MAX)).optional(),
  diagnosis: diagnosis.optional(),
  replay: replay.optional(),
});

const envelope = z.looseObject({
  specversion: z.literal('1.0'),
  id: z.string().min(1),
  type: z.literal(RECONCILE_TYPE),
  source: z.string(),
  subject: z.string(),
  time: instant,
  traceparent: z.string().max(128).optional(),
  data,
});

export type Envelope = z.infer<typeof envelope>;
export type EnvelopeData = z.infer<typeof data>;
export type Diagnosis = z.infer<typeof diagnosis>;
export type FailedAttempt = z.infer<typeof failedAttempt>;

/** What an envelope needs besides its data: who sends it, when, and on which trace. */
export interface EnvelopeFrame {
  /** Unique for every send, also of a retry. */
  readonly id: string;
  readonly now: Date;
  /** W3C trace context of the change that started it; carried through retries. */
  readonly traceparent?: string | undefined;
}

/** The envelope around `data`. Pure: id and time come in `frame`. */
export function buildEnvelope(content: EnvelopeData, frame: EnvelopeFrame): Envelope {
  const place = `${content.namespace ?? ''}/${content.name}`;
  return {
    specversion: '1.0',
    id: frame.id,
    type: RECONCILE_TYPE,
    source: `/clusters/${content.cluster}`,
    subject: `${content.group}/${content.version}/${content.plural}/${place}`,
    time: frame.now.toISOString(),
    ...(frame.traceparent === undefined ? {} : { traceparent: frame.traceparent }),
    data: content,
  };
}

/**
 * The body as it is sent: JSON in which every character is one that SQS takes. SQS refuses most control characters (JSON
 * escapes those by itself) and U+FFFE, U+FFFF and lone surrogates (escaped here), so any string survives the round trip.
 *
 * @throws RangeError over {@link ENVELOPE_MAX_BYTES}; cut the diagnosis or the history first
 * @see SQS SendMessage, the list of allowed Unicode characters
 */
export function encodeEnvelope(content: Envelope): string {
  const body = escapeForSqs(JSON.stringify(content));
  const bytes = byteSize(body);
  if (bytes > ENVELOPE_MAX_BYTES) {
    throw new RangeError(`envelope of ${content.subject} has ${bytes} bytes; at most ${ENVELOPE_MAX_BYTES} are sent`);
  }
  return body;
}

/** Bytes of UTF-8, which is how SQS counts. */
export function byteSize(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** JSON text with the code units that SQS refuses written as \u escapes; the value it parses to stays the same. */
export function escapeForSqs(json: string): string {
  return json.replace(/[\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * What a body turned out to be.
 * - `reconcile`: an envelope of ours, unknown fields kept
 * - `newer`: a type of ours, or a reason, that this release does not know; it waits for a newer function
 * - `foreign`: anything else; `reason` says what is wrong, without quoting the body
 */
export type Decoded =
  | { readonly kind: 'reconcile'; readonly envelope: Envelope }
  | { readonly kind: 'newer'; readonly type: string }
  | { readonly kind: 'foreign'; readonly reason: string };

/** Never throws: every text is one of the three kinds of {@link Decoded}. */
export function decodeEnvelope(body: string): Decoded {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { kind: 'foreign', reason: 'body is not JSON' };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { kind: 'foreign', reason: 'body is not a JSON object' };
  if (isNestedDeeper(json, NESTING_MAX)) return { kind: 'foreign', reason: 'body is nested too deeply' };
  const type = (json as Record<string, unknown>)['type'];
  if (typeof type !== 'string') return { kind: 'foreign', reason: 'body has no CloudEvents type' };
  if (type !== RECONCILE_TYPE) {
    return type.startsWith('dev.dogwatch.') && type.length <= TYPE_MAX
      ? { kind: 'newer', type }
      : { kind: 'foreign', reason: 'CloudEvents type is not ours' };
  }
  const parsed = envelope.safeParse(json);
  if (parsed.success) return { kind: 'reconcile', envelope: parsed.data };
  const [issue, another] = parsed.error.issues;
  // A reason more is no new type: a release that adds one may be rolled back with its messages in the queue. No reason is none of it.
  if (issue?.path[1] === 'reason' && !another && (json as Envelope).data.reason) return { kind: 'newer', type: `${type}, new reason` };
  // The keys of `failures` are the body's own words; every other name in a path is ours.
  const path = issue?.path.slice(0, issue.path[1] === 'failures' ? 2 : undefined) ?? [];
  return { kind: 'foreign', reason: `field ${path.join('.') || '(root)'}: ${issue?.message ?? 'invalid'}` };
}

/** Whether a JSON value has more than `max` levels; level by level, since a recursion is what must not happen. */
function isNestedDeeper(json: object, max: number): boolean {
  let level: object[] = [json];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max) return true;
    level = level.flatMap((value) => Object.values(value).filter((inner) => typeof inner === 'object' && inner !== null));
  }
  return false;
}
