import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import type { Sight } from '../../../events/known-objects.ts';
import { type OwnerKind, Owners, WAITING_MAX } from '../../../functions/watcher/owners.ts';

const owner: Sight = { name: 'a', resourceVersion: '7', generation: 2, isDeleting: false, isPaused: false, isFiltered: false };

/** A kind whose objects are `known`, by uid. */
class Kind implements OwnerKind {
  readonly marks = new DirtyMarks();
  readonly known = new Map<string, Sight>();
  readonly wakeOnColumns: readonly string[];
  isListed = true;

  constructor(wakeOnColumns: readonly string[] = []) {
    this.wakeOnColumns = wakeOnColumns;
  }
  hasListed(): boolean {
    return this.isListed;
  }
  find(uid: string): Sight | undefined {
    return this.known.get(uid);
  }
  /** uids that are marked, counted as sent. */
  taken(): string[] {
    const taken = this.marks.take(10, Infinity);
    for (const mark of taken) this.marks.accepted(mark);
    return taken.map(({ uid }) => uid);
  }
}

function text(verdict: ReturnType<Owners['wake']>): string {
  return verdict.kind === 'pass' ? 'pass' : verdict.reason;
}

describe('Owners', () => {
  it('mark the owner in the cell of its kind, held for a second', () => {
    const [one, two] = [new Kind(), new Kind()];
    two.known.set('u', { ...owner, namespace: 'team' });
    assert.equal(text(new Owners([one, two], () => 5_000).wake('u', undefined)), 'pass');
    assert.deepEqual([one.marks.size, two.marks.nextAtMs()], [0, 6_000]);
    assert.deepEqual(two.marks.take(1, 6_000), [
      {
        uid: 'u',
        namespace: 'team',
        name: 'a',
        resourceVersion: '7',
        generation: 2,
        reason: 'child-changed',
        lane: 'live',
        mustRun: true,
        firstSeenAtMs: 5_000,
      },
    ]);
  });

  const rows: readonly (readonly [name: string, sight: Sight | undefined, columns: string[] | undefined, result: string])[] = [
    ['one that is not known', undefined, undefined, 'owner-unknown'],
    ['one that its filter holds back', { ...owner, isFiltered: true }, undefined, 'owner-filtered'],
    ['one that is being deleted', { ...owner, isDeleting: true }, undefined, 'owner-deleting'],
    ['one that is paused', { ...owner, isPaused: true }, undefined, 'owner-paused'],
    ['one of a kind that did not ask for the column', owner, ['Ready'], 'column-not-named'],
    ['one of a kind that asked for one of the columns', owner, ['Ready', 'Available'], 'pass'],
  ];
  for (const [name, sight, columns, result] of rows) {
    it(`answer ${result} for ${name}`, () => {
      const kind = new Kind(['Available']);
      if (sight !== undefined) kind.known.set('u', sight);
      assert.equal(text(new Owners([kind], () => 0).wake('u', columns)), result);
      assert.equal(kind.marks.size, result === 'pass' ? 1 : 0);
    });
  }

  it('ask for every column once that any kind named', () => {
    assert.deepEqual(new Owners([new Kind(['A', 'B']), new Kind(), new Kind(['B', 'C'])], () => 0).columns, ['A', 'B', 'C']);
  });
});

describe('Owners of a kind that was not listed', () => {
  function unlisted(columns: readonly string[] = []): { kind: Kind; owners: Owners } {
    const kind = new Kind(columns);
    kind.isListed = false;
    return { kind, owners: new Owners([kind], () => 0) };
  }

  it('are woken once it was, and once only', () => {
    const { kind, owners } = unlisted();
    for (const uid of ['u', 'v']) assert.equal(text(owners.wake(uid, undefined)), 'owner-not-listed');
    kind.isListed = true;
    kind.known.set('u', owner);
    owners.listed();
    assert.deepEqual(kind.taken(), ['u']);
    kind.known.set('v', owner);
    owners.listed();
    assert.deepEqual(kind.taken(), []);
  });

  it('go on waiting while another of their kinds was not listed', () => {
    const { kind, owners } = unlisted();
    owners.wake('u', undefined);
    owners.listed();
    kind.isListed = true;
    kind.known.set('u', owner);
    owners.listed();
    assert.deepEqual(kind.taken(), ['u']);
  });

  it('remember the columns that changed, and that more than columns did, in either order', () => {
    const waits: readonly (readonly (string[] | undefined)[])[] = [
      [['Ready'], undefined],
      [undefined, ['Ready']],
      [['Ready'], ['Available']],
    ];
    for (const news of waits) {
      const { kind, owners } = unlisted(['Available']);
      for (const columns of news) owners.wake('u', columns);
      kind.isListed = true;
      kind.known.set('u', owner);
      owners.listed();
      assert.deepEqual(kind.taken(), ['u'], JSON.stringify(news));
    }
    const { kind, owners } = unlisted(['Available']);
    owners.wake('u', ['Ready']);
    kind.isListed = true;
    kind.known.set('u', owner);
    owners.listed();
    assert.deepEqual(kind.taken(), []);
  });

  it('wait in a limited number, the oldest news given up first: a kind may never be listed', () => {
    const { kind, owners } = unlisted();
    for (let index = 0; index <= WAITING_MAX; index += 1) owners.wake(`u${index}`, undefined);
    owners.listed();
    kind.isListed = true;
    for (const uid of ['u0', 'u1', `u${WAITING_MAX}`]) kind.known.set(uid, owner);
    owners.listed();
    assert.deepEqual(kind.taken(), ['u1', `u${WAITING_MAX}`]);
  });
});
