/**
 * What the function tells of its work in numbers. Few on purpose: CloudWatch bills every name with every set of dimensions, so
 * only `Records` is told apart by branch.
 */
import type { Heartbeat } from '../../events/heartbeat.ts';
import { type Disposition, rowOf } from './disposition.ts';
import type { Metric } from './metric.ts';
import { branchOf, type Outcome } from './outcome.ts';

/** Where numbers go that belong to no cluster of the registry: what a body says must not make new dimensions. */
export const NO_CLUSTER = 'unknown';

/** A heartbeat that took longer than this, in seconds, says nothing of how its cluster is now. */
export const HEARTBEAT_FRESH_SECONDS = 300;

/** What became of the records of one run, or of one record that led to none. */
export interface Settled {
  readonly outcome: Outcome;
  readonly disposition: Disposition;
  readonly recordCount: number;
  readonly acknowledged: boolean;
  /** Of a run that had an object to look for. */
  readonly cost?: { readonly durationMs: number; readonly apiRequestCount: number };
}

/** The numbers of one run. What was to be sent counts only once SQS has it: a record that comes back tells of itself again. */
export function metricsOfSettled(cluster: string, { outcome, disposition, recordCount, acknowledged, cost }: Settled): Metric[] {
  const dimensions = { cluster };
  const count = (name: string, value = 1): Metric => ({ name, unit: 'Count', value, dimensions });
  // What was not let in would make every other run look short.
  const isRun = cost !== undefined && outcome.kind !== 'circuit-open';
  return [
    ...metricsOfRecords(cluster, branchOf(outcome), recordCount),
    ...(isRun ? [{ name: 'RunDuration', unit: 'Milliseconds', value: cost.durationMs, dimensions } as const] : []),
    ...(isRun ? [count('ApiRequests', cost.apiRequestCount)] : []),
    ...(acknowledged ? [] : [count('LeftInQueue', recordCount)]),
    ...(acknowledged && disposition.kind === 'dead-letter' ? [count('DeadLetters')] : []),
    ...(acknowledged && disposition.kind === 'requeue' && rowOf(outcome) !== undefined ? [count('Retries')] : []),
    ...(outcome.kind === 'denied' ? [count('Denied')] : []),
    ...(outcome.kind === 'overtaken' ? [count('Overtaken')] : []),
    ...(outcome.kind === 'circuit-open' ? [count('CircuitOpen')] : []),
  ];
}

/** The numbers of what is no run: a record that is a dead letter before it is anything else, or a fault of ours around one. */
export function metricsOfNoRun(
  cluster: string,
  { branch, recordCount, acknowledged }: { branch: 'foreign' | 'unforeseen'; recordCount: number; acknowledged: boolean },
): Metric[] {
  const left = acknowledged ? { name: 'DeadLetters', value: 1 } : { name: 'LeftInQueue', value: recordCount };
  return [...metricsOfRecords(cluster, branch, recordCount), { ...left, unit: 'Count', dimensions: { cluster } }];
}

function metricsOfRecords(cluster: string, branch: string, recordCount: number): Metric[] {
  return [{ name: 'Records', unit: 'Count', value: recordCount, dimensions: { cluster, branch } }];
}

/**
 * The numbers of a heartbeat: that it came, how long it took and, if that was not long, how the cluster is. It is not among
 * `Records`, which would be a second name for `Heartbeats` to be billed. One of no cluster of the registry is counted only, or values
 * of several would be one.
 */
export function metricsOfHeartbeat(cluster: string, { time, data }: Heartbeat, now: Date): Metric[] {
  const dimensions = { cluster };
  const secondsSince = (instant: string): number => Math.max(0, (now.getTime() - Date.parse(instant)) / 1000);
  const count = (name: string, value: number): Metric => ({ name, unit: 'Count', value, dimensions });
  const seconds = (name: string, value: number): Metric => ({ name, unit: 'Seconds', value, dimensions });
  if (cluster === NO_CLUSTER) return [count('Heartbeats', 1)];
  const age = secondsSince(time);
  const came = [count('Heartbeats', 1), seconds('HeartbeatAge', age)];
  if (age > HEARTBEAT_FRESH_SECONDS) return came;
  const { lastEventAt } = data;
  return [
    ...came,
    count('UnsettledObjects', data.unsettledCount),
    seconds('OldestUnsettled', data.oldestUnsettledSeconds),
    count('WatchesDown', Math.max(0, data.cellCount - data.streamingCount)),
    ...(lastEventAt === undefined ? [] : [seconds('LastEventAge', secondsSince(lastEventAt))]),
  ];
}
