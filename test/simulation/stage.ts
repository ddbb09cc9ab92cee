/**
 * A scripted schedule: the script says who receives what, where a worker stops and whether it goes on or dies there. Once it has
 * played, everything goes on by itself, and all has to be as promised.
 */
import { TransientError } from '../../functions/core/errors.ts';
import type { ApiBehaviour } from './api-server.ts';
import type { KindName } from './kinds.ts';
import type { CallFate, Fates, PortCall, SimulatedProcess } from './process.ts';
import { NO_RESYNC_SECONDS } from './profile.ts';
import { Simulation } from './simulation.ts';
import type { StoredMessage } from './sqs.ts';
import { Users } from './users.ts';

/** No step of a script takes longer. */
const STEP_MAX_MS = 3_600_000;

/** A call that a process is not to make, or whose answer it is not to get, until it may. */
interface Hold {
  readonly process: string;
  readonly verb: string;
  readonly side: 'before' | 'after';
  isReached: boolean;
  readonly gate: PromiseWithResolvers<void>;
}

/** An invocation under way. */
export interface ScriptedRun {
  readonly process: SimulatedProcess;
  /** Lets time pass until it has ended. */
  end(): Promise<void>;
}

/** The script does not fit what happens. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

export class Stage implements Fates {
  readonly simulation: Simulation;
  readonly users: Users;
  /** How caches and watches behave; scripts change it. */
  readonly api: { -readonly [Choice in keyof ApiBehaviour]: ApiBehaviour[Choice] } = {
    cacheLagMaxMs: 3_600_000,
    watchLagMs: () => 2,
    collectMs: () => 100,
    cachePosition: (_oldest, newest) => newest,
    watchEnd: () => undefined,
  };
  readonly #holds: Hold[] = [];
  readonly #lost: { readonly process: string; readonly verb: string }[] = [];

  constructor(kind: KindName) {
    const sqs = { duplicateAfterMs: () => undefined, forgetsCount: () => false };
    this.simulation = new Simulation({ kind, seed: 1, fates: () => this, api: this.api, sqs, resyncSeconds: NO_RESYNC_SECONDS });
    this.users = new Users(this.simulation);
    this.simulation.watching.start();
  }

  of({ process, verb }: PortCall): CallFate {
    const at = this.#lost.findIndex((one) => one.process === process.name && one.verb === verb);
    if (at < 0) return { beforeMs: 1, afterMs: 0 };
    this.#lost.splice(at, 1);
    return { beforeMs: 1, afterMs: 0, error: new TransientError('timeout', 'a fault of the script: timeout'), takesEffect: true };
  }

  before(call: PortCall): Promise<void> | undefined {
    return this.#holdOf(call, 'before');
  }

  after(call: PortCall): Promise<void> | undefined {
    return this.#holdOf(call, 'after');
  }

  /** The next such call of this worker waits. */
  hold(process: string, verb: string, side: Hold['side'] = 'before'): { reached(): Promise<void>; release(): void } {
    const hold: Hold = { process, verb, side, isReached: false, gate: Promise.withResolvers<void>() };
    this.#holds.push(hold);
    return {
      reached: () => this.until(() => hold.isReached, `${process} comes to ${verb}`),
      release: () => hold.gate.resolve(),
    };
  }

  /** Every call that waits goes on; those that are yet to come wait all the same. */
  releaseAll(): void {
    for (const { gate, isReached } of this.#holds) if (isReached) gate.resolve();
  }

  /** The next such call of this worker takes effect, and its answer is lost. */
  loseAnswer(process: string, verb: string): void {
    this.#lost.push({ process, verb });
  }

  /** A message of that reason that can be received. */
  async message(reason: string): Promise<StoredMessage> {
    const find = (): StoredMessage | undefined =>
      this.simulation.sqs.workMessages.find(
        ({ body, visibleAtMs }) =>
          visibleAtMs <= this.simulation.time.nowMs && (JSON.parse(body) as { data: { reason: string } }).data.reason === reason,
      );
    await this.until(() => find() !== undefined, `a message ${reason} comes`);
    return find() as StoredMessage;
  }

  /** The worker receives the message, also where another one has it. */
  start(worker: string, message: StoredMessage): ScriptedRun {
    const { workers, sqs } = this.simulation;
    const environment = workers.createEnvironment(worker);
    let hasEnded = false;
    void workers.invoke(environment, [sqs.handOut(message)]).then(() => {
      hasEnded = true;
    });
    return { process: environment.process, end: () => this.until(() => hasEnded, `${worker} ends`) };
  }

  /** A whole run of the message of that reason. */
  async run(worker: string, reason: string): Promise<void> {
    await this.start(worker, await this.message(reason)).end();
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return this.simulation.pass(ms);
  }

  /** @throws ScriptError where it does not come to that, or something was found on the way */
  async until(isTrue: () => boolean, what: string): Promise<void> {
    const { time, trace } = this.simulation;
    const came = await time.runUntil(time.nowMs + STEP_MAX_MS, () => isTrue() || this.simulation.hasFinding);
    if (!came || this.simulation.hasFinding) throw new ScriptError(`the script waits in vain: ${what}\n${trace.tail(40)}`);
  }

  /** Lets everything go on by itself; what is not as promised in the end. */
  async finish(): Promise<string[]> {
    for (const { gate } of this.#holds) gate.resolve();
    this.#holds.length = 0;
    const { simulation } = this;
    if (!simulation.watching.isRunning) simulation.watching.start();
    simulation.workers.start(2);
    await simulation.settle();
    const problems = simulation.hasFinding ? [] : await simulation.problems();
    return [...simulation.invariants.findings.map(({ name, what }) => `${name}: ${what}`), ...problems];
  }

  #holdOf({ process, verb }: PortCall, side: Hold['side']): Promise<void> | undefined {
    const hold = this.#holds.find((one) => !one.isReached && one.process === process.name && one.verb === verb && one.side === side);
    if (hold === undefined) return undefined;
    hold.isReached = true;
    return hold.gate.promise;
  }
}
