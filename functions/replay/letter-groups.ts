/** Letters by cluster, kind and code, those first that SQS deletes first. */
import { expiryOf, type LetterRecord, type Target } from './letter-record.ts';

export interface LetterGroup {
  /** Undefined where the letters do not say. */
  readonly cluster: string | undefined;
  readonly kind: string | undefined;
  readonly group: string | undefined;
  readonly code: string;
  readonly letterCount: number;
  readonly objectCount: number;
  /** By when the change was first seen; Unix milliseconds. */
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
  /** When SQS deletes the first of them. */
  readonly expiresMs: number | undefined;
}

interface Growing {
  readonly first: LetterRecord;
  letterCount: number;
  readonly targets: Set<Target>;
  oldestMs: number | undefined;
  newestMs: number | undefined;
  expiresMs: number | undefined;
}

export function groupLetters(letters: Iterable<LetterRecord>, retentionSeconds: number | undefined): LetterGroup[] {
  const groups = new Map<string, Growing>();
  for (const letter of letters) {
    const { target, cluster, code, firstSeenMs } = letter;
    const key = [cluster ?? '', target?.kind ?? '', target?.group ?? '', code].join('/');
    let group = groups.get(key);
    if (group === undefined) {
      group = { first: letter, letterCount: 0, targets: new Set(), oldestMs: undefined, newestMs: undefined, expiresMs: undefined };
      groups.set(key, group);
    }
    group.letterCount += 1;
    if (target !== undefined) group.targets.add(target);
    group.oldestMs = either(Math.min, group.oldestMs, firstSeenMs);
    group.newestMs = either(Math.max, group.newestMs, firstSeenMs);
    group.expiresMs = either(Math.min, group.expiresMs, expiryOf(letter, retentionSeconds));
  }
  return [...groups.values()]
    .map(({ first: { cluster, target, code }, letterCount, targets, oldestMs, newestMs, expiresMs }) => ({
      ...{ cluster, kind: target?.kind, group: target?.group, code, letterCount, objectCount: targets.size },
      ...{ oldestMs, newestMs, expiresMs },
    }))
    .sort((a, b) => compare(a.expiresMs, b.expiresMs) || compare(a.oldestMs, b.oldestMs) || (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ cluster = '', kind = '', group = '', code }: LetterGroup): string {
  return [cluster, kind, group, code].join('/');
}

function either(choose: (a: number, b: number) => number, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return choose(a, b);
}

/** What is not known comes last. */
function compare(a: number | undefined, b: number | undefined): number {
  const [first, second] = [a ?? Number.MAX_VALUE, b ?? Number.MAX_VALUE];
  return first - second;
}
