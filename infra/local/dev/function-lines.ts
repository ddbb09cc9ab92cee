/** What a line that the function wrote means to whoever looks at a development run. */
import { cutText } from '../../../functions/core/errors.ts';
import type { DevEvent } from './dev-state.ts';

type OutcomeLine = Extract<DevEvent, { kind: 'outcome' }>['line'];
type LogLine = OutcomeLine & { readonly _aws?: unknown };

/** Characters of a line that is not ours, of which more is only in the way. */
const TEXT_MAX = 500;

/** What became of a record, or a notice; undefined for heartbeats, metrics and what says nothing. */
export function eventOfLine(text: string): DevEvent | undefined {
  const line = parse(text);
  if (line === undefined)
    return text.trim() === '' ? undefined : { kind: 'notice', level: 'info', text: `function: ${cutText(text, TEXT_MAX)}` };
  const { message = '', branch, _aws, level = 'INFO', code, error } = line;
  if (_aws !== undefined || branch === 'heartbeat') return undefined;
  if (branch !== undefined) return { kind: 'outcome', line };
  const facts = [code, typeof error === 'string' ? error : undefined].filter((fact) => fact !== undefined).join(': ');
  const told = `function: ${cutText(message, TEXT_MAX)}${facts === '' ? '' : ` (${cutText(facts, TEXT_MAX)})`}`;
  return { kind: 'notice', level: levelOf(level), text: told };
}

function levelOf(level: string): 'info' | 'warn' | 'error' {
  switch (level.toUpperCase()) {
    case 'ERROR':
    case 'CRITICAL':
      return 'error';
    case 'WARN':
      return 'warn';
    default:
      return 'info';
  }
}

/** A JSON line of a log; undefined for any other text. */
function parse(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as LogLine) : undefined;
  } catch {
    return undefined; // An author may print anything: it is shown as it is.
  }
}
