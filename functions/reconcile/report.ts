/** One log line for what became of a run, or of a record that led to none, and the numbers that go with it. */
import { type ClusterName, formatResourceKey } from '../../events/resource.ts';
import type { Metrics } from '../adapters/metrics.ts';
import type { Log, LogFields } from '../adapters/telemetry.ts';
import type { Disposition } from '../core/disposition.ts';
import { stackOf } from '../core/errors.ts';
import { branchOf, failureOf, type Outcome } from '../core/outcome.ts';
import { metricsOfHeartbeat, metricsOfNoRun, metricsOfSettled, NO_CLUSTER } from '../core/run-metrics.ts';
import type { ObjectRun } from './fold.ts';
import type { ForeignRecord, HeartbeatRecord, NewerRecord } from './record.ts';
import type { Decided } from './show.ts';

/** Where all of it is told. */
export interface Telemetry {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Those of the registry: any other name is no dimension. */
  readonly clusters: { has(name: ClusterName): boolean };
}

export interface SettledRun extends Decided {
  readonly acknowledged: boolean;
  readonly durationMs: number;
}

/** Which limit a letter reached; `refused` is none. */
function becauseOf(disposition: Disposition): LogFields {
  return disposition.kind === 'dead-letter' ? { because: disposition.because } : {};
}

/** Writes the line of a run: info for what is as it should be, warn for what will be tried again, error for what needs somebody. */
export function reportRun(telemetry: Telemetry, { run, report, disposition, acknowledged, durationMs }: SettledRun): void {
  const { outcome, client, context, rereadCount } = report;
  const apiRequestCount = client?.requestCount ?? 0;
  const { reason, attempt, uid, generation } = run.data;
  const failure = 'failure' in outcome ? outcome.failure : undefined;
  // The message says what went wrong, but only the stack says where: in the author's code, or in ours where nobody foresaw it.
  const stack = failure?.code === 'author-error' || failure?.code === 'unclassified' ? report.stack : undefined;
  const fields: LogFields = {
    branch: branchOf(outcome),
    disposition: disposition.kind,
    ...(disposition.kind === 'requeue' ? { delaySeconds: disposition.delaySeconds } : {}),
    ...becauseOf(disposition),
    key: formatResourceKey(run.key),
    uid: context?.object.metadata.uid ?? uid,
    generation: context?.object.metadata.generation ?? generation,
    reason,
    attempt,
    lane: run.lane,
    messageIds: run.messageIds,
    acknowledged,
    durationMs,
    apiRequestCount,
    ...(rereadCount === 0 ? {} : { rereadCount }),
    ...(failure === undefined ? {} : { stage: report.stage, code: failure.code, errorClass: failure.errorClass, error: failure.message }),
    ...(stack === undefined ? {} : { stack }),
  };
  telemetry.log[levelOf(outcome, disposition)]('record processed', fields);
  const cost = client === undefined ? {} : { cost: { durationMs, apiRequestCount } };
  const settled = { outcome, disposition, recordCount: run.messageIds.length, acknowledged, ...cost };
  telemetry.metrics.add(metricsOfSettled(clusterOf(telemetry, run.key.cluster), settled));
}

/** Warns of what an object that is gone left outside, where that takes longer than a message may be tried: nothing else shows it. */
export function reportUnfinalized({ log }: Telemetry, { run, report: { outcome } }: Decided, now: Date, maxAgeSeconds: number): void {
  const ageSeconds = Math.floor((now.getTime() - Date.parse(run.data.firstSeenAt)) / 1000);
  if (outcome.kind !== 'requeue-after' || !outcome.isGone || ageSeconds < maxAgeSeconds) return;
  const { uid } = outcome;
  log.warn('finalize is not done for an object that is gone; it is asked again', { key: formatResourceKey(run.key), uid, ageSeconds });
}

/** Writes a heartbeat down with every field: how long it was on its way, and how the cells were. */
export function reportHeartbeat(telemetry: Telemetry, { receipt, heartbeat }: HeartbeatRecord, now: Date): void {
  const { lastEventAt, ...data } = heartbeat.data;
  const secondsSince = (time: string): number => Math.round((now.getTime() - Date.parse(time)) / 100) / 10;
  telemetry.log.info('heartbeat', {
    ...{ ...data, branch: 'heartbeat', ageSeconds: secondsSince(heartbeat.time) },
    ...(lastEventAt === undefined ? {} : { lastEventAgeSeconds: secondsSince(lastEventAt) }),
    ...{ lane: receipt.lane, messageIds: [receipt.messageId], acknowledged: true },
  });
  telemetry.metrics.add(metricsOfHeartbeat(clusterOf(telemetry, data.cluster as ClusterName), heartbeat, now));
}

/** Writes the line of a record of a newer release: a warning each time, since it is for somebody to deploy that. */
export function reportNewer(
  telemetry: Telemetry,
  { record, disposition, acknowledged }: { record: NewerRecord; disposition: Disposition; acknowledged: boolean },
): void {
  const { messageId, lane } = record.receipt;
  const outcome = { kind: 'newer-type', type: record.type } as const;
  telemetry.log.warn('record of a newer release', {
    ...{ branch: branchOf(outcome), disposition: disposition.kind, ...becauseOf(disposition) },
    ...{ type: record.type, lane, messageIds: [messageId], acknowledged },
  });
  telemetry.metrics.add(metricsOfSettled(clusterOf(telemetry, record.cluster), { outcome, disposition, recordCount: 1, acknowledged }));
}

/** Writes the line of a record that is no envelope of ours, without its body: that is in its letter. */
export function reportForeign(
  { log, metrics }: Telemetry,
  { record, acknowledged }: { record: ForeignRecord; acknowledged: boolean },
): void {
  const { messageId, lane } = record.receipt;
  log.error('record is no envelope of ours', {
    ...{ branch: 'foreign', disposition: 'dead-letter', error: record.reason, lane, messageIds: [messageId], acknowledged },
  });
  metrics.add(metricsOfNoRun(NO_CLUSTER, { branch: 'foreign', recordCount: 1, acknowledged }));
}

/** A fault in our own code around a run, or around a record that led to none; its records stay in the queue. */
export function reportUnforeseen(
  { log, metrics, clusters }: Telemetry,
  { messageIds, key }: { messageIds: readonly string[]; key?: ObjectRun['key'] },
  error: unknown,
): void {
  const { code, errorClass, message } = failureOf(error);
  const stack = stackOf(error);
  log.error('record failed in a way nobody foresaw', {
    ...{ branch: 'unforeseen', messageIds, code, errorClass, error: message },
    ...(stack === undefined ? {} : { stack }),
    ...(key === undefined ? {} : { key: formatResourceKey(key) }),
  });
  const figures = { branch: 'unforeseen', recordCount: messageIds.length, acknowledged: false } as const;
  metrics.add(metricsOfNoRun(clusterOf({ clusters }, key?.cluster), figures));
}

function clusterOf({ clusters }: Pick<Telemetry, 'clusters'>, name: ClusterName | undefined): string {
  return name !== undefined && clusters.has(name) ? name : NO_CLUSTER;
}

function levelOf(outcome: Outcome, disposition: Disposition): 'info' | 'warn' | 'error' {
  if (disposition.kind === 'dead-letter' || disposition.kind === 'fail-item' || outcome.kind === 'denied') return 'error';
  return outcome.kind === 'finished' || outcome.kind === 'not-due' || outcome.kind === 'requeue-after' ? 'info' : 'warn';
}
