/** The message that is sent in the place of dead letters: the same reference, with a budget of its own. */
import { buildEnvelope, type Envelope, type EnvelopeData } from '../../events/envelope.ts';
import { newestResourceVersion } from '../../events/resource-version.ts';
import { cutText } from './errors.ts';
import { encodeExtended, fitEnvelope, isSmallEnough, knownFieldsOnly } from './fit-envelope.ts';

export interface ReplayInput {
  /** The newest of the letters that this stands for. */
  readonly letter: Envelope;
  /** The newest version that any of them knows. */
  readonly resourceVersion: string | undefined;
  /** Whose letters they are, where any of them says. */
  readonly uid: string | undefined;
  /** What has the name now. */
  readonly found?: { readonly uid: string; readonly resourceVersion: string; readonly generation?: number | undefined } | undefined;
  /** Its object is gone, and what that left outside is to be undone by its uid. */
  readonly isFinalize: boolean;
  /** How often the most replayed of the letters was. */
  readonly replays: number;
  /** Message id of `letter`. */
  readonly of: string;
  readonly by: string;
  readonly now: Date;
  /** Of the new envelope; its trace is used where the letter has none. */
  readonly id: string;
  readonly traceparent: string;
}

/** Of names that others chose, as much as the envelope keeps. */
const NAME_MAX = 128;
/** Somebody may have written any number into a letter. */
const COUNT_MAX = 1_000_000_000;

/**
 * The message: reason `replay`, mustRun, attempt 1, first seen now, with nothing of what failed before. Of a deletion whose object is gone
 * the reason stays `deleted`, so that its run takes a kind that is not served any more for what it is. Never an older version than a letter's.
 * What this release does not know is kept where there is room. Undefined where it is over ENVELOPE_MAX_BYTES for the names in it alone, which no
 * API server would take.
 */
export function replayEnvelope(input: ReplayInput): { readonly envelope: Envelope; readonly body: string } | undefined {
  const { letter, id, now, traceparent } = input;
  const { specversion: _v, id: _id, type: _type, source: _source, subject: _subject, time: _time, ...others } = letter;
  const { traceparent: trace = traceparent, data: _data, ...extensions } = others;
  const envelope = buildEnvelope(replayData(input), { id, now, traceparent: trace });
  return isSmallEnough(envelope) ? { envelope, body: encodeExtended(envelope, extensions) } : undefined;
}

function replayData({ letter, resourceVersion, uid: theirs, found: present, isFinalize, replays, of, by, now }: ReplayInput): EnvelopeData {
  const { history: _history, failures: _failures, diagnosis: _diagnosis, notBefore: _notBefore, heldSeconds: _held, ...rest } = letter.data;
  const { lane: _lane, resourceVersion: _own, generation, uid = theirs ?? present?.uid, ...place } = rest;
  const found = present?.uid === uid ? present : undefined;
  const version = newestResourceVersion(resourceVersion ?? letter.data.resourceVersion, found?.resourceVersion);
  const seen = { uid, resourceVersion: version, generation: newer(generation, found?.generation) };
  const data = {
    ...place,
    ...(Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== undefined)) as Partial<typeof seen>),
    reason: isFinalize ? ('deleted' as const) : ('replay' as const),
    mustRun: true,
    attempt: 1,
    firstSeenAt: now.toISOString(),
    replay: { count: Math.min(replays + 1, COUNT_MAX), of: cutText(of, NAME_MAX), by: cutText(by, NAME_MAX), at: now.toISOString() },
  };
  return fitEnvelope(data as EnvelopeData, [knownFieldsOnly]);
}

function newer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
