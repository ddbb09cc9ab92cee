/**
 * One kind in one cluster, with a reconciler or owned by some: runs the state machine of events/watch-state.ts against the API
 * server. It performs the effects of the machine and feeds back what became of them; it decides nothing.
 *
 * - Pulled, never buffered: a frame is handled to its end before the next is read, so that a slow cell slows the server down.
 * - The position moves past a frame only after the frame was handled. One that cannot be is logged, and the kind listed again.
 * - A fault of the cluster is an input; a fault of ours ends {@link Cell.run} with a rejection.
 */
import { groupKind, type ResourceType } from '../../events/resource.ts';
import { phaseOf } from '../../events/watch-phase.ts';
import type { WatchContext, WatchEffect, WatchInput, WatchState } from '../../events/watch-protocol.ts';
import { startWatch, stepWatch } from '../../events/watch-state.ts';
import { type Clock, dateOf } from '../adapters/clock.ts';
import type { KubernetesClient, WatchFrame } from '../adapters/kubernetes/port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { ConfigError, DogwatchError, TransientError } from '../core/errors.ts';
import type { CellStatus } from './cell-status.ts';
import { frameError } from './frame-error.ts';
import { HistoryProbe } from './history-probe.ts';
import type { CellObserver } from './observer-port.ts';
import { Pages } from './pages.ts';
import { PhaseLog } from './phase-log.ts';
import { TroubleLog } from './trouble-log.ts';
import { UnderWay } from './under-way.ts';

export interface CellSettings {
  /** The longest time that a watch asks for, in seconds. */
  readonly watchTimeoutSeconds: number;
  /** How long after that the client gives a stream up. */
  readonly watchGraceSeconds: number;
  /** How long a stream may be quiet before it is checked against a list. */
  readonly probeSeconds: number;
}

export interface CellOptions {
  readonly client: KubernetesClient;
  readonly type: ResourceType;
  readonly role: CellStatus['role'];
  readonly observer: CellObserver;
  /** Called after every list that was complete. */
  readonly onListed?: () => void;
  readonly settings: CellSettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Cell {
  /**
   * Watches until the signal aborts; resolves when nothing of it is under way any more. Faults of the cluster never end it.
   *
   * @throws ConfigError when called a second time
   */
  run(signal: AbortSignal): Promise<void>;
  status(): CellStatus;
}

type Failed = Extract<WatchInput, { readonly kind: 'failed' }>;

/** A cell that is not running yet. */
export function createCell(options: CellOptions): Cell {
  return new WatchCell(options);
}

class WatchCell implements Cell {
  readonly #options: CellOptions;
  readonly #fields: Pick<CellStatus, 'cluster' | 'kind' | 'role'>;
  readonly #observer: CellObserver;
  readonly #pages: Pages;
  readonly #history: HistoryProbe;
  readonly #trouble: TroubleLog;
  readonly #phases: PhaseLog;
  readonly #underWay: UnderWay;
  #state: WatchState;
  #lastEventMs: number | undefined;
  #relistCount = 0;
  #reconnectCount = 0;
  #isWarned = false;
  #hasRun = false;

