/** What an author's filter, a selector and a kind that is not ours change in what passes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REASONS } from '../../events/envelope.ts';
import { KnownObjects } from '../../events/known-objects.ts';
import type { ObservedObject } from '../../events/observed-object.ts';
import type { KindPolicy, Phase } from '../../events/predicate.ts';
import { object, status, UNTOUCHED } from './builders.ts';

type Sight = readonly [seen: Partial<ObservedObject>, expected: string, phase?: Phase];

/** What each sight of one object, at a version of its own, comes to. */
function follow(policy: KindPolicy, sights: readonly Sight[]): KnownObjects {
  const known = new KnownObjects(policy);
  for (const [at, [seen, expected, phase = 'watch']] of sights.entries()) {
    const verdict = known.observe(object({ resourceVersion: String(100 + at), ...seen }), phase, at * 1000);
    assert.equal(verdict.kind === 'pass' ? verdict.reason : `skip ${verdict.reason}`, expected, `sight ${at}`);
    if (verdict.kind === 'pass') assert.deepEqual({ lane: verdict.lane, mustRun: verdict.mustRun }, REASONS[verdict.reason]);
  }
  return known;
}

const ours = { revision: 1 };
const isFiltered = true;
const bare = { status: undefined, generation: undefined };

function due(known: KnownObjects, resyncSeconds: number): string[] {
  const span = { fromSeconds: 0, toSeconds: 100_000 };
  const healing = { healAfterSeconds: 600, maxAgeSeconds: 21_600 };
  return known.takeDue({ span, healing, resyncSeconds, isWaiting: () => false }).map(({ reason }) => reason);
}

describe('an object that the filter holds back', () => {
  const rows: readonly [name: string, sights: readonly Sight[]][] = [
    ['is not sent when it is new', [[{ isFiltered, status: UNTOUCHED }, 'skip filtered']]],
    ['is not sent at a start', [[{ isFiltered, status: UNTOUCHED }, 'skip filtered', 'first-list']]],
    [
      'is not sent when its spec changes',
      [
        [{}, 'skip settled'],
        [{ isFiltered, generation: 2 }, 'skip filtered'],
      ],
    ],
    [
      'is not sent when a pause begins or ends',
      [
        [{}, 'skip settled'],
        [{ isFiltered, isPaused: true }, 'skip filtered'],
        [{ isFiltered }, 'skip filtered'],
      ],
    ],
    [
      'is sent when it is let in, settled or not',
      [
        [{ isFiltered }, 'skip filtered'],
        [{}, 'selected'],
        [{ isFiltered }, 'skip filtered'],
        [{ status: UNTOUCHED }, 'selected'],
      ],
    ],
    [
      'is sent when a later list shows that it was let in',
      [
        [{ isFiltered }, 'skip filtered', 'first-list'],
        [{}, 'selected', 'list'],
      ],
    ],
    [
      'is not sent again once it was',
      [
        [{ isFiltered }, 'skip filtered'],
        [{}, 'selected'],
        [{}, 'skip same-generation'],
      ],
    ],
    [
      'waits for the end of a pause',
      [
        [{ isFiltered }, 'skip filtered'],
        [{ isPaused: true }, 'paused'],
        [{}, 'resumed'],
      ],
    ],
    [
      'is sent when its deletion begins, once',
      [
        [{ isFiltered }, 'skip filtered'],
        [{ isFiltered, isDeleting: true }, 'deleting'],
        [{ isFiltered, isDeleting: true }, 'skip deleting'],
      ],
    ],
  ];
  for (const [name, sights] of rows) it(name, () => void follow(ours, sights));

  it('is neither unsettled, nor healed, nor resynced', () => {
    const known = follow(ours, [[{ isFiltered, status: UNTOUCHED }, 'skip filtered']]);
    assert.equal(known.unsettled(1e9).count, 0);
    assert.deepEqual(due(known, 1000), []);
  });

  it('is healed while it is held by our finalizer', () => {
    const known = new KnownObjects({ revision: 1, finalizer: 'a.example/b' });
    known.observe(object({ isFiltered, isDeleting: true, finalizers: ['a.example/b'] }), 'first-list', 0);
    assert.deepEqual(due(known, 1e9), ['sweep']);
  });
});

