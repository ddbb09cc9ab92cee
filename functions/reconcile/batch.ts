/**
 * A whole invocation: records are parsed alone, folded by object, run side by side, each within its own deadline. Nothing
 * that one of them does, throws or never finishes reaches another; the answer names the records that SQS is to keep.
 */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { mapBounded } from '../core/bounded.ts';
import { type Budgets, dispose } from '../core/disposition.ts';
import { dataOfFound, spentBudget } from '../core/next-envelope.ts';
import { startTimer } from './abort.ts';
import type { Circuits } from './circuits.ts';
import { carryOut, type EffectDependencies, effectOfForeign, effectOfNewer, effectOfRun } from './effects.ts';
import { foldRecords, type ObjectRun } from './fold.ts';
import { outcomeInsteadOfLetter } from './overtaken.ts';
import { processRun, type RunDependencies, reconcilerOf } from './process.ts';
import { type ForeignRecord, type NewerRecord, parseRecord } from './record.ts';
import { reportForeign, reportHeartbeat, reportNewer, reportRun, reportUnfinalized, reportUnforeseen, type Telemetry } from './report.ts';
import type { RunReport } from './run-report.ts';
import { type Decided, showInTime } from './show.ts';

/** Objects worked on at once in one invocation. */
const PARALLEL_RUNS = 10;
/** Most milliseconds of an invocation that no run may use: they are for sending what comes of it. */
const RESERVED_MAX_MS = 5_000;
/** The part of what remains that is kept instead where that is less: a time-out of 5 s leaves its runs 3.75 s. */
const RESERVED_PART = 1 / 4;
/** Milliseconds before the end of an invocation at which sends are given up, so that the answer still gets out. */
const ANSWER_MS = 1_000;

export interface BatchDependencies extends RunDependencies, EffectDependencies, Telemetry {
  readonly clusters: RunDependencies['clusters'];
  readonly circuits: Circuits;
  readonly budgets: Budgets;
  readonly recordDeadlineSeconds: number;
}

/** What an invocation says of its time. */
export interface Invocation {
  /** Milliseconds until the platform ends it. */
  remainingMs(): number;
}

/** The partial batch response: every record that is not in it may be deleted. Never throws for what a record holds. */
export async function processBatch(event: SQSEvent, invocation: Invocation, dependencies: BatchDependencies): Promise<SQSBatchResponse> {
  try {
    return await settleAll(event, withinTimeout(invocation, dependencies), dependencies);
  } finally {
    flushMetrics(dependencies);
  }
}

/**
 * The same invocation, ended by the configured time-out where the platform would wait for longer: what finalizes an object counts on
 * every run being over by then.
 */
function withinTimeout(invocation: Invocation, { clock, functionTimeoutSeconds }: BatchDependencies): Invocation {
  const endMs = clock.steadyMs() + functionTimeoutSeconds * 1000;
  return { remainingMs: () => Math.min(invocation.remainingMs(), endMs - clock.steadyMs()) };
}

/** What was done is done, also where it cannot be told: an error here would have all of it done again. */
function flushMetrics({ log, metrics }: BatchDependencies): void {
  try {
    metrics.flush();
  } catch (error) {
    log.error('metrics not written', { error });
  }
}

async function settleAll(event: SQSEvent, invocation: Invocation, dependencies: BatchDependencies): Promise<SQSBatchResponse> {
  const { clock, queueUrls } = dependencies;
  const startedAt = clock.now();
  const records = (event.Records ?? []).map((record) => parseRecord(record, queueUrls, startedAt));
  const sends = startTimer(clock, invocation.remainingMs() - ANSWER_MS, 'the invocation is about to end');
  for (const record of records) if (record.kind === 'heartbeat') reportHeartbeat(dependencies, record, startedAt);
  const works: Work[] = [
    ...foldRecords(
      records.filter((record) => record.kind === 'reconcile'),
      startedAt,
      (data) => reconcilerOf(data, dependencies)?.finalization !== undefined,
    ).map((run) => ({
      messageIds: run.messageIds,
      key: run.key,
      settle: () => settleRun(run, invocation, sends.signal, dependencies),
    })),
    ...records
      .filter((record) => record.kind === 'newer')
      .map((record) => ({ messageIds: [record.receipt.messageId], settle: () => settleNewer(record, sends.signal, dependencies) })),
    ...records
      .filter((record) => record.kind === 'foreign')
      .map((record) => ({ messageIds: [record.receipt.messageId], settle: () => settleForeign(record, sends.signal, dependencies) })),
  ];
  const failed = await mapBounded(works, PARALLEL_RUNS, async (work) => {
    try {
      return (await work.settle()) ? [] : work.messageIds;
    } catch (error) {
      // A fault of ours, not of the record: it stays in the queue, and its neighbours go on.
      reportUnforeseen(dependencies, work, error);
      return work.messageIds;
    }
  });
  sends.stop();
  return { batchItemFailures: [...new Set(failed.flat())].map((itemIdentifier) => ({ itemIdentifier })) };
}