  constructor(options: CellOptions) {
    const { client, type, role, observer, clock, log } = options;
    this.#options = options;
    this.#fields = { cluster: client.cluster, kind: groupKind(type), role };
    this.#observer = observer;
    this.#pages = new Pages(client, type, (pageSize) => {
      log.info('a page of the list was too large to be read; smaller ones are asked for', { ...this.#fields, pageSize });
    });
    this.#history = new HistoryProbe(client, type);
    this.#trouble = new TroubleLog(log, this.#fields);
    this.#underWay = new UnderWay(clock);
    this.#state = startWatch(clock.steadyMs()).state;
    this.#phases = new PhaseLog(log, this.#fields, phaseOf(this.#state), clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#hasRun) throw new ConfigError('cell-started-twice', 'a cell runs once; make another one');
    this.#hasRun = true;
    const stopped = Promise.withResolvers<void>();
    const stop = (): void => {
      try {
        this.#feed({ kind: 'stop' });
      } catch (error) {
        this.#underWay.break(error);
      }
      stopped.resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    const ending = new AbortController();
    const upkeep = this.#observer.upkeep
      ?.run(ending.signal, () => this.#state.kind === 'streaming')
      .catch((error: unknown) => this.#underWay.break(error));
    try {
      const { state, effects } = startWatch(this.#options.clock.steadyMs());
      this.#enter(state);
      for (const effect of effects) this.#perform(effect);
      if (signal.aborted) stop();
      await Promise.race([stopped.promise, this.#underWay.fault]);
    } finally {
      signal.removeEventListener('abort', stop);
      ending.abort();
      await upkeep;
      await this.#underWay.end();
    }
  }

  status(): CellStatus {
    const { count, oldestSeconds } = this.#observer.unsettled();
    const error = this.#trouble.current;
    return {
      ...this.#fields,
      phase: this.#phases.phase,
      sinceMs: this.#phases.sinceMs,
      lastEventMs: this.#lastEventMs === undefined ? undefined : dateOf(this.#lastEventMs, this.#options.clock).getTime(),
      objectCount: this.#observer.size,
      unsettledCount: count,
      oldestUnsettledSeconds: oldestSeconds,
      relistCount: this.#relistCount,
      reconnectCount: this.#reconnectCount,
      ...(error === undefined ? {} : { error }),
    };
  }

  /** The only way in which the state changes. What it throws is a fault of ours. */
  #feed(input: WatchInput): void {
    const { clock, settings } = this.#options;
    const { watchTimeoutSeconds, probeSeconds } = settings;
    const context: WatchContext = { nowMs: clock.steadyMs(), random: clock.random(), watchTimeoutSeconds, probeSeconds };
    const { state, effects } = stepWatch(this.#state, input, context);
    this.#enter(state);
    for (const effect of effects) this.#perform(effect);
  }

  #enter(state: WatchState): void {
    this.#state = state;
    this.#phases.enter(phaseOf(state), this.#trouble.current?.code);
    if (state.kind === 'streaming' && state.memory.trouble === undefined) this.#trouble.recovered(this.#options.clock.steadyMs());
  }

  #perform(effect: WatchEffect): void {
    switch (effect.kind) {
      case 'cancel':
        this.#underWay.cancel();
        break;
      case 'timer':
        this.#underWay.wait(effect.ms, () => this.#feed({ kind: 'timer' }));
        break;
      case 'describe':
        this.#underWay.start((signal) => this.#describe(signal));
        break;
      case 'begin-list':
        if (this.#observer.hasListed) this.#relistCount += 1;
        this.#history.beginList();
        this.#observer.beginList();
        break;
      case 'list':
        this.#underWay.start((signal) => this.#list(effect.continue, signal));
        break;
      case 'forget-positions':
        this.#options.log.warn('the cluster went back in time; everything is read again', this.#fields);
        this.#observer.forgetPositions();
        break;
      case 'commit-list':
        this.#observer.commitList(effect.resourceVersion);
        this.#warnOnce();
        this.#options.onListed?.();
        break;
      case 'abandon-list':
        this.#observer.abandonList();
        break;
      case 'open-watch':
        if (effect.isResume) this.#reconnectCount += 1;
        this.#underWay.start((signal) => this.#watch(effect.position, effect.timeoutSeconds, signal));
        break;
      case 'probe':
        this.#underWay.start((signal) => this.#probe(effect.position, signal));
        break;
    }
  }

  async #describe(signal: AbortSignal): Promise<void> {
    const answer = await this.#ask(signal, () => this.#observer.describe(this.#options.client, signal));
    if (answer === undefined) return;
    this.#feed(answer.kind === 'failed' ? answer : { kind: 'described' });
  }

  async #list(token: string | undefined, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask(signal, () => this.#pages.read(this.#observer, token, signal));
    if (answer === undefined) return;
    if (answer.kind === 'failed') return this.#feed(answer);
    const page = answer.value;
    this.#lastEventMs = this.#options.clock.steadyMs();
    this.#feed({ kind: 'page-came', resourceVersion: page.resourceVersion });
    const failure = this.#handle(() => this.#observer.page(page));
    if (failure === undefined) this.#history.page(page);
    this.#feed(failure ?? { kind: 'page-handled', continue: page.continue });
  }

  async #watch(position: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const { client, type, settings } = this.#options;
    const { form, labelSelector, fieldSelector, ownFields } = this.#observer;
    const times = { timeoutSeconds, graceSeconds: settings.watchGraceSeconds };
    const options = { form, labelSelector, fieldSelector, ownFields, resourceVersion: position, ...times, signal };
    const answer = await this.#ask(signal, () => client.watch(type, options));
    if (answer === undefined) return;
    if (answer.kind === 'failed') return this.#feed(answer);
    this.#feed({ kind: 'opened' });
    const frames = answer.value[Symbol.asyncIterator]();
    try {
      while (!signal.aborted) {
        const next = await this.#ask(signal, () => frames.next());
        if (next === undefined) return;
        if (next.kind === 'failed') this.#feed(next);
        else this.#feed(next.value.done ? { kind: 'ended' } : this.#takeFrame(next.value.value));
      }
    } finally {
      // The signal has closed the stream; an iterator that objects to being left has nothing more to tell.
      await this.#ask(signal, async () => frames.return?.());
    }
  }

  #takeFrame(frame: WatchFrame): WatchInput {
    if (frame.type === 'ERROR') return this.#failed(frameError(frame));
    this.#lastEventMs = this.#options.clock.steadyMs();
    const failure = this.#handle(() => this.#observer.frame(frame));
    if (failure !== undefined) return failure;
    this.#history.frame(frame);
    return { kind: 'frame', resourceVersion: frame.type === 'BOOKMARK' ? frame.resourceVersion : frame.row.metadata.resourceVersion };
  }

  async #probe(position: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask(signal, () => this.#history.ask(this.#observer, signal));
    if (answer === undefined) return;
    this.#feed(answer.kind === 'failed' ? { ...answer, kind: 'probe-failed' } : { kind: 'probed', position, ...answer.value });
  }

