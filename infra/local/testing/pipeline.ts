/**
 * Lets watcher, queues and function work until nothing is left to do. What goes over sockets is waited for, never slept for: that a watch has
 * told everything is known by a bookmark that the server sends on demand, and virtual time passes only while nothing else can happen.
 */
import type { EnvelopeData } from '../../../events/envelope.ts';
import type { ResourceType } from '../../../events/resource.ts';
import { type Activity, drained } from './activity.ts';
import { BenchError } from './bench-error.ts';
import { busyText, RunCounts } from './busy.ts';
import type { FunctionProcess } from './function-process.ts';
import type { RunOutcome } from './records.ts';
import type { TestCluster } from './test-cluster.ts';
import type { TestQueues, WaitingMessage } from './test-queues.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { Watching } from './watching.ts';

/** Real milliseconds without any sign of life after which a call to the API server, or a frame of a watch, is not waited for any longer. */
const SILENT_MS = 20_000;
/** Virtual milliseconds that a watch may take to open, with nothing else to do. */
const RECOVERY_MS = 600_000;
/** Objects that come into being one after another; a rollout that waits for each of a few dozen is an honest one. */
const GENERATIONS_MAX = 100;

const ENDLESS = `is the last of more than ${GENERATIONS_MAX} objects, each made by a run of the one before, with no end in sight`;

/** What `settle` and `advance` take for no end: one that is broken is a BenchError that says which object is not at rest. */
export interface Limits {
  /** Runs of one object within the call; 100 if left out. */
  readonly maxRuns: number;
  /** Virtual seconds that the call may let pass; a day if left out, of `advance` what it is asked for. */
  readonly withinSeconds: number;
}

export interface PipelineOptions {
  readonly clusters: readonly TestCluster[];
  readonly queues: TestQueues;
  readonly clock: VirtualClock;
  readonly activity: Activity;
  readonly watching: () => Watching;
  /** The living one: another after a death. */
  readonly process: () => FunctionProcess;
  /** Real milliseconds after which a reconciler that does nothing visible is taken to hang. */
  readonly hangMs: number;
  readonly outcomes: readonly RunOutcome[];
  readonly onDeath: (message: WaitingMessage) => void;
  /** Throws where the bench is closed. */
  readonly checkOpen: () => void;
}

export class Pipeline {
  readonly #options: PipelineOptions;
  #isRunning = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** True while the function works on a message. */
  isInvoking = false;

  /** Runs until nothing is under way and nothing is to come but wake-ups that authors asked for. @throws BenchError `busy` */
  async settle(limits: Limits): Promise<void> {
    checkNumbers({ ...limits });
    await this.#alone(async () => {
      const { clock, queues } = this.#options;
      const runs = new RunCounts();
      const endMs = clock.nowMs + limits.withinSeconds * 1000;
      let calmMs = clock.nowMs;
      for (;;) {
        if (await this.#runDue(runs, limits)) calmMs = clock.nowMs;
        const message = queues.waiting.find((waiting) => this.#isFollowed(waiting));
        const isWatcherBusy = this.#isWatcherBusy();
        if (message === undefined && !isWatcherBusy) return;
        if (isWatcherBusy && message === undefined && clock.nowMs > calmMs + RECOVERY_MS) this.#refuse('cannot become quiet', runs);
        const timerMs = isWatcherBusy ? clock.nextWakeMs() : undefined;
        const nextMs = Math.min(message?.visibleAtMs ?? Infinity, timerMs ?? Infinity);
        if (nextMs > endMs) this.#refuse(`is not quiet after ${limits.withinSeconds} s of virtual time`, runs);
        await this.#passTo(nextMs);
      }
    });
  }