interface Work {
  readonly messageIds: readonly string[];
  readonly key?: ObjectRun['key'];
  /** True if its records may be acknowledged. */
  readonly settle: () => Promise<boolean>;
}

async function settleRun(run: ObjectRun, invocation: Invocation, sends: AbortSignal, dependencies: BatchDependencies): Promise<boolean> {
  const { clock, recordDeadlineSeconds } = dependencies;
  const startedAtMs = clock.steadyMs();
  const remainingMs = invocation.remainingMs();
  const reservedMs = Math.min(RESERVED_MAX_MS, remainingMs * RESERVED_PART);
  const deadline = startTimer(clock, Math.min(recordDeadlineSeconds * 1000, remainingMs - reservedMs), 'the run took too long');
  const circuit = dependencies.circuits.visit(run.key.cluster);
  let decided: Decided;
  try {
    decided = await decide(await processRun(run, dependencies, deadline.signal, circuit), run, deadline.signal, dependencies);
    await showInTime(decided, { deadline: deadline.signal, opened: circuit.opened, sends }, dependencies);
  } finally {
    // Whatever happened: a probe that never ends would keep every other run of its cluster waiting.
    circuit.leave();
    deadline.stop();
  }
  const acknowledged = await carryOut(effectOfRun(decided, dependencies), dependencies, sends);
  reportRun(dependencies, { ...decided, acknowledged, durationMs: clock.steadyMs() - startedAtMs });
  reportUnfinalized(dependencies, decided, clock.now(), budgetsOf(run, dependencies).maxAgeSeconds);
  return acknowledged;
}

/** What becomes of a run's message; nothing is given up for a run that was overtaken without noticing. */
async function decide(report: RunReport, run: ObjectRun, signal: AbortSignal, dependencies: BatchDependencies): Promise<Decided> {
  const { clock } = dependencies;
  const budgets = budgetsOf(run, dependencies);
  const decideOn = (latest: RunReport): Decided => {
    const now = clock.now();
    const data = dataOfFound(run.data, latest.outcome, latest.context?.object.metadata, now);
    const disposition = dispose(latest.outcome, { ...spentBudget(data, now), random: clock.random(), now, budgets });
    return { run: { ...run, data }, report: latest, disposition };
  };
  const decided = decideOn(report);
  if (decided.disposition.kind !== 'dead-letter') return decided;
  const instead = await outcomeInsteadOfLetter(report, signal);
  if (instead === undefined) return decided;
  const other = decideOn({ ...report, ...instead });
  return other.disposition.kind === 'dead-letter' ? decided : other;
}

function budgetsOf({ key }: ObjectRun, dependencies: BatchDependencies): Budgets {
  return { ...dependencies.budgets, ...reconcilerOf(key, dependencies)?.retry };
}

async function settleNewer(record: NewerRecord, sends: AbortSignal, dependencies: BatchDependencies): Promise<boolean> {
  const { clock, budgets } = dependencies;
  const now = clock.now();
  const ageSeconds = (now.getTime() - record.sentAt.getTime()) / 1000;
  const disposition = dispose({ kind: 'newer-type', type: record.type }, { attempt: 1, ageSeconds, random: clock.random(), now, budgets });
  const acknowledged = await carryOut(effectOfNewer(record, disposition, dependencies), dependencies, sends);
  reportNewer(dependencies, { record, disposition, acknowledged });
  return acknowledged;
}

async function settleForeign(record: ForeignRecord, sends: AbortSignal, dependencies: BatchDependencies): Promise<boolean> {
  const acknowledged = await carryOut(effectOfForeign(record, dependencies), dependencies, sends);
  reportForeign(dependencies, { record, acknowledged });
  return acknowledged;
}
