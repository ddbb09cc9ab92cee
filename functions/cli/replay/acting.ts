/** What the commands that change something have in common: by whom, by which words, and how a plan is told. */
import { hostname, userInfo } from 'node:os';
import { cutText } from '../../core/errors.ts';
import type { PlanItem } from '../../replay/plan.ts';
import { REPLAY_CLASSES, type ReplayClass } from '../../replay/verdict.ts';
import { plural, printable } from './text.ts';

/** As much of a name as a message takes. */
const BY_MAX = 128;

/** `ada@laptop`. */
export function whoIsThere(): string {
  return cutText(printable(`${userName()}@${hostname()}`), BY_MAX);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a container runs as a number that nobody has
  }
}

/** What was typed, as it could be typed again in a checkout; `dist/replay.cjs` leaves out the first word. */
export function commandOf(words: readonly string[]): string {
  return ['dogwatch', ...(words[0] === 'replay' ? [] : ['replay']), ...words]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

export interface Count {
  readonly letters: number;
  readonly objects: number;
}

/** Letters and objects of each class that the items have, in the classes' order. */
export function countByClass(items: readonly PlanItem[]): ReadonlyMap<ReplayClass, Count> {
  const counts = new Map<ReplayClass, Count>();
  for (const name of REPLAY_CLASSES) {
    const theirs = items.filter((item) => item.class === name);
    if (theirs.length === 0) continue;
    const letters = theirs.reduce((sum, item) => sum + item.letters.length, 0);
    counts.set(name, { letters, objects: theirs.filter(({ object }) => object !== undefined).length });
  }
  return counts;
}

export function sumOf(counts: Iterable<Count>): Count {
  let [letters, objects] = [0, 0];
  for (const count of counts) [letters, objects] = [letters + count.letters, objects + count.objects];
  return { letters, objects };
}

/** The items without letters that are done with, and how many those are. */
export function aheadOf(
  items: readonly PlanItem[],
  accounted: ReadonlySet<string>,
): { readonly ahead: readonly PlanItem[]; readonly accountedCount: number } {
  let accountedCount = 0;
  const ahead = items.flatMap((item) => {
    const letters = item.letters.filter(({ messageId }) => !accounted.has(messageId));
    accountedCount += item.letters.length - letters.length;
    return letters.length === 0 ? [] : [{ ...item, letters }];
  });
  return { ahead, accountedCount };
}

/** `30 letters of 10 objects (20 converged, 10 gone)`. */
export function figuresOf(counts: ReadonlyMap<ReplayClass, Count>): string {
  const { letters, objects } = sumOf(counts.values());
  const parts = [...counts].map(([name, count]) => `${count.letters} ${name.replace('-', ' ')}`);
  return `${plural(letters, 'letter')}${objects === 0 ? '' : ` of ${plural(objects, 'object')}`}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

/** `east: Tenant default/acme`. */
export function placeText({ cluster, kind, namespace, name }: NonNullable<PlanItem['object']>): string {
  return printable(`${cluster}: ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`);
}