  /** Lets so much virtual time pass, with all that comes due in it, and whatever follows at its end. */
  async advance(seconds: number, limits: Limits): Promise<void> {
    checkNumbers({ seconds, ...limits });
    if (seconds > limits.withinSeconds)
      throw new BenchError('bad-number', `advance is asked for ${seconds} s, and withinSeconds allows ${limits.withinSeconds}`);
    await this.#alone(async () => {
      const { clock, queues } = this.#options;
      const runs = new RunCounts();
      const endMs = clock.nowMs + seconds * 1000;
      for (;;) {
        await this.#runDue(runs, limits);
        const nextMs = Math.min(queues.waiting[0]?.visibleAtMs ?? Infinity, clock.nextWakeMs() ?? Infinity);
        if (nextMs > endMs) break;
        await this.#passTo(nextMs);
      }
      clock.passTo(endMs);
      await this.#runDue(runs, limits);
    });
  }

  /** Waits until nothing more comes of what is under way. */
  async calm(): Promise<void> {
    const { activity, clusters } = this.#options;
    for (;;) {
      await drained();
      this.#options.watching().throwFault();
      const { version } = activity;
      const { oldest } = activity;
      if (oldest !== undefined) await this.#life(oldest);
      else if (clusters.some(({ server }) => server.isBusy)) await drained();
      else {
        const behind = clusters.flatMap(({ name, server }) => {
          const told = server.progress();
          return told === undefined ? [] : this.#options.watching().behind(name, told);
        });
        if (behind.length > 0) await this.#life(`the watch of ${behind[0]}`);
        else if (activity.version === version) return;
      }
    }
  }

  async #life(what: string): Promise<void> {
    if (await this.#options.activity.next(SILENT_MS)) return;
    const text = `${what}: nothing has come of it for ${SILENT_MS / 1000} s of real time, nor of anything else`;
    throw new BenchError('silent', `${text}; whatever it waits for, nothing can become quiet until it ends`);
  }

  /** Works on all messages that are due now. True where there was any. */
  async #runDue(runs: RunCounts, limits: Limits): Promise<boolean> {
    let hasRun = false;
    for (;;) {
      await this.calm();
      const message = this.#options.queues.receive();
      if (message === undefined) return hasRun;
      hasRun = true;
      if (runs.count(message) > limits.maxRuns) this.#refuse(`has run ${limits.maxRuns} times and is not at rest`, runs, message);
      if (runs.generationOf(message, this.#options.queues.sentCount) > GENERATIONS_MAX) this.#refuse(ENDLESS, runs, message);
      await this.#invoke(message);
    }
  }

  async #invoke(message: WaitingMessage): Promise<void> {
    const { activity, clock, hangMs, process } = this.#options;
    const running = process();
    let end: string | undefined;
    let fault: { readonly error: unknown } | undefined;
    this.isInvoking = true;
    void running
      .invoke(message)
      .then(
        (how) => {
          end = how;
        },
        (error: unknown) => {
          fault = { error };
        },
      )
      .finally(() => activity.happened());
    let silentMs = 0;
    while (end === undefined && fault === undefined) {
      await drained();
      if (end !== undefined || fault !== undefined) break;
      silentMs = (await activity.next(hangMs)) ? 0 : silentMs + hangMs;
      if (silentMs === 0 || (activity.oldest !== undefined && silentMs < SILENT_MS)) continue;
      // The author waits for something that is not going to come: the deadline of the run does.
      const deadlineMs = clock.nextWakeMs(running);
      if (deadlineMs !== undefined) clock.passTo(deadlineMs);
    }
    this.isInvoking = false;
    if (fault !== undefined) throw fault.error;
    if (end === 'died') this.#options.onDeath(message);
  }

  async #passTo(ms: number): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const wakeMs = clock.nextWakeMs();
      if (wakeMs === undefined || wakeMs > ms) break;
      clock.passTo(wakeMs);
      await this.calm();
      // Something came up on the way.
      if (this.#options.queues.waiting.some(({ visibleAtMs }) => visibleAtMs <= clock.nowMs)) return;
    }
    clock.passTo(ms);
  }

  /** Whether the watcher has anything that it wants to tell, or could not: with nothing but time in the way. */
  #isWatcherBusy(): boolean {
    const watching = this.#options.watching();
    return watching.depth > 0 || watching.recovering.length > 0;
  }

  /** A wake-up that an author asked for is the rest of a living object; of one that is being deleted it is the way to its end. */
  #isFollowed({ data }: WaitingMessage): boolean {
    if (data === undefined || data.reason !== 'requeue') return true;
    const server = this.#options.clusters.find(({ name }) => name === data.cluster)?.server;
    const object = server?.snapshot().objects.get(resourceOf(data))?.get(keyOf(data));
    return object === undefined || object.metadata.uid !== data.uid || object.metadata.deletionTimestamp !== undefined;
  }

  #refuse(what: string, runs: RunCounts, message?: WaitingMessage): never {
    const { queues, outcomes } = this.#options;
    const watching = this.#options.watching();
    throw new BenchError('busy', busyText({ what, runs, message, waiting: queues.waiting, outcomes, recovering: watching.recovering }));
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    this.#options.checkOpen();
    if (this.#isRunning) throw new BenchError('settling', 'settle or advance is running already; await it before the next one');
    this.#isRunning = true;
    try {
      await work();
    } finally {
      this.#isRunning = false;
    }
  }
}

/** A time that is not a number never comes. @throws BenchError `bad-number` */
function checkNumbers(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    const isBound = name !== 'seconds' && value === Number.POSITIVE_INFINITY;
    if (isBound || (Number.isFinite(value) && value >= 0)) continue;
    throw new BenchError('bad-number', `${name} is ${value}; give a number, 0 or more`);
  }
}

function resourceOf({ plural, group }: Pick<ResourceType, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function keyOf({ namespace, name }: Pick<EnvelopeData, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
