/** A small part of many letters: those of the objects whose letters SQS deletes first. */
import { ConfigError } from '../core/errors.ts';
import type { Target } from './letter-record.ts';
import { LetterTable } from './letter-table.ts';

/** The count of `--limit`, 1 or more. @throws ConfigError `usage` */
export function limitOf(word: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(word)) return Number(word);
  throw new ConfigError('usage', `--limit ${JSON.stringify(word)} is no count of objects; write a whole number of 1 or more`);
}

/**
 * All letters of so many objects, by their oldest letter: a plan that had some letters of an object and not the others would send it and
 * leave the rest behind. Letters that are about no object are left out.
 */
export function lettersOfFirst(letters: LetterTable, objectCount: number): LetterTable {
  const oldest = new Map<Target, number>();
  for (const { target, sentMs = Number.POSITIVE_INFINITY } of letters) {
    if (target !== undefined) oldest.set(target, Math.min(sentMs, oldest.get(target) ?? Number.POSITIVE_INFINITY));
  }
  const first = new Set(
    [...oldest]
      .sort(([, a], [, b]) => (a === b ? 0 : a - b))
      .slice(0, objectCount)
      .map(([target]) => target),
  );
  const some = new LetterTable();
  for (const letter of letters) if (letter.target !== undefined && first.has(letter.target)) some.add(letter);
  return some;
}
