/** `dogwatch replay ls`: which letters there are, by cluster, kind and code. */
import type { Environment } from '../../core/config.ts';
import { queueNameOf } from '../../core/settings.ts';
import type { FilterWords } from '../../replay/letter-filter.ts';
import { groupLetters, type LetterGroup } from '../../replay/letter-groups.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type Desk, type DeskOptions } from './desk.ts';
import { meantLetters } from './meant-letters.ts';
import { keepGarbageSmall } from './small-heap.ts';
import { jsonLine, leftText, plural, table, timeText } from './text.ts';

export interface LsOptions extends DeskOptions, FilterWords {}

export async function replayLs(env: Environment, options: LsOptions): Promise<ExitCode> {
  keepGarbageSmall();
  return atDesk(env, options, (desk) => listLetters(desk, filterWordsOf(options)));
}

/** The words of the options that say which letters are meant. */
export function filterWordsOf({ cluster, kind, namespace, name, code, since, until }: LsOptions): FilterWords {
  const words = { cluster, kind, namespace, name, code, since, until };
  return Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined));
}

/** @throws ConfigError `usage` before anything is received */
export async function listLetters(desk: Desk, words: FilterWords): Promise<ExitCode> {
  const { description, clock, json, print } = desk;
  const meant = await meantLetters(desk, words);
  if (meant === undefined) return 1;
  const { letters, looked } = meant;
  await looked.givenBack;
  const { url, arn, retentionSeconds, depth } = description;
  const groups = groupLetters(letters, retentionSeconds);
  const objectCount = letters.targets().size;
  if (json) {
    const queue = { url, arn, retentionSeconds, depth };
    const counts = { received: looked.report.seenCount, letters: letters.length, objects: objectCount };
    print(jsonLine({ version: 1, queue, filters: words, ...counts, warnings: looked.warnings, groups: groups.map(groupJson) }));
    return 0;
  }
  const among = letters.length === looked.report.seenCount ? '' : ` (of ${looked.report.seenCount})`;
  const title = `${queueNameOf(url)}: ${plural(letters.length, 'letter')}${among} of ${plural(objectCount, 'object')}`;
  if (groups.length > 0) for (const line of groupTable(groups, clock.now())) print(line);
  print(title);
  return 0;
}

function groupTable(groups: readonly LetterGroup[], now: Date): string[] {
  const rows = groups.map(({ cluster = '-', kind = '-', code, letterCount, objectCount, oldestMs, newestMs, expiresMs }) => [
    ...[cluster, kind, code, String(letterCount), String(objectCount)],
    ...[timeText(oldestMs), timeText(newestMs), leftText(expiresMs, now)],
  ]);
  return table(['CLUSTER', 'KIND', 'CODE', 'LETTERS', 'OBJECTS', 'OLDEST', 'NEWEST', 'LEFT'], rows, ['LETTERS', 'OBJECTS']);
}

function groupJson({ cluster, kind, group, code, letterCount, objectCount, oldestMs, newestMs, expiresMs }: LetterGroup): object {
  const at = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  const what = { cluster: cluster ?? null, kind: kind ?? null, group: group ?? null, code };
  return { ...what, letters: letterCount, objects: objectCount, oldest: at(oldestMs), newest: at(newestMs), expires: at(expiresMs) };
}
