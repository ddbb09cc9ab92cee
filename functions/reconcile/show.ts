/** What the object's owner is to see of a run, within the time that there is for it. Best effort. */
import type { Disposition } from '../core/disposition.ts';
import { startTimer, untilAborted } from './abort.ts';
import { announce, announceFailure } from './announce.ts';
import { failureToShow, isShownFirst, showFailure } from './failure.ts';
import type { ObjectRun } from './fold.ts';
import type { RunDependencies } from './process.ts';
import { createRunClient } from './run-client.ts';
import type { RunReport } from './run-report.ts';

/** How long showing may take that the run's own client refuses, in milliseconds: of what the invocation keeps for sends. */
const LATE_MS = 2_000;

/** A run, and what becomes of its message; its data is that of the object which it found. */
export interface Decided {
  readonly run: ObjectRun;
  readonly report: RunReport;
  readonly disposition: Disposition;
}

/** When showing has to end. */
export interface ShowTimes {
  /** Aborted when the run's time is over. */
  readonly deadline: AbortSignal;
  /** Aborted when the run's cluster answers no other run. */
  readonly opened: AbortSignal;
  /** Aborted when the invocation is about to end. */
  readonly sends: AbortSignal;
}

/**
 * Shows what became of a run: before the message goes on, so that a redelivery shows it again if this is cut short. A run that
 * has used up its time is shown all the same, by a client of another signal: its own refuses whatever still goes on of it. So is one
 * under which the circuit of its cluster opened: its own client would write nothing, but its message may go on as a letter.
 */
export async function showInTime(decided: Decided, { deadline, opened, sends }: ShowTimes, dependencies: RunDependencies): Promise<void> {
  if (!deadline.aborted && !opened.aborted) return untilEnd(deadline, show(decided));
  const { run, report } = decided;
  const cluster = dependencies.clusters.get(run.key.cluster);
  if (report.context === undefined || cluster === undefined) return;
  const spare = startTimer(dependencies.clock, LATE_MS, 'showing what became of the run took too long');
  const signal = AbortSignal.any([spare.signal, sends]);
  const context = { ...report.context, client: createRunClient(cluster, signal), signal };
  await untilEnd(signal, show({ ...decided, report: { ...report, context } }));
  spare.stop();
}

async function untilEnd(signal: AbortSignal, showing: Promise<void>): Promise<void> {
  await untilAborted(signal, showing).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function show(decided: Decided): Promise<void> {
  const { report, disposition } = decided;
  const { context } = report;
  if (context === undefined) return;
  const failure = failureToShow(decided);
  const isLetter = disposition.kind === 'dead-letter';
  const letter = isLetter ? disposition.failure : undefined;
  if (failure === undefined) return announce(context, report.status, letter);
  if (context.reconciler.resource.isDescribed) {
    if (letter !== undefined) return announce(context, undefined, letter);
    return isShownFirst(decided) ? announceFailure(context, failure) : undefined;
  }
  const shown = await showFailure(context, failure, { isLetter, isOvertaken: report.outcome.kind === 'overtaken' });
  await announce(shown?.context ?? context, shown?.status, letter);
}
