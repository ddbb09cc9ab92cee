/** The line of an outcome in the words that a person reads. */
import { parseResourceKey } from '../../../events/resource.ts';
import { ageOf } from '../api-server/human-age.ts';
import type { OutcomeLine } from './dev-state.ts';
import { oneLineOf } from './shown-text.ts';

/** Each may be empty, and each is one line. */
export interface OutcomeText {
  /** `14:03:07` */
  readonly time: string;
  /** `east/Tenant/acme`, `east/ConfigMap/team-a/acme`; the message where there is no object. */
  readonly object: string;
  readonly branch: string;
  readonly reason: string;
  /** `#2` */
  readonly attempt: string;
  /** `42ms` */
  readonly duration: string;
  /** What comes next, and why: `again in 8s, transient: connect ECONNREFUSED`. */
  readonly end: string;
}

/**
 * The line's fields as text. An author's own line may have these names with values of other types: those are shown as JSON.
 *
 * @param utcOffsetMinutes  of the reader's clock: 120 for two hours ahead of UTC
 */
export function outcomeText(line: OutcomeLine, utcOffsetMinutes: number): OutcomeText {
  const { timestamp, branch, reason, attempt, durationMs } = line;
  return {
    time: timeOf(textOf(timestamp), utcOffsetMinutes),
    object: objectOf(textOf(line.key), textOf(line.message)),
    branch: textOf(branch),
    reason: textOf(reason),
    attempt: attempt === undefined ? '' : `#${textOf(attempt)}`,
    duration: typeof durationMs === 'number' ? durationOf(durationMs) : '',
    end: endOf(line),
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return oneLineOf(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Seconds as kubectl shows an age: `4s`, `3m20s`, `5h`. */
export function secondsText(seconds: number): string {
  return ageOf(new Date(0).toISOString(), new Date(Math.round(seconds) * 1000));
}

function timeOf(timestamp: string, utcOffsetMinutes: number): string {
  // Date.parse alone takes nearly anything for a date.
  const atMs = /^\d{4}-\d\d-\d\dT/.test(timestamp) ? Date.parse(timestamp) + utcOffsetMinutes * 60_000 : Number.NaN;
  return Number.isNaN(atMs) ? '' : new Date(atMs).toISOString().slice(11, 19);
}

function objectOf(key: string, message: string): string {
  if (key === '') return message;
  const parsed = parseResourceKey(key);
  if (parsed === undefined) return key;
  const { cluster, kind, namespace, name } = parsed;
  return [cluster, kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

function durationOf(durationMs: number): string {
  return durationMs < 10_000 ? `${Math.round(durationMs)}ms` : secondsText(durationMs / 1000);
}

function endOf({ disposition, delaySeconds, code, error }: OutcomeLine): string {
  const why = [textOf(code), textOf(error)].filter((text) => text !== '').join(': ');
  return [nextOf(textOf(disposition), delaySeconds), why].filter((text) => text !== '').join(', ');
}

function nextOf(disposition: string, delaySeconds: number | undefined): string {
  switch (disposition) {
    case 'requeue':
      return typeof delaySeconds === 'number' ? `again in ${secondsText(delaySeconds)}` : 'again';
    case 'dead-letter':
      return 'dead letter';
    case 'fail-item':
      return 'left in the queue';
    default:
      return disposition;
  }
}