  /** What the cluster answered, or how it failed; undefined where it was cancelled meanwhile. */
  async #ask<T>(signal: AbortSignal, call: () => Promise<T>): Promise<{ readonly kind: 'done'; readonly value: T } | Failed | undefined> {
    try {
      const value = await call();
      return signal.aborted ? undefined : { kind: 'done', value };
    } catch (error) {
      return signal.aborted ? undefined : this.#failed(error);
    }
  }

  /** Our own handling of what the cluster sent. An error in it is no reason to lose the kind, and none to keep quiet. */
  #handle(work: () => void): Failed | undefined {
    try {
      work();
      return undefined;
    } catch (error) {
      if (error instanceof DogwatchError) return this.#failed(error);
      this.#observer.distrust();
      this.#options.log.error('what the cluster sent could not be handled; the kind is listed again', { ...this.#fields, error });
      return this.#failed(new TransientError('unhandled', 'what the cluster sent could not be handled; see the log line with the stack'));
    }
  }

  /** The failure as the state machine takes it. Told of in the log, save for an expired position, which is no fault. */
  #failed(error: unknown): Failed {
    const code = error instanceof DogwatchError ? error.code : 'unclassified';
    if (code === 'expired') this.#options.log.info('the watch position has expired; the kind is listed again', this.#fields);
    else this.#trouble.failed(error, this.#options.clock.steadyMs());
    return { kind: 'failed', failure: { code, retryAfterSeconds: error instanceof TransientError ? error.retryAfterSeconds : undefined } };
  }

  #warnOnce(): void {
    const { warning } = this.#observer;
    if (warning === undefined || this.#isWarned) return;
    this.#isWarned = true;
    this.#options.log.warn(warning.message, { ...this.#fields, ...warning.fields });
  }
}
