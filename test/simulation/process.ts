/**
 * A process that may die at any call it makes to the outside. What it was waiting for then never comes, so that its code stops
 * where it stands; whether the call took effect is the fault's choice.
 */
import type { Clock } from '../../functions/adapters/clock.ts';
import type { Random } from './random.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A call as it is about to be made. */
export interface PortCall {
  readonly process: SimulatedProcess;
  readonly port: 'api' | 'queue' | 'world';
  readonly verb: string;
  /** For the trace. */
  readonly detail: string;
}

/** What happens to a call. Times in milliseconds. */
export interface CallFate {
  readonly beforeMs: number;
  readonly afterMs: number;
  /** The process dies at this call; `late`: before its effect, which comes all the same, {@link afterMs} later. */
  readonly dies?: 'before' | 'after' | 'late' | undefined;
  /** Where the caller gives up before the call has arrived, it has no effect. */
  readonly isCancelled?: boolean | undefined;
  /** The call fails with this; with `takesEffect` only its answer is lost. */
  readonly error?: Error | undefined;
  readonly takesEffect?: boolean | undefined;
}

/** Decides on every call of every process. */
export interface Fates {
  of(call: PortCall): CallFate;
  /** Resolves when the call may go on: for scripted schedules. */
  before?(call: PortCall): Promise<void> | undefined;
  after?(call: PortCall): Promise<void> | undefined;
}

export interface ProcessOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly fates: Fates;
  readonly trace: Trace;
}

export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  isAlive = true;
  /** What it does began before etcd was restored: it may hold a version that names another object now. */
  isOfOtherHistory = false;
  readonly #options: ProcessOptions;
  readonly #onDeath: (() => void)[] = [];
  #callCount = 0;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.clock = this.#createClock();
  }

  /** Called once, at its death. */
  onDeath(then: () => void): void {
    this.#onDeath.push(then);
  }

  kill(why: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#options.trace.add(this.name, `dies: ${why}`);
    this.#options.time.forget(this);
    this.#options.time.callCount -= this.#callCount;
    for (const then of this.#onDeath) then();
  }

  /** Makes the call, with the time it takes and whatever its fate is. An aborted signal ends the waiting, never the effect. */
  async call<Result>(
    port: PortCall['port'],
    verb: string,
    detail: string,
    effect: () => Result | Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    if (!this.isAlive) return never();
    const { time } = this.#options;
    time.callCount += 1;
    this.#callCount += 1;
    try {
      return await this.#call(port, verb, detail, effect, signal);
    } finally {
      time.callCount -= 1;
      this.#callCount -= 1;
    }
  }

  async #call<Result>(
    port: PortCall['port'],
    verb: string,
    detail: string,
    effect: () => Result | Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { time, fates, trace } = this.#options;
    signal?.throwIfAborted();
    const call: PortCall = { process: this, port, verb, detail };
    const fate = fates.of(call);
    await fates.before?.(call);
    await time.sleep(fate.beforeMs, this, signal);
    if (!this.isAlive) return never();
    if (fate.isCancelled === true) signal?.throwIfAborted();
    if (fate.dies === 'before') return this.#die(`before ${verb} ${detail}`);
    if (fate.dies === 'late') {
      void time.effectIn(fate.afterMs, async () => {
        trace.add(this.name, `${verb} ${detail} takes effect, long after its death`);
        await effect();
      });
      return this.#die(`while ${verb} ${detail} is on its way`);
    }
    if (fate.error !== undefined && fate.takesEffect !== true) {
      trace.add(this.name, `${verb} ${detail}: fails, ${fate.error.message}`);
      await time.sleep(fate.afterMs, this, signal);
      throw fate.error;
    }
    let result: Result;
    try {
      result = await effect();
      trace.add(this.name, `${verb} ${detail}${describe(result)}`);
    } catch (error) {
      trace.add(this.name, `${verb} ${detail}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
    if (fate.dies === 'after') return this.#die(`after ${verb} ${detail}`);
    await fates.after?.(call);
    await time.sleep(fate.afterMs, this, signal);
    if (!this.isAlive) return never();
    signal?.throwIfAborted();
    if (fate.error !== undefined) {
      trace.add(this.name, `${verb} ${detail}: the answer is lost, ${fate.error.message}`);
      throw fate.error;
    }
    return result;
  }

  #die(why: string): Promise<never> {
    this.kill(why);
    return never();
  }

  #createClock(): Clock {
    const { time, random } = this.#options;
    const id = (): string => time.nextId().toString(16);
    return {
      now: () => new Date(time.nowMs),
      steadyMs: () => time.nowMs,
      sleep: (ms, signal) => (this.isAlive ? time.sleep(ms, this, signal) : never()),
      random: () => random.next(),
      uuid: () => `00000000-0000-4000-8000-${id().padStart(12, '0')}`,
      traceparent: () => `00-${id().padStart(32, '0')}-${id().padStart(16, '0')}-01`,
    };
  }
}

/** What nobody will ever answer. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

function describe(result: unknown): string {
  if (typeof result !== 'object' || result === null) return result === undefined ? ': nothing there' : `: ${String(result)}`;
  const { metadata = result } = result as { metadata?: object };
  const { resourceVersion, generation, uid } = metadata as { resourceVersion?: string; generation?: number; uid?: string };
  if (resourceVersion === undefined) return '';
  return `: ${uid === undefined ? '' : `uid ${shortUid(uid)} `}${generation === undefined ? '' : `generation ${generation} `}RV ${resourceVersion}`;
}

export function shortUid(uid: string): string {
  return String(Number(uid.slice(-12)));
}
