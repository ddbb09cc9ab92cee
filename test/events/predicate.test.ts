import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REASONS, type Reason } from '../../events/envelope.ts';
import type { ObservedObject } from '../../events/observed-object.ts';
import { isSettled, judge, type KindPolicy, type Phase, type Remembered, type SkipReason } from '../../events/predicate.ts';
import { object, status, UNTOUCHED } from './builders.ts';

const policy: KindPolicy = { revision: 1 };
const withFinalizer: KindPolicy = { revision: 1, finalizer: 'platform.example/ours' };
const known: Remembered = {
  resourceVersion: '10',
  generation: 1,
  isDeleting: false,
  isPaused: false,
  settledness: 'settled',
  isStale: false,
};

type Row = readonly [
  name: string,
  before: Partial<Remembered> | undefined,
  object: Partial<ObservedObject>,
  phase: Phase,
  expected: Reason | `skip ${SkipReason}`,
  policy?: KindPolicy,
];

function check(rows: readonly Row[]): void {
  for (const [name, before, seen, phase, expected, kind = policy] of rows) {
    it(`${expected}: ${name}`, () => {
      const verdict = judge(before && { ...known, ...before }, object(seen), phase, kind);
      if (verdict.kind === 'skip') return assert.equal(`skip ${verdict.reason}`, expected);
      assert.equal(verdict.reason, expected);
      assert.deepEqual({ lane: verdict.lane, mustRun: verdict.mustRun }, REASONS[verdict.reason]);
    });
  }
}

const unsettled = { status: UNTOUCHED };
const behind = { generation: 2, resourceVersion: '11' };
const ours = { isDeleting: true, generation: 2, resourceVersion: '11', finalizers: ['platform.example/ours'] };

describe('isSettled', () => {
  const rows: readonly [name: string, status: Parameters<typeof isSettled>[0], revision: number, expected: boolean][] = [
    ['generation and revision equal', { generation: 3, observedGeneration: 3, observedRevision: 2 }, 2, true],
    ['no revision counts as 1', { generation: 3, observedGeneration: 3 }, 1, true],
    ['no revision, but the code is at 2', { generation: 3, observedGeneration: 3 }, 2, false],
    ['older code', { generation: 3, observedGeneration: 3, observedRevision: 1 }, 2, false],
    ['newer code, rolled back', { generation: 3, observedGeneration: 3, observedRevision: 3 }, 2, false],
    ['behind', { generation: 3, observedGeneration: 2 }, 1, false],
    ['ahead, as after a restore', { generation: 1, observedGeneration: 7 }, 1, false],
    ['never observed', { generation: 1 }, 1, false],
    ['a kind without generation', {}, 1, false],
  ];
  for (const [name, given, revision, expected] of rows) {
    it(`is ${expected}: ${name}`, () => assert.equal(isSettled(given, revision), expected));
  }
});

describe('an unknown object in a process’s first list', () => {
  check([
    ['settled', undefined, {}, 'first-list', 'skip settled'],
    ['never worked on', undefined, unsettled, 'first-list', 'sweep'],
    ['settled by an older revision', undefined, {}, 'first-list', 'sweep', { revision: 2 }],
    ['nothing shows whether it is settled', undefined, { status: undefined }, 'first-list', 'sweep'],
    [
      'given up for this generation',
      undefined,
      { status: status({ observedGeneration: undefined, stalledGeneration: 1 }) },
      'first-list',
      'skip stalled',
    ],
    ['given up for an older one', undefined, { ...behind, status: status({ stalledGeneration: 1 }) }, 'first-list', 'sweep'],
    ['paused', undefined, { ...unsettled, isPaused: true }, 'first-list', 'skip paused'],
    ['held by our finalizer', undefined, ours, 'first-list', 'sweep', withFinalizer],
    ['held by our finalizer while paused', undefined, { ...ours, isPaused: true }, 'first-list', 'sweep', withFinalizer],
    [
      'held by our finalizer, given up',
      undefined,
      { ...ours, status: status({ stalledGeneration: 2 }) },
      'first-list',
      'skip stalled',
      withFinalizer,
    ],
    ['held by a foreign finalizer', undefined, { ...ours, finalizers: ['x'] }, 'first-list', 'skip deleting', withFinalizer],
    ['being deleted, of a kind without finalizer', undefined, ours, 'first-list', 'skip deleting'],
  ]);
});

