/**
 * A message of the dead-letter queue, read as what it is. Anybody may have written it: the function with a diagnosis, SQS itself without
 * one, another release, or somebody who took the queue for another. Nothing is taken on trust, and nothing is thrown.
 */
import { decodeEnvelope, type Envelope } from '../../events/envelope.ts';
import { HEARTBEAT_TYPE } from '../../events/heartbeat.ts';
import { isDnsLabel } from '../../events/resource.ts';
import { cutText } from './errors.ts';
import { isJsonObject } from './plain-json.ts';

/** What a letter is read from: the body, and the string attributes of the message. */
export interface LetterMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** As much of an object's place as a message of another release says. */
interface HalfPlace {
  readonly cluster?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * - `diagnosed`: given up by the function, which says why
 * - `undiagnosed`: moved by SQS itself after too many receives, or with a diagnosis that cannot be read (then `note` says what is wrong with it)
 * - `heartbeat`: how the cells of a cluster were; it asks for nothing
 * - `other-release`: a type or a reason of ours that this release does not know
 * - `foreign`: nobody's envelope; `why` says what is wrong, without quoting the body
 *
 * `code` is what letters are grouped by: that of the diagnosis, or `undiagnosed`, `heartbeat`, `older-type`, `newer-type`, `foreign`.
 */
export type Letter =
  | { readonly kind: 'diagnosed'; readonly code: string; readonly envelope: Envelope }
  | { readonly kind: 'undiagnosed'; readonly code: string; readonly envelope: Envelope; readonly note?: string }
  | { readonly kind: 'heartbeat'; readonly code: string; readonly cluster: string | undefined }
  | {
      readonly kind: 'other-release';
      readonly code: string;
      readonly release: 'older' | 'newer';
      readonly type: string;
      readonly place: HalfPlace;
    }
  | { readonly kind: 'foreign'; readonly code: string; readonly why: string };

/** The code of a letter that does not say why it died. */
const UNDIAGNOSED = 'undiagnosed';

/** Longer codes are cut. */
const CODE_MAX = 64;
const OWN_TYPE = /^dev\.dogwatch\.reconcile\.v([0-9]{1,9})$/;
/** The version that this release writes. */
const OWN_VERSION = 1;
const DIAGNOSIS_FIELD = 'field data.diagnosis';

/** Never throws: every message is one of the kinds of {@link Letter}. */
export function readLetter({ body, attributes }: LetterMessage): Letter {
  const decoded = decodeEnvelope(body);
  switch (decoded.kind) {
    case 'reconcile': {
      const { envelope } = decoded;
      const { diagnosis } = envelope.data;
      if (diagnosis !== undefined) return { kind: 'diagnosed', code: codeOr(diagnosis.code, UNDIAGNOSED), envelope };
      return { kind: 'undiagnosed', code: codeOr(attributes['code'], UNDIAGNOSED), envelope };
    }
    case 'newer':
      return readOther(decoded.type, body);
    case 'foreign':
      return (
        withoutDiagnosis(decoded.reason, body, attributes) ?? {
          kind: 'foreign',
          code: codeOr(attributes['code'], 'foreign'),
          why: decoded.reason,
        }
      );
  }
}

/** The letter of a release whose diagnosis has another form: what it is about can be read all the same. */
function withoutDiagnosis(why: string, body: string, attributes: LetterMessage['attributes']): Letter | undefined {
  if (!why.startsWith(DIAGNOSIS_FIELD)) return undefined;
  const { data, ...frame } = JSON.parse(body) as { data: Readonly<Record<string, unknown>> };
  const { diagnosis, ...rest } = data;
  const decoded = decodeEnvelope(JSON.stringify({ ...frame, data: rest }));
  if (decoded.kind !== 'reconcile') return undefined;
  const said = isJsonObject(diagnosis) && typeof diagnosis['code'] === 'string' ? diagnosis['code'] : attributes['code'];
  return { kind: 'undiagnosed', code: codeOr(said, UNDIAGNOSED), envelope: decoded.envelope, note: `its diagnosis cannot be read: ${why}` };
}

function readOther(type: string, body: string): Letter {
  const { data } = JSON.parse(body) as { data?: unknown };
  const place = isJsonObject(data) ? halfPlace(data) : {};
  if (type === HEARTBEAT_TYPE) return { kind: 'heartbeat', code: 'heartbeat', cluster: place.cluster };
  const version = OWN_TYPE.exec(type)?.[1];
  const release = version !== undefined && Number(version) < OWN_VERSION ? 'older' : 'newer';
  return { kind: 'other-release', code: `${release}-type`, release, type, place };
}

function halfPlace(data: Readonly<Record<string, unknown>>): HalfPlace {
  const { cluster, kind, namespace, name } = data;
  const said = (value: unknown, max: number): value is string => typeof value === 'string' && value !== '' && value.length <= max;
  return {
    ...(said(cluster, 63) && isDnsLabel(cluster) ? { cluster } : {}),
    ...(said(kind, 63) ? { kind } : {}),
    ...(said(namespace, 63) ? { namespace } : {}),
    ...(said(name, 253) ? { name } : {}),
  };
}

function codeOr(code: string | undefined, otherwise: string): string {
  return code === undefined || code === '' ? otherwise : cutText(code, CODE_MAX);
}
