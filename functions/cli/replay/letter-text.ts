/** One letter, and its object as it is now, for a person to read. */
import type { Envelope } from '../../../events/envelope.ts';
import { groupKind } from '../../../events/resource.ts';
import { REASON_TEXTS } from '../../replay/verdict.ts';
import type { Shown } from './show.ts';
import { leftText, plural, printable, reasonText, timeText } from './text.ts';

/** Width of the words before what is said. */
const WIDTH = 11;

function line(word: string, says: string): string {
  return `  ${word.padEnd(WIDTH)}${printable(says)}`;
}

/** What the letter says, and how long it is kept; the whole message at the end. */
export function letterText({ received, letter, record, expiresMs }: Shown, now: Date): string[] {
  const { messageId, body, attributes, receiveCount } = received;
  const { firstSeenMs, why, replayCount } = record;
  const counts = [
    `received ${receiveCount === undefined ? 'so often' : plural(receiveCount, 'time')}`,
    ...(replayCount > 0 ? [`replayed ${plural(replayCount, 'time')}`] : []),
  ];
  const kept =
    expiresMs === undefined ? 'SQS does not say until when' : `SQS deletes it at ${timeText(expiresMs)}, in ${leftText(expiresMs, now)}`;
  const whole = 'envelope' in letter ? JSON.stringify(letter.envelope, undefined, 2) : body;
  return [
    `letter ${printable(messageId)}: ${letter.kind === 'other-release' ? `${letter.release} release` : letter.kind}, ${printable(letter.code)}`,
    ...('envelope' in letter ? envelopeText(letter.envelope) : []),
    ...(why === undefined ? [] : [line('read as', why)]),
    line('first seen', timeText(firstSeenMs)),
    line('kept', `${kept}; ${counts.join(', ')}`),
    ...Object.entries(attributes).map(([name, value]) => line('attribute', `${name}=${value}`)),
    '  message',
    ...whole.split('\n').map((text) => `    ${printable(text)}`),
  ];
}

function envelopeText({ data }: Envelope): string[] {
  const { cluster, namespace, name, uid, generation, reason, mustRun, attempt, diagnosis } = data;
  const at = `${cluster}: ${groupKind(data)} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const sent = `for ${reason}, attempt ${attempt}${generation === undefined ? '' : `, generation ${generation}`}${mustRun ? ', must run' : ''}`;
  if (diagnosis === undefined) return [line('object', `${at}${uid === undefined ? '' : `, uid ${uid}`}`), line('sent', sent)];
  const { errorClass, httpStatus, httpReason, message, attempts, generationSeen, functionVersion, deadLetteredAt } = diagnosis;
  const http = httpStatus === undefined ? '' : `, HTTP ${httpStatus}${httpReason === undefined ? '' : ` ${httpReason}`}`;
  return [
    line('object', `${at}${uid === undefined ? '' : `, uid ${uid}`}`),
    line('sent', sent),
    line(
      'given up',
      `at ${deadLetteredAt} by function version ${functionVersion}${generationSeen === undefined ? '' : `, having read generation ${generationSeen}`}`,
    ),
    line('because', `${diagnosis.code} (${errorClass}${http}): ${message}`),
    ...attempts.map((one) => line('attempt', `${one.attempt} at ${one.at}: ${one.code}`)),
  ];
}

/** The object as it is now, what changed since the letter, and what the letter comes to. */
export function nowText({ record, verdict, state, untold, changes }: Shown): string[] {
  const says = `${verdict.class.replace('-', ' ')}: ${reasonText(verdict.reason, REASON_TEXTS)}${untold === undefined ? '' : ` (${untold})`}`;
  if (state === undefined) return ['now', line('verdict', says)];
  const { generation, observedGeneration, uid } = state;
  const moved = generation === undefined || record.generation === undefined ? undefined : generation - record.generation;
  const since = moved === undefined || moved <= 0 ? '' : `, ${plural(moved, 'change')} of the spec since the letter's ${record.generation}`;
  const flags = [state.isDeleting ? 'being deleted' : '', state.isPaused ? 'paused' : ''].filter((text) => text !== '');
  return [
    'now',
    line('verdict', says),
    line(
      'object',
      `generation ${generation ?? '-'}${since}; reconciled ${observedGeneration ?? 'never'}${record.uid === undefined || record.uid === uid ? '' : `; another uid, ${uid}`}`,
    ),
    ...(flags.length === 0 ? [] : [line('is', flags.join(', '))]),
    ...state.conditions.map(({ type, status, reason, message, lastTransitionTime }) =>
      line('condition', `${type}=${status} ${reason ?? ''} since ${lastTransitionTime ?? '-'}: ${message ?? ''}`),
    ),
    ...changes.map(({ manager, at, fields }) => line('written', `at ${at} by ${manager}: ${fields.join(', ') || 'nothing that is left'}`)),
  ];
}
