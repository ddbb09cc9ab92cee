/**
 * Who takes part in the night: every object, why its letters are written, what happens to it before anybody looks, and so what must
 * become of its letters. What the test expects of a plan is computed from this table alone.
 */

/**
 * - `foreign`: its namespace is somebody else's (`child-not-owned`)
 * - `bug`: the reconciler of the release throws for it (`author-error`)
 * - `frozen`, `refused`: a policy of its cluster forbids its namespace, or finds it invalid (403 and 422)
 * - `moved`: nothing is wrong with it; SQS moved its messages by itself, while the function took none
 * - `north`: its cluster is in no registry any more
 */
export type Cause = 'foreign' | 'bug' | 'frozen' | 'refused' | 'moved' | 'north';

/**
 * - `failing`: nothing happens to it
 * - `healed`: its cause is mended, and it was reconciled
 * - `gone`: deleted
 * - `again`: deleted, and another of its name was made, which is well
 * - `paused`: somebody paused it
 * - `settled`: was well all the time; `must-run`: as well, but its messages asked for a run all the same
 */
export type Fate = 'failing' | 'healed' | 'gone' | 'again' | 'paused' | 'settled' | 'must-run';

export type Cluster = 'east' | 'west' | 'north';

export interface Member {
  readonly name: string;
  readonly cluster: Cluster;
  readonly cause: Cause;
  readonly fate: Fate;
  readonly letterCount: number;
}

const LETTERS = 4;

const HEADCOUNT: readonly [Cause, Fate, count: Readonly<Partial<Record<Cluster, number>>>, letterCount?: number][] = [
  ['foreign', 'failing', { east: 10, west: 6 }],
  ['foreign', 'healed', { east: 6, west: 2 }],
  ['foreign', 'gone', { east: 6, west: 2 }],
  ['foreign', 'again', { east: 6, west: 2 }],
  ['bug', 'failing', { east: 12, west: 6 }],
  ['bug', 'paused', { east: 2 }],
  ['bug', 'healed', { east: 6, west: 2 }],
  ['bug', 'gone', { east: 4, west: 2 }],
  ['bug', 'again', { east: 4, west: 2 }],
  ['frozen', 'failing', { east: 10, west: 6 }],
  ['frozen', 'gone', { east: 2, west: 2 }],
  ['refused', 'failing', { east: 10, west: 6 }],
  ['refused', 'gone', { east: 2, west: 2 }],
  ['moved', 'settled', { east: 6, west: 4 }],
  ['moved', 'must-run', { east: 6, west: 4 }],
  ['north', 'failing', { north: 10 }, 2],
];

/** 150 objects with 580 letters. */
export const CAST: readonly Member[] = HEADCOUNT.flatMap(([cause, fate, counts, letterCount = LETTERS]) =>
  (Object.entries(counts) as [Cluster, number][]).flatMap(([cluster, count]) =>
    Array.from({ length: count }, (_, at): Member => ({ name: `${cause}-${fate}-${cluster}-${at}`, cluster, cause, fate, letterCount })),
  ),
);

/** Beside these: bodies that are nobody's envelope, which the function gives up, and heartbeats that SQS moved. */
export const FOREIGN_BODY_COUNT = 12;
export const HEARTBEAT_COUNT = 8;
export const LETTER_COUNT = 600;

/** Members with all of the given words. */
export function membersWith(words: Partial<Pick<Member, 'cluster' | 'cause' | 'fate'>>): Member[] {
  return CAST.filter((member) => Object.entries(words).every(([field, word]) => member[field as keyof Member] === word));
}

export const CODES: Readonly<Record<Cause, string>> = {
  foreign: 'child-not-owned',
  bug: 'author-error',
  frozen: 'forbidden',
  refused: 'invalid',
  moved: 'undiagnosed',
  north: 'unknown-cluster',
};

/** Class and reason of a member's letters, told by who knows the script, for a plan that is made while west is down or after it is up again. */
export function expectedVerdict({ cause, fate, cluster }: Member, isWestUp: boolean): string {
  if (cause === 'north') return 'unknown unknown-cluster';
  if (cluster === 'west' && !isWestUp) return 'unknown';
  switch (fate) {
    case 'failing':
      return 'to-replay not-settled';
    case 'paused':
      return 'to-replay paused';
    case 'must-run':
      return 'to-replay must-run';
    case 'healed':
    case 'settled':
      return 'converged settled';
    case 'gone':
      return 'gone gone';
    case 'again':
      return 'superseded other-uid';
  }
}
