/** The watcher as `startWatcher` makes it, without its HTTP side and its registry: a process that may die and start again. */
import { DirtyMarks } from '../../events/dirty-marks.ts';
import { clusterName, groupKind } from '../../events/resource.ts';
import type { Reconciler } from '../../functions/core/reconciler.ts';
import { createClusterCells } from '../../functions/watcher/cells.ts';
import { Fleet } from '../../functions/watcher/fleet.ts';
import { createOutbox, type Outbox } from '../../functions/watcher/outbox.ts';
import type { ApiServer } from './api-server.ts';
import type { SimulatedProcess } from './process.ts';
import { QUEUE_URLS, type Sqs } from './sqs.ts';
import type { Trace } from './trace.ts';
import { logOf } from './workers.ts';

export interface WatchingOptions {
  readonly api: ApiServer;
  readonly sqs: Sqs;
  readonly trace: Trace;
  readonly createProcess: (name: string) => SimulatedProcess;
  readonly reconciler: Reconciler;
  readonly resyncSeconds: number;
  /** A fault of the watcher's own: it must never have any. */
  readonly onFault: (error: unknown) => void;
}

interface Running {
  readonly process: SimulatedProcess;
  readonly fleet: Fleet;
  readonly outbox: Outbox;
  readonly sending: AbortController;
}

/** As long as `startWatcher` gives its outbox to send what is left. */
const DRAIN_MS = 20_000;

export class Watching {
  readonly #options: WatchingOptions;
  #running: Running | undefined;

  constructor(options: WatchingOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** True where all cells stream: whatever happens from now on is seen. */
  get isListening(): boolean {
    return this.#running?.fleet.statuses().every(({ phase }) => phase === 'streaming') ?? false;
  }

  /** True where all cells stream and nothing is to be sent. */
  get isQuiet(): boolean {
    return this.isListening && this.#running?.outbox.depth() === 0;
  }

  start(): void {
    const { api, sqs, trace, createProcess, reconciler, resyncSeconds, onFault } = this.#options;
    const process = createProcess('watcher');
    trace.add('watcher', 'starts');
    const { clock } = process;
    const log = logOf(process, trace);
    const outbox = createOutbox({ queue: sqs.clientOf(process), queueUrls: QUEUE_URLS, clock, log });
    const settings = {
      ...{ watchTimeoutSeconds: 300, watchGraceSeconds: 15, probeSeconds: 300 },
      ...{ healAfterSeconds: 600, maxAgeSeconds: 21_600, resyncSeconds, holdMaxSeconds: 60, functionTimeoutSeconds: 30 },
    };
    const fleet = new Fleet({
      connect: () => api.clientOf(process),
      createCells: (client) =>
        createClusterCells({
          client,
          reconcilers: [reconciler],
          createMarks: () => new DirtyMarks(() => outbox.wake()),
          settings,
          clock,
          log,
        }),
      kinds: [groupKind(reconciler.resource)],
      outbox,
      clock,
      log,
    });
    const entry = { name: clusterName('east'), access: { kind: 'in-cluster' }, where: 'simulation' } as const;
    fleet.start({ entry: entry as never, server: 'https://east', client: api.clientOf(process) });
    const sending = new AbortController();
    outbox.run(sending.signal).catch(onFault);
    fleet.fault.catch(onFault);
    this.#running = { process, fleet, outbox, sending };
  }

  /** It is asked to stop, as for a new release; its successor may start before it has. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    const { process, fleet, outbox, sending } = running;
    this.#options.trace.add('watcher', 'is asked to stop');
    await fleet.stop();
    sending.abort();
    await outbox.drain(DRAIN_MS);
    process.kill('it has stopped');
  }

  /** It dies, with all that it remembers and has not sent. */
  crash(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.process.kill('crash');
  }
}