describe('labels and annotations that the filter names', () => {
  const rows: readonly [name: string, sights: readonly Sight[]][] = [
    [
      'are news when they change',
      [
        [{ watchedDigest: 1 }, 'skip settled'],
        [{ watchedDigest: 2 }, 'metadata-changed'],
        [{ watchedDigest: 2 }, 'skip same-generation'],
      ],
    ],
    [
      'are news in a later list',
      [
        [{ watchedDigest: 1 }, 'skip settled', 'first-list'],
        [{ watchedDigest: 2 }, 'metadata-changed', 'list'],
      ],
    ],
    [
      'are news together with a generation that is settled already',
      [
        [{ watchedDigest: 1 }, 'skip settled'],
        [{ watchedDigest: 2, generation: 2, status: status({ observedGeneration: 2 }) }, 'metadata-changed'],
      ],
    ],
    [
      'are news together with a generation that is not: its run may begin too early for them and settle it',
      [
        [{ watchedDigest: 1 }, 'skip settled', 'first-list'],
        [{ watchedDigest: 2, generation: 2 }, 'metadata-changed', 'list'],
        [{ watchedDigest: 2, generation: 3 }, 'generation-changed'],
        [{ watchedDigest: 2, generation: 3 }, 'skip same-generation'],
      ],
    ],
    [
      'are news of a kind without generation',
      [
        [{ ...bare, watchedDigest: 1 }, 'sweep', 'first-list'],
        [{ ...bare, watchedDigest: 2, resourceVersion: '101' }, 'metadata-changed'],
        [{ ...bare, watchedDigest: 2, resourceVersion: '102' }, 'generation-changed'],
      ],
    ],
    [
      'run an object that was given up',
      [
        [{ watchedDigest: 1, status: status({ observedGeneration: 0, stalledGeneration: 1 }) }, 'skip stalled', 'first-list'],
        [{ watchedDigest: 2, status: status({ observedGeneration: 0, stalledGeneration: 1 }) }, 'metadata-changed'],
      ],
    ],
    [
      'are no news of a deletion, a pause or what is held back',
      [
        [{ watchedDigest: 1 }, 'skip settled'],
        [{ watchedDigest: 2, isFiltered }, 'skip filtered'],
        [{ watchedDigest: 3, isPaused: true, isFiltered }, 'skip filtered'],
        [{ watchedDigest: 4, isDeleting: true }, 'deleting'],
      ],
    ],
    [
      'are no news in a frame that is older',
      [
        [{ watchedDigest: 1, resourceVersion: '900' }, 'skip settled'],
        [{ watchedDigest: 2 }, 'skip older'],
        [{ watchedDigest: 2, resourceVersion: '901' }, 'metadata-changed'],
      ],
    ],
  ];
  for (const [name, sights] of rows) it(name, () => void follow(ours, sights));

  it('are forgotten with their object', () => {
    const known = follow(ours, [[{ watchedDigest: 1 }, 'skip settled']]);
    known.remove('uid1', '200');
    const verdict = known.observe(object({ watchedDigest: 2, resourceVersion: '201' }), 'watch', 0);
    assert.equal(verdict.reason, 'settled');
  });
});

describe('an object of a kind with a selector', () => {
  const selective = { revision: 1, hasSelector: true };
  const rows: readonly [name: string, sights: readonly Sight[]][] = [
    ['costs nothing at a start', [[{}, 'skip settled', 'first-list']]],
    ['is sent when it comes back settled (B11)', [[{}, 'selected']]],
    ['is sent when a later list shows that it came back', [[{}, 'selected', 'list']]],
    ['is created where it is not settled', [[{ status: UNTOUCHED }, 'created']]],
    [
      'is left alone where it comes back paused',
      [
        [{ isPaused: true }, 'skip paused'],
        [{}, 'resumed'],
      ],
    ],
  ];
  for (const [name, sights] of rows) it(name, () => void follow(selective, sights));
});

describe('an object of a kind that is not ours', () => {
  const described = { revision: 1, isDescribed: true };
  const unknown = { status: undefined };

  it('passes with its generation', () => {
    follow(described, [
      [unknown, 'sweep', 'first-list'],
      [unknown, 'skip same-generation'],
      [{ ...unknown, generation: 2 }, 'generation-changed'],
    ]);
  });

  it('passes with its version where it has no generation, never twice with one (B14)', () => {
    follow(described, [
      [bare, 'created'],
      [{ ...bare, resourceVersion: '101' }, 'generation-changed'],
      [{ ...bare, resourceVersion: '101' }, 'skip not-changed'],
      [{ ...bare, resourceVersion: '101' }, 'skip not-changed', 'list'],
      [{ ...bare, resourceVersion: '102' }, 'generation-changed', 'list'],
    ]);
  });

  it('is resynced but not healed', () => {
    const known = follow(described, [[unknown, 'created']]);
    assert.deepEqual(due(known, 1e9), []);
    assert.deepEqual(due(known, 1000), ['resync']);
  });
});
