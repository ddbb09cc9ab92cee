import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildHeartbeat } from '../../../events/heartbeat.ts';
import type { Disposition } from '../../../functions/core/disposition.ts';
import type { Metric } from '../../../functions/core/metric.ts';
import { type FailedKind, type Outcome, outcomeOf } from '../../../functions/core/outcome.ts';
import {
  HEARTBEAT_FRESH_SECONDS,
  metricsOfHeartbeat,
  metricsOfNoRun,
  metricsOfSettled,
  NO_CLUSTER,
  type Settled,
} from '../../../functions/core/run-metrics.ts';

/** `name{branch} value`, units and the cluster left out. */
const shown = (metrics: readonly Metric[]): string[] =>
  metrics.map(({ name, value, dimensions: { branch } }) => `${name}${branch === undefined ? '' : `{${branch}}`} ${value}`);

const done: Disposition = { kind: 'done' };
const again: Disposition = { kind: 'requeue', delaySeconds: 3, attempt: 2 };
const failItem: Disposition = { kind: 'fail-item' };
const failure = { code: 'x', errorClass: 'E', message: 'm' };
const letter: Disposition = { kind: 'dead-letter', failure, because: 'age' };
const failed = (kind: FailedKind): Outcome => ({ kind, failure });
const settled = (outcome: Outcome, disposition: Disposition, over: Partial<Settled> = {}): Settled => ({
  outcome,
  disposition,
  recordCount: 1,
  acknowledged: disposition.kind !== 'fail-item',
  ...over,
});

describe('metricsOfSettled', () => {
  const cases: [string, Settled, string[]][] = [
    [
      'a run that settled its object, of three records',
      settled({ kind: 'finished', branch: 'reconciled' }, done, { recordCount: 3, cost: { durationMs: 40, apiRequestCount: 5 } }),
      ['Records{reconciled} 3', 'RunDuration 40', 'ApiRequests 5'],
    ],
    ['a record without a run', settled({ kind: 'not-due', notBefore: new Date(0) }, again), ['Records{not-due} 1']],
    ['a retry', settled(failed('transient'), again), ['Records{transient} 1', 'Retries 1']],
    [
      'a retry that SQS did not take',
      settled(failed('transient'), again, { acknowledged: false }),
      ['Records{transient} 1', 'LeftInQueue 1'],
    ],
    [
      'a run that was overtaken',
      settled({ kind: 'overtaken', by: 'newer-run' }, again),
      ['Records{overtaken-newer-run} 1', 'Retries 1', 'Overtaken 1'],
    ],
    ['a right that is missing', settled(failed('denied'), again), ['Records{denied} 1', 'Retries 1', 'Denied 1']],
    [
      'a hop at an open circuit, which is no retry and no run',
      settled({ kind: 'circuit-open', waitSeconds: 9 }, again, { cost: { durationMs: 0, apiRequestCount: 0 } }),
      ['Records{circuit-open} 1', 'CircuitOpen 1'],
    ],
    ['a dead letter', settled(failed('refused'), letter), ['Records{refused} 1', 'DeadLetters 1']],
    [
      'a dead letter that SQS did not take',
      settled(failed('refused'), letter, { acknowledged: false }),
      ['Records{refused} 1', 'LeftInQueue 1'],
    ],
    [
      'a letter for a right that was missing for too long',
      settled(failed('denied'), letter),
      ['Records{denied} 1', 'DeadLetters 1', 'Denied 1'],
    ],
    ['a deadline', settled(failed('unknown'), failItem, { recordCount: 2 }), ['Records{unknown} 2', 'LeftInQueue 2']],
    ['a message of a newer release', settled({ kind: 'newer-type', type: 't' }, again), ['Records{newer-type} 1', 'Retries 1']],
  ];
  for (const [name, input, expected] of cases) {
    it(`counts ${name}`, () => assert.deepEqual(shown(metricsOfSettled('east', input)), expected));
  }

  it('has the cluster alone for a dimension, save where records are told apart', () => {
    const metrics = metricsOfSettled('east', settled(outcomeOf(new Error('x'), 'author'), letter));
    const names = new Map(metrics.map(({ name, dimensions }) => [name, Object.keys(dimensions)]));
    assert.deepEqual(
      [...names],
      [
        ['Records', ['cluster', 'branch']],
        ['DeadLetters', ['cluster']],
      ],
    );
  });
});

describe('metricsOfNoRun', () => {
  it('counts a letter, or what was left in the queue', () => {
    const figures = { recordCount: 2, acknowledged: false } as const;
    assert.deepEqual(shown(metricsOfNoRun('east', { ...figures, branch: 'unforeseen' })), ['Records{unforeseen} 2', 'LeftInQueue 2']);
    const letters = metricsOfNoRun(NO_CLUSTER, { branch: 'foreign', recordCount: 1, acknowledged: true });
    assert.deepEqual(shown(letters), ['Records{foreign} 1', 'DeadLetters 1']);
  });
});

describe('metricsOfHeartbeat', () => {
  const now = new Date('2030-01-01T00:10:00Z');
  const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
  const cell = { kind: 'K', phase: 'streaming', objectCount: 9, unsettledCount: 2, oldestUnsettledSeconds: 70 };
  const beat = (secondsAgo: number, cells: Parameters<typeof buildHeartbeat>[1]) =>
    buildHeartbeat('east', cells, { id: '1', now: before(secondsAgo) });

  it('tells how the cluster is, of all its kinds together', () => {
    const cells = [
      { ...cell, lastEventAt: before(8).toISOString() },
      { ...cell, phase: 'failing', oldestUnsettledSeconds: 90, lastEventAt: before(30).toISOString() },
    ];
    assert.deepEqual(shown(metricsOfHeartbeat('east', beat(2.5, cells), now)), [
      'Heartbeats 1',
      'HeartbeatAge 2.5',
      'UnsettledObjects 4',
      'OldestUnsettled 90',
      'WatchesDown 1',
      'LastEventAge 8',
    ]);
  });

  it('has no age of an event where there was none yet', () => {
    assert.ok(!shown(metricsOfHeartbeat('east', beat(1, [cell]), now)).some((text) => text.startsWith('LastEventAge')));
  });

  it('tells of the way only where it came late: the cluster may be well by now', () => {
    const at = (age: number): string[] => shown(metricsOfHeartbeat('east', beat(age, [cell]), now));
    assert.deepEqual(at(HEARTBEAT_FRESH_SECONDS + 1), ['Heartbeats 1', `HeartbeatAge ${HEARTBEAT_FRESH_SECONDS + 1}`]);
    assert.ok(at(HEARTBEAT_FRESH_SECONDS).length > 2);
  });

  it('knows no negative age: the sender’s clock may be ahead', () => {
    assert.ok(
      shown(metricsOfHeartbeat('east', beat(-60, [{ ...cell, lastEventAt: before(-50).toISOString() }]), now)).includes('HeartbeatAge 0'),
    );
    assert.ok(
      shown(metricsOfHeartbeat('east', beat(-60, [{ ...cell, lastEventAt: before(-50).toISOString() }]), now)).includes('LastEventAge 0'),
    );
  });

  it('is counted only where the cluster is none of the registry: values of several would be one', () => {
    assert.deepEqual(shown(metricsOfHeartbeat(NO_CLUSTER, beat(1, [cell]), now)), ['Heartbeats 1']);
  });
});
