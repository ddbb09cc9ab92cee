/** Making an envelope small enough to be sent, so that a message is never lost for what it remembers. */
import {
  buildEnvelope,
  byteSize,
  ENVELOPE_MAX_BYTES,
  type Envelope,
  type EnvelopeData,
  encodeEnvelope,
  escapeForSqs,
  type FailedAttempt,
} from '../../events/envelope.ts';
import { cutText } from './errors.ts';

/** One way to say less; returns data that is no larger. */
export type Shortening = (data: EnvelopeData) => EnvelopeData;

/** A traceparent of W3C Trace Context version 00 has 55 characters. The id is a UUID; what is over is for one that is not. */
const FRAME = { id: 'x'.repeat(64), now: new Date(0), traceparent: 'x'.repeat(128) };

/** True if the data, in an envelope with any id and traceparent of the usual lengths, is within ENVELOPE_MAX_BYTES. */
function fitsEnvelope(data: EnvelopeData): boolean {
  return isSmallEnough(buildEnvelope(data, FRAME));
}

/** True if the envelope, as it is, is within ENVELOPE_MAX_BYTES. */
export function isSmallEnough(envelope: Envelope): boolean {
  return byteSize(escapeForSqs(JSON.stringify(envelope))) <= ENVELOPE_MAX_BYTES;
}

/** The body of the envelope, with the attributes of a newer release where there is room for them. @throws RangeError as encodeEnvelope */
export function encodeExtended(envelope: Envelope, extensions: Readonly<Record<string, unknown>>): string {
  const extended = { ...extensions, ...envelope };
  return encodeEnvelope(isSmallEnough(extended) ? extended : envelope);
}

/**
 * The data, shortened as little as needed: each shortening is made on top of those before it until it fits. Where none helps
 * the shortest is returned; the names of an object always fit in it.
 */
export function fitEnvelope(data: EnvelopeData, shortenings: readonly Shortening[]): EnvelopeData {
  let fitted = data;
  for (const shorten of shortenings) {
    if (fitsEnvelope(fitted)) return fitted;
    fitted = shorten(fitted);
  }
  return fitted;
}

/** Drops what this release does not know, and what no release of ours would have written that long. */
export function knownFieldsOnly(data: EnvelopeData): EnvelopeData {
  const { cluster, group, version, plural, kind, namespace, name, uid, resourceVersion, generation, reason, mustRun, attempt } = data;
  const { firstSeenAt, heldSeconds, notBefore, lane, history, failures, diagnosis, replay } = data;
  const known = {
    ...{ cluster, group, version, plural, kind, namespace, name, uid, resourceVersion, generation, reason, mustRun, attempt },
    ...{ firstSeenAt, heldSeconds, notBefore, lane, diagnosis },
    history: history === undefined ? undefined : shortAttempts(history),
    failures: failures === undefined ? undefined : fewFailures(failures),
    replay: replay && { count: replay.count, of: cutText(replay.of, 128), by: cutText(replay.by, 128), at: replay.at },
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as EnvelopeData;
}

/** The attempts with nothing but what a reader needs of each. */
export function shortAttempts(attempts: readonly FailedAttempt[]): FailedAttempt[] {
  return attempts.map(({ attempt, at, code }) => ({ attempt, at, code: cutText(code, 64) }));
}

function fewFailures(failures: Readonly<Record<string, number>>): Record<string, number> {
  const ours = Object.entries(failures).filter(([row]) => /^[a-z-]{1,24}$/.test(row));
  return Object.fromEntries(ours.slice(0, 12));
}