describe('an unknown object later', () => {
  check([
    ['created', undefined, unsettled, 'watch', 'created'],
    ['created in a gap', undefined, unsettled, 'list', 'created'],
    ['nothing shows whether it is settled', undefined, { status: undefined }, 'watch', 'created'],
    ['settled by another watcher’s message', undefined, {}, 'list', 'skip settled'],
    ['restored with a status that is ahead of it', undefined, { status: status({ observedGeneration: 7 }) }, 'watch', 'created'],
    [
      'restored with the mark of its predecessor’s dead letter',
      undefined,
      { status: status({ observedGeneration: undefined, stalledGeneration: 1 }) },
      'watch',
      'created',
    ],
    ['created paused', undefined, { ...unsettled, isPaused: true }, 'watch', 'skip paused'],
    ['first seen being deleted', undefined, ours, 'list', 'deleting'],
    ['first seen being deleted, in a watch', undefined, ours, 'watch', 'deleting', withFinalizer],
  ]);
});

describe('a known object', () => {
  check([
    ['spec changed', {}, behind, 'watch', 'generation-changed'],
    ['spec changed in a gap', {}, behind, 'list', 'generation-changed'],
    ['spec changed and already done by somebody', {}, { ...behind, status: status({ observedGeneration: 2 }) }, 'list', 'skip settled'],
    ['our own status write', { settledness: 'unsettled' }, { resourceVersion: '11' }, 'watch', 'skip same-generation'],
    ['labels only', {}, { resourceVersion: '11' }, 'watch', 'skip same-generation'],
    ['a failure that we wrote', { settledness: 'unsettled' }, { ...unsettled, resourceVersion: '11' }, 'watch', 'skip same-generation'],
    ['the same frame again', { settledness: 'unsettled' }, unsettled, 'watch', 'skip not-changed'],
    ['a replayed older frame', { generation: 2 }, { resourceVersion: '9', ...unsettled }, 'watch', 'skip older'],
    [
      'a version across the digit boundary',
      { resourceVersion: '99' },
      { generation: 2, resourceVersion: '100' },
      'watch',
      'generation-changed',
    ],
    [
      'a version past 2^53',
      { resourceVersion: '9007199254740993' },
      { generation: 2, resourceVersion: '9007199254740994' },
      'watch',
      'generation-changed',
    ],
    [
      'versions that are no numbers',
      { resourceVersion: 'abc-7' },
      { generation: 2, resourceVersion: 'abc-3' },
      'watch',
      'generation-changed',
    ],
    ['unsettled as before, in a relist', { settledness: 'unsettled' }, unsettled, 'list', 'skip not-changed'],
    ['our status taken away, in a relist', {}, { ...unsettled, resourceVersion: '11' }, 'list', 'sweep'],
    ['our status taken away, in a watch: left to healing', {}, { ...unsettled, resourceVersion: '11' }, 'watch', 'skip same-generation'],
    ['seen again by a first list that began anew', { settledness: 'unsettled' }, unsettled, 'first-list', 'skip not-changed'],
  ]);
});

describe('deletion is its own rule (B13)', () => {
  check([
    ['deletionTimestamp, the generation as before', { generation: 3 }, { ...ours, generation: 3 }, 'watch', 'deleting', withFinalizer],
    ['deletionTimestamp and a new generation', { generation: 3 }, { ...ours, generation: 4 }, 'watch', 'deleting', withFinalizer],
    ['first seen in a relist', { generation: 3 }, { ...ours, generation: 4 }, 'list', 'deleting', withFinalizer],
    ['of a kind without finalizer', {}, ours, 'watch', 'deleting'],
    ['of a paused object', { isPaused: true }, { ...ours, isPaused: true }, 'watch', 'deleting'],
    ['of a kind without generation', { generation: undefined }, { ...ours, generation: undefined }, 'watch', 'deleting'],
    [
      'a frame that only drops another finalizer',
      { isDeleting: true, generation: 2 },
      { ...ours, resourceVersion: '12' },
      'watch',
      'skip deleting',
      withFinalizer,
    ],
    [
      'the relist shows it again',
      { isDeleting: true, generation: 2, settledness: 'unsettled' },
      ours,
      'list',
      'skip deleting',
      withFinalizer,
    ],
    ['the spec changes while it is being deleted', { isDeleting: true, generation: 2 }, { ...ours, generation: 3 }, 'watch', 'deleting'],
  ]);
});

