/** One log line for what became of a run, or of a record that led to none. */
import { formatResourceKey } from '../../events/resource.ts';
import type { Log, LogFields } from '../adapters/telemetry.ts';
import type { Disposition } from '../core/disposition.ts';
import { failureOf, type Outcome } from '../core/outcome.ts';
import type { ForeignRecord, HeartbeatRecord, NewerRecord } from './record.ts';
import type { Decided } from './show.ts';

export interface SettledRun extends Decided {
  readonly acknowledged: boolean;
  readonly durationMs: number;
}

/** The name of the way a run ended: a branch of a finished one, else its kind of outcome. */
function branchOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'finished':
      return outcome.branch;
    case 'overtaken':
      return `overtaken-${outcome.by}`;
    default:
      return outcome.kind;
  }
}

/** Which limit a letter reached; `refused` is none. */
function becauseOf(disposition: Disposition): LogFields {
  return disposition.kind === 'dead-letter' ? { because: disposition.because } : {};
}

/** Writes the line of a run: info for what is as it should be, warn for what will be tried again, error for what needs somebody. */
export function reportRun(log: Log, { run, report, disposition, acknowledged, durationMs }: SettledRun): void {
  const { outcome, client, context, rereadCount } = report;
  const { reason, attempt, uid, generation } = run.data;
  const failure = 'failure' in outcome ? outcome.failure : undefined;
  // The message says what went wrong, but only the stack says where in the author's code.
  const stack = failure?.code === 'author-error' ? report.stack : undefined;
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
    apiRequestCount: client?.requestCount ?? 0,
    ...(rereadCount === 0 ? {} : { rereadCount }),
    ...(failure === undefined ? {} : { stage: report.stage, code: failure.code, errorClass: failure.errorClass, error: failure.message }),
    ...(stack === undefined ? {} : { stack }),
  };
  log[levelOf(outcome, disposition)]('record processed', fields);
}

/** Writes a heartbeat down with every field, for metric filters: how long it was on its way, and how the cells were. */
export function reportHeartbeat(log: Log, { receipt, heartbeat }: HeartbeatRecord, now: Date): void {
  const { lastEventAt, ...data } = heartbeat.data;
  const secondsSince = (time: string): number => Math.round((now.getTime() - Date.parse(time)) / 100) / 10;
  log.info('heartbeat', {
    ...{ ...data, branch: 'heartbeat', ageSeconds: secondsSince(heartbeat.time) },
    ...(lastEventAt === undefined ? {} : { lastEventAgeSeconds: secondsSince(lastEventAt) }),
    ...{ lane: receipt.lane, messageIds: [receipt.messageId], acknowledged: true },
  });
}

export function reportNewer(
  log: Log,
  { record, disposition, acknowledged }: { record: NewerRecord; disposition: Disposition; acknowledged: boolean },
): void {
  const { messageId, lane } = record.receipt;
  log.warn('record of a newer release', {
    ...{ branch: 'newer-type', disposition: disposition.kind, ...becauseOf(disposition) },
    ...{ type: record.type, lane, messageIds: [messageId], acknowledged },
  });
}

export function reportForeign(log: Log, { record, acknowledged }: { record: ForeignRecord; acknowledged: boolean }): void {
  const { messageId, lane } = record.receipt;
  log.error('record is no envelope of ours', {
    ...{ branch: 'foreign', disposition: 'dead-letter', error: record.reason, lane, messageIds: [messageId], acknowledged },
  });
}

/** A fault in our own code around a run; its records stay in the queue. */
export function reportUnforeseen(log: Log, messageIds: readonly string[], error: unknown): void {
  const { code, errorClass, message } = failureOf(error);
  log.error('record failed in a way nobody foresaw', { branch: 'unforeseen', messageIds, code, errorClass, error: message });
}

function levelOf(outcome: Outcome, disposition: Disposition): 'info' | 'warn' | 'error' {
  if (disposition.kind === 'dead-letter' || disposition.kind === 'fail-item' || outcome.kind === 'denied') return 'error';
  return outcome.kind === 'finished' || outcome.kind === 'not-due' || outcome.kind === 'requeue-after' ? 'info' : 'warn';
}
