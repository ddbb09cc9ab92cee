/** Which letters are meant, as words on the command line say it. */
import { ConfigError } from '../core/errors.ts';
import { findKind } from '../core/kind-names.ts';
import type { LetterRecord, Target } from './letter-record.ts';

/** As the options are called. A filter that names a place leaves out letters that are about none. */
export interface FilterWords {
  readonly cluster?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly code?: string;
  readonly since?: string;
  readonly until?: string;
}

export type LetterFilter = (letter: LetterRecord) => boolean;

const SPAN = /^([0-9]{1,6})([smhd])$/;
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * The filter. `since` and `until` are about when the change was first seen; both ends count.
 *
 * @throws ConfigError `usage` for a time that is none, or an empty word, which a shell makes of a variable that is not set
 */
export function letterFilter(words: FilterWords, now: Date): LetterFilter {
  for (const [name, word] of Object.entries(words)) {
    if (word === '') throw new ConfigError('usage', `--${name} is empty; leave it out, or say which`);
  }
  const { cluster, kind, namespace, name, code } = words;
  const sinceMs = words.since === undefined ? Number.NEGATIVE_INFINITY : timeOf('since', words.since, now);
  const untilMs = words.until === undefined ? Number.POSITIVE_INFINITY : timeOf('until', words.until, now);
  if (sinceMs > untilMs) throw new ConfigError('usage', '--since is later than --until, so that no letter can be meant');
  const hasTimes = words.since !== undefined || words.until !== undefined;
  const isOfKind = kind === undefined ? () => true : kindTest(kind);
  return (letter) => {
    const { target, firstSeenMs } = letter;
    if (cluster !== undefined && letter.cluster !== cluster) return false;
    if (code !== undefined && letter.code !== code) return false;
    if (namespace !== undefined && target?.namespace !== namespace) return false;
    if (name !== undefined && target?.name !== name) return false;
    if (kind !== undefined && (target === undefined || !isOfKind(target))) return false;
    return !hasTimes || (firstSeenMs !== undefined && firstSeenMs >= sinceMs && firstSeenMs <= untilMs);
  };
}

/** Whether an object is of the kind that kubectl would take the text for. */
export function kindTest(text: string): (target: Target) => boolean {
  const known = new Map<string, boolean>();
  return ({ group, version, kind, plural }) => {
    const key = `${kind}/${plural}/${group}/${version}`;
    let isMeant = known.get(key);
    if (isMeant === undefined) {
      isMeant = findKind(text, [{ group, version, kind, plural, scope: 'Cluster' }]).kind === 'found';
      known.set(key, isMeant);
    }
    return isMeant;
  };
}

function timeOf(option: 'since' | 'until', text: string, now: Date): number {
  const [, count, unit] = SPAN.exec(text) ?? [];
  if (count !== undefined) return now.getTime() - Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1000;
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ConfigError(
    'usage',
    `--${option} ${JSON.stringify(text)} is no time; write 2026-03-01, 2026-03-01T10:00Z, or 90m, 6h, 2d for so long ago`,
  );
}
