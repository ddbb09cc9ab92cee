/** The stage of a story: a development run that runs, seen through what its clusters, queues, watcher and function tell. */
import { dirname, resolve } from 'node:path';
import { GetQueueUrlCommand, QueueDoesNotExist } from '@aws-sdk/client-sqs';
import { clusterName, formatResourceKey } from '../../../../events/resource.ts';
import type { KubernetesObject } from '../../../../functions/core/reconciler.ts';
import { plainEnv } from '../../managed-process.ts';
import { createReceiver } from '../../receive.ts';
import { runCommand } from '../../run-command.ts';
import type { DevPipeline } from '../session.ts';
import { nameIn, openStageCluster } from './cluster-access.ts';
import { type Ledger, type LedgerMark, START } from './ledger.ts';
import { isReady, isStalled, readyText } from './readiness.ts';
import { type Letter, type Stage, type StageCluster, StepFailure } from './story-step.ts';
import { waitsOf } from './wait.ts';

/** A wait that takes longer has failed. Alone, each takes a few seconds at most; machines that are busy get more. */
const BOUND_SECONDS = 30;
/** Nothing waits if so many looks, one after the other, have found nothing. */
const QUIET_LOOKS = 6;
const LETTERS_MAX = 10;
/** A command that waits for a minute itself has room for that. */
const COMMAND_SECONDS = 90;
/** Of what a command that failed said, the last lines tell why. */
const SAID_LINES = 3;
const ROOT = resolve(import.meta.dirname, '../../../..');

export interface StageOptions {
  readonly pipeline: DevPipeline;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
}

export interface OpenStage extends Stage {
  /** From here on the lines of the function are those of another step. Those from before the first one are the first one's. */
  beginStep(): void;
  close(): void;
}

/** @throws RangeError where the run has no clusters `east` and `west` */
export function openStage({ pipeline, ledger, signal, tell }: StageOptions): OpenStage {
  const { queues, watcherAddress, env, dir } = pipeline;
  const clusters = pipeline.clusters.map((cluster) => openStageCluster(cluster, dirname(cluster.kubeconfigPath), signal));
  const named = (name: string): StageCluster => {
    const found = clusters.find((cluster) => cluster.name === name);
    if (found === undefined) throw new RangeError(`the story needs a cluster ${name}`);
    return found;
  };
  let mark: LedgerMark | undefined;

  const until = waitsOf(BOUND_SECONDS, signal);

  /** Undefined where the watcher does not answer: it is begun anew when its code changes. */
  const metrics = async (): Promise<string | undefined> => {
    const answer = await fetch(`${watcherAddress}/metrics`, { signal }).catch(() => undefined);
    return answer?.text();
  };

  let keptBack = 0;
  /** Messages that wait in the watcher or in a work queue, or are in a run; at the moment of the look. */
  const waitingCount = async (): Promise<number> => {
    const [text, { lanes }] = await Promise.all([metrics(), queues.levels()]);
    if (text === undefined) return 1; // what it may hold is not known
    const sum = (field: 'ready' | 'inFlight' | 'delayed'): number => lanes.reduce((total, lane) => total + lane[field], 0);
    return sum('ready') + sum('inFlight') + Math.max(0, sum('delayed') - keptBack) + sumOf(text, 'dogwatch_outbox_depth', '');
  };

  const quiet = async (): Promise<void> => {
    let quietLooks = 0;
    let runs = -1;
    let waiting = 0;
    await until(
      'the queues to be empty',
      async () => {
        waiting = await waitingCount();
        const now = ledger.mark();
        quietLooks = waiting === 0 && now === runs ? quietLooks + 1 : 0;
        runs = now;
        return quietLooks >= QUIET_LOOKS || undefined;
      },
      () => `${waiting} messages wait`,
    );
  };

  const lines: Stage['lines'] = (cluster, object) => {
    if (cluster === undefined || object === undefined) return ledger.linesSince(mark ?? START);
    const { type, at } = object;
    return ledger.linesSince(
      mark ?? START,
      formatResourceKey({ cluster: clusterName(cluster.name), group: type.group, kind: type.kind, ...at }),
    );
  };

  const lettersUrl = env['DOGWATCH_DEAD_LETTER_QUEUE_URL'] ?? '';
  const receiver = createReceiver({ client: queues.client, queueUrl: lettersUrl, quirks: queues.quirks });

  return {
    east: named('east'),
    west: named('west'),
    dir,
    signal,
    tell,
    until,
    lines,
    beginStep() {
      mark = mark === undefined ? START : ledger.mark();
    },
    ready(cluster, object, { isUnderWay = false } = {}) {
      const name = nameIn(cluster.name, object);
      const stateOf = (found: KubernetesObject | undefined): string => readyText(found, lines(cluster, object).at(-1));
      return until(
        `${name} to be Ready`,
        async () => {
          const found = await cluster.get(object);
          if (!isUnderWay && found !== undefined && isStalled(found)) {
            await quiet(); // the run has shown it before it tells what it was
            throw new StepFailure(`${name} is Stalled; ${stateOf(found)}`);
          }
          return found !== undefined && isReady(found) ? found : undefined;
        },
        async () => stateOf(await cluster.get(object)),
      );
    },
    quiet,
    keepBack(count) {
      keptBack += count;
    },
    async sentByWatcher({ name }) {
      const text = await until('the watcher to answer', metrics);
      return sumOf(text, 'dogwatch_sends_total', `cluster="${name}".*result="sent"`);
    },
    async letters() {
      const messages = await receiver.receive({ max: LETTERS_MAX, waitSeconds: 0, visibilitySeconds: 0 }, signal);
      return messages.map(({ MessageAttributes: attributes = {} }) => letterOf((name) => attributes[name]?.StringValue ?? ''));
    },
    async hasQueue(name) {
      try {
        await queues.client.send(new GetQueueUrlCommand({ QueueName: name }), { abortSignal: signal });
        return true;
      } catch (error) {
        if (error instanceof QueueDoesNotExist) return false;
        throw error;
      }
    },
    async letterCount() {
      return (await queues.levels()).deadLetters;
    },
    async dogwatch(...words) {
      const command = `dogwatch ${words.join(' ')}`;
      const {
        code,
        signal: killedBy,
        stdout,
        stderr,
      } = await runCommand(process.execPath, ['functions/cli/bin.js', ...words], {
        cwd: ROOT,
        env: { ...plainEnv(), ...env },
        timeoutSeconds: COMMAND_SECONDS,
      }).catch((error: unknown) => {
        throw new StepFailure(`${command}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      });
      if (code === 0) return stdout.trim();
      const says = stderr.trim().split('\n').slice(-SAID_LINES).join('; ');
      throw new StepFailure(`${command} ends with ${code === null ? killedBy : `code ${code}`}: ${says}`);
    },
    close() {
      for (const cluster of clusters) cluster.close();
    },
  };
}

function letterOf(attribute: (name: string) => string): Letter {
  return { cluster: attribute('cluster'), kind: attribute('kind'), name: attribute('name'), code: attribute('code') };
}

/** The sum of a metric's series whose labels fit. */
function sumOf(metrics: string, name: string, labels: string): number {
  const series = metrics.matchAll(new RegExp(`^${name}\\{.*${labels}.*\\} (\\S+)$`, 'gm'));
  return Array.from(series, ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);
}
