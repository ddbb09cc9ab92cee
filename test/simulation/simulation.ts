/** The whole system over models: an API server, SQS, functions, a watcher, and somebody who looks whether all is as promised. */
import { type ApiBehaviour, ApiServer } from './api-server.ts';
import { Invariants } from './invariants.ts';
import { createReconciler, type KindName, specOf, World, widgetColumns, widgets } from './kinds.ts';
import { type Fates, SimulatedProcess } from './process.ts';
import { Random } from './random.ts';
import { Sqs, type SqsBehaviour, type StoredMessage } from './sqs.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';
import { Watching } from './watching.ts';
import { Workers } from './workers.ts';

export interface SimulationOptions {
  readonly kind: KindName;
  readonly seed: number;
  readonly fates: (random: Random) => Fates;
  readonly api: ApiBehaviour;
  readonly sqs: SqsBehaviour;
  readonly resyncSeconds: number;
}

/** After that much time without a change and without faults nothing may be under way any more. */
const QUIET_WITHIN_MS = 12 * 3_600_000;

export class Simulation {
  readonly kind: KindName;
  readonly random: Random;
  readonly time = new VirtualTime();
  readonly trace = new Trace(this.time);
  readonly world = new World();
  readonly api: ApiServer;
  readonly sqs: Sqs;
  readonly workers: Workers;
  readonly watching: Watching;
  readonly invariants: Invariants;
  readonly #fates: Fates;

  constructor(options: SimulationOptions) {
    const { kind, time, trace, world } = { ...this, kind: options.kind, time: this.time, trace: this.trace, world: this.world };
    this.kind = kind;
    this.random = new Random(options.seed);
    this.#fates = options.fates(this.random.fork());
    this.invariants = new Invariants(kind, world);
    this.api = new ApiServer(widgets, widgetColumns(), options.api, time, trace);
    this.api.onChange = (change, by) => this.invariants.seeChange(change, by);
    this.sqs = new Sqs(options.sqs, time, this.random.fork(), trace);
    this.sqs.onAccept = (message, delaySeconds, by) => this.invariants.seeMessage(message, delaySeconds, by);
    const createProcess = (name: string): SimulatedProcess =>
      new SimulatedProcess({ name, time, trace, random: this.random.fork(), fates: this.#fates });
    const parts = { api: this.api, sqs: this.sqs, time, trace, createProcess };
    this.workers = new Workers({
      ...parts,
      random: this.random.fork(),
      createReconciler: (process) => createReconciler(kind, world, process),
    });
    this.watching = new Watching({
      ...parts,
      reconciler: createReconciler(kind, world, createProcess('nobody')),
      resyncSeconds: options.resyncSeconds,
      onFault: (error) => this.invariants.found('watcher-fault', error instanceof Error ? String(error.stack) : String(error)),
    });
  }

  get hasFinding(): boolean {
    return this.invariants.findings.length > 0;
  }

  /** Wake-ups that wait for their time. */
  get chains(): readonly StoredMessage[] {
    return this.sqs.workMessages.filter((message) => this.#isWaiting(message));
  }

  /** Nothing is under way but wake-ups that wait. */
  get isQuiet(): boolean {
    if (this.workers.busyCount > 0 || this.time.effectCount > 0 || this.time.callCount > 0 || !this.api.isQuiet || !this.watching.isQuiet)
      return false;
    return this.sqs.workMessages.every((message) => this.#isWaiting(message));
  }

  /** Lets time pass, unless something is found. */
  async pass(ms: number): Promise<void> {
    await this.time.runUntil(this.time.nowMs + ms, () => this.hasFinding);
  }

  /** Waits until nothing is under way. Not to come to that is a finding. */
  async settle(): Promise<void> {
    const isQuiet = await this.time.runUntil(this.time.nowMs + QUIET_WITHIN_MS, () => this.hasFinding || this.isQuiet);
    if (!isQuiet) this.invariants.found('no-quiescence', `${this.sqs.workMessages.length} messages are under way`);
  }

  /** What is not as it should be now that nothing is under way. */
  async problems(): Promise<string[]> {
    const atFirst = this.invariants.problems(this.api, this.chains, Infinity);
    if (this.kind !== 'C' || atFirst.length > 0) return atFirst;
    const periodsMs = this.api.cluster.objects(widgets).map((object) => 2_200 * (specOf(object).everySeconds ?? 0));
    const waitsMs = this.chains.map(({ body }) => dueMs(body) + 1_000 - this.time.nowMs);
    // Every wake-up that waits comes in that time, and the one after it.
    await this.pass(Math.max(0, ...periodsMs, ...waitsMs));
    await this.settle();
    return this.hasFinding ? [] : this.invariants.problems(this.api, this.chains, 1);
  }

  #isWaiting({ body, visibleAtMs, receiveCount }: StoredMessage): boolean {
    if (this.kind !== 'C' || receiveCount > 0 || visibleAtMs <= this.time.nowMs) return false;
    return dueMs(body) > this.time.nowMs;
  }
}

/** When the wake-up in a message is due; 0 where it is none. */
function dueMs(body: string): number {
  const { data } = JSON.parse(body) as { data: { reason: string; notBefore?: string } };
  return data.reason === 'requeue' && data.notBefore !== undefined ? Date.parse(data.notBefore) : 0;
}
