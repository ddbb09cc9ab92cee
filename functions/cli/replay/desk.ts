/** What every `dogwatch replay` command works at: the dead-letter queue, checked, a clock, and a way to stop. */
import { type Clock, systemClock } from '../../adapters/clock.ts';
import { type ClusterEntry, connectCluster, readClusters } from '../../adapters/clusters.ts';
import type { KubernetesClient } from '../../adapters/kubernetes/port.ts';
import type { LetterQueue, QueueDescription } from '../../adapters/letter-queue-port.ts';
import { type Environment, readSetting } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { SETTINGS, variableOf } from '../../core/settings.ts';
import { reconcilers } from '../../reconcilers/index.ts';
import { heldBackWarning, type LookOptions, type LookReport, lookThrough, warningsOf } from '../../replay/look-through.ts';
import { checkLetterQueue } from '../../replay/queue-check.ts';
import { clientsBy, type ObjectSource } from '../../replay/read-objects.ts';
import { stopOnSignals } from '../stop-signals.ts';
import { watchOutput } from './closed-output.ts';
import { printable } from './text.ts';

export interface DeskOptions {
  /** URL of a dead-letter queue; that of the configuration if left out. */
  readonly queue?: string;
  readonly json?: boolean;
}

export interface Desk {
  readonly queue: LetterQueue;
  readonly description: QueueDescription;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly json: boolean;
  /** A line for the reader of the result, and one for whoever waits for it. */
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}

/** Limits of a call of a cluster, in milliseconds. */
const CALL_LIMITS = { connectMs: 5_000, totalMs: 10_000 };

/**
 * What `work` comes to with the queue of the options or the environment. The process ends with 1 where nobody reads its output any more: as
 * after a signal, letters are given back before.
 *
 * @param say  tells what is told meanwhile, where the command has its own way for that
 * @throws ConfigError where it is not named, is not there, may not be read, or is no dead-letter queue of ours
 */
export async function atDesk<Result>(
  env: Environment,
  options: DeskOptions,
  work: (desk: Desk) => Promise<Result>,
  say: Desk['say'] = (line) => console.error(line),
): Promise<Result> {
  const url = options.queue === undefined ? readSetting(env, 'deadLetterQueueUrl') : queueOf(options.queue);
  const { openLetterQueue } = await import('../../adapters/letter-queue.ts');
  const queue = await openLetterQueue(url);
  try {
    const description = await queue.describe();
    const named = (field: 'queueUrl' | 'bulkQueueUrl' | 'deadLetterQueueUrl'): string | undefined => env[variableOf(field)];
    checkLetterQueue(description, { live: named('queueUrl'), bulk: named('bulkQueueUrl'), deadLetters: named('deadLetterQueueUrl') });
    const { stop, dispose } = stopOnSignals(() => say('stopping: letters that are held are given back'));
    const output = watchOutput(() => stop.abort());
    try {
      const { json = false } = options;
      return await work({ queue, description, clock: systemClock, stop: stop.signal, json, print: (line) => console.log(line), say });
    } finally {
      dispose();
      output.dispose();
      if (output.isClosed) process.exit(1);
    }
  } finally {
    queue.close();
  }
}

function queueOf(text: string): string {
  const parsed = SETTINGS.deadLetterQueueUrl.schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError('usage', `--queue ${parsed.error.issues[0]?.message ?? 'is no URL of a queue'}`);
}

export interface Looked {
  readonly report: LookReport;
  readonly warnings: readonly string[];
  /** Resolves when letters are given back, and says so where some could not be. To be awaited before the process ends. */
  readonly givenBack: Promise<void>;
}

/** Sees the queue through, and says what the reader must know of that. Undefined where it was stopped, with letters given back. */
export async function lookAt(desk: Desk, onLetter: LookOptions['onLetter']): Promise<Looked | undefined> {
  const { queue, description, clock, stop, say } = desk;
  const report = await lookThrough({ queue, description, clock, stop, onLetter });
  const warnings = warningsOf(report, description);
  for (const warning of warnings) say(`warning: ${warning}`);
  const givenBack = report.givenBack.then((heldBackCount) => {
    const warning = heldBackWarning(heldBackCount);
    if (warning !== undefined) say(`warning: ${warning}`);
  });
  if (report.end !== 'stopped') return { report, warnings, givenBack };
  await givenBack;
  say(
    `stopped: of ${report.seenCount} letters seen, ${report.seenCount - (await report.givenBack)} were given back, and nothing else was done`,
  );
  return undefined;
}

export type Source = Pick<ObjectSource, 'clientOf' | 'reconcilers'> & { close(): void };

/** The clusters of the registry. @throws ConfigError where it is not named, or cannot be used */
export async function openSource(env: Environment, say: Desk['say']): Promise<Source> {
  const entries = await readClusters(readSetting(env, 'clusters'));
  const clients = clientsBy((cluster) => {
    const entry = entries.find(({ name }) => name === cluster);
    return entry === undefined ? 'unknown-cluster' : connect(entry, say);
  });
  return { ...clients, reconcilers };
}

function connect(entry: ClusterEntry, say: Desk['say']): KubernetesClient | string {
  try {
    return connectCluster(entry, { timeouts: CALL_LIMITS, userAgent: 'dogwatch-replay' });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    say(`warning: ${printable(error.message)}`);
    return error.code;
  }
}