describe('a pause', () => {
  check([
    ['set', {}, { isPaused: true, resourceVersion: '11' }, 'watch', 'paused'],
    ['set together with a spec change', {}, { ...behind, isPaused: true }, 'watch', 'paused'],
    ['set in a gap', {}, { isPaused: true, resourceVersion: '11' }, 'list', 'paused'],
    ['spec changed while paused', { isPaused: true }, { ...behind, isPaused: true }, 'watch', 'skip paused'],
    ['lifted', { isPaused: true, generation: 2, settledness: 'unsettled' }, { ...behind, resourceVersion: '12' }, 'watch', 'resumed'],
    ['lifted from a settled object', { isPaused: true }, { resourceVersion: '11' }, 'watch', 'resumed'],
    [
      'lifted while it is being deleted and our finalizer is on it',
      { isDeleting: true, generation: 2, isPaused: true, settledness: 'unsettled' },
      { ...ours, resourceVersion: '12' },
      'watch',
      'resumed',
      withFinalizer,
    ],
    [
      'lifted while it is being deleted without our finalizer',
      { isDeleting: true, generation: 2, isPaused: true },
      { ...ours, resourceVersion: '12' },
      'watch',
      'skip deleting',
    ],
    ['lifted in a gap', { isPaused: true }, { resourceVersion: '11' }, 'list', 'resumed'],
  ]);
});

describe('a kind without generation (B14)', () => {
  const configMap = { generation: undefined, status: undefined };
  const before = { generation: undefined, settledness: 'unknown' } as const;
  check([
    ['first sight', undefined, configMap, 'first-list', 'sweep'],
    ['first sight later', undefined, configMap, 'watch', 'created'],
    ['data changed', before, { ...configMap, resourceVersion: '11' }, 'watch', 'generation-changed'],
    ['the same frame again', before, configMap, 'watch', 'skip not-changed'],
    ['the same version in a relist', before, configMap, 'list', 'skip not-changed'],
    ['a changed version in a relist', before, { ...configMap, resourceVersion: '11' }, 'list', 'generation-changed'],
  ]);
});

describe('after the cluster went back in time (B19)', () => {
  const ahead = { resourceVersion: '1200', generation: 5 };
  check([
    [
      'a lower generation in a list',
      ahead,
      { resourceVersion: '900', generation: 3, status: status({ observedGeneration: 5 }) },
      'list',
      'generation-changed',
    ],
    [
      'a deletion that never was',
      { ...ahead, isDeleting: true },
      { resourceVersion: '900', generation: 5, ...unsettled },
      'list',
      'generation-changed',
    ],
    [
      'an unsettled object at a lower version',
      { ...ahead, settledness: 'unsettled' },
      { resourceVersion: '900', generation: 5, ...unsettled },
      'list',
      'sweep',
    ],
    ['an unsettled object at the version remembered', { isStale: true, settledness: 'unsettled' }, unsettled, 'list', 'sweep'],
    [
      'given up',
      { isStale: true, settledness: 'unsettled' },
      { status: status({ observedGeneration: undefined, stalledGeneration: 1 }) },
      'list',
      'skip stalled',
    ],
    ['held by our finalizer', { isStale: true, isDeleting: true, generation: 2 }, ours, 'list', 'sweep', withFinalizer],
    [
      'a settled object at a lower version',
      ahead,
      { resourceVersion: '900', generation: 5, status: status({ observedGeneration: 5 }) },
      'list',
      'skip same-generation',
    ],
    [
      'a frame at a lower version than the forgotten one',
      { ...ahead, isStale: true },
      { resourceVersion: '900', generation: 3 },
      'watch',
      'generation-changed',
    ],
  ]);
});
