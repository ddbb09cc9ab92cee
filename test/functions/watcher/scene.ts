/** One cell over a fake cluster, in virtual time. */
import { DirtyMarks, type Mark } from '../../../events/dirty-marks.ts';
import type { ResourceType } from '../../../events/resource.ts';
import type { Log, LogFields } from '../../../functions/adapters/telemetry.ts';
import type { WatchRules } from '../../../functions/core/watch-rules.ts';
import { type Cell, createCell } from '../../../functions/watcher/cell.ts';
import { Observer } from '../../../functions/watcher/observer.ts';
import type { UpkeepSettings } from '../../../functions/watcher/upkeep.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';

export const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };

/** Printer columns as a CRD of ours has them, as far as a cell looks. */
export const COLUMNS = [
  { name: 'Ready', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Observed', jsonPath: '.status.observedGeneration' },
];

export interface Line {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: LogFields;
}

/** Upkeep as it is by default. */
export const UPKEEP = {
  healAfterSeconds: 600,
  maxAgeSeconds: 21_600,
  resyncSeconds: 36_000,
  holdMaxSeconds: 60,
  functionTimeoutSeconds: 30,
};

/** A log that keeps its lines. */
export class FakeLog implements Log {
  readonly lines: Line[] = [];
  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields });
  }
  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields });
  }
  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields });
  }
  count(message: string): number {
    return this.lines.filter((line) => line.message === message).length;
  }
}

export class Scene {
  readonly clock = new FakeClock();
  readonly cluster: FakeCluster;
  readonly log = new FakeLog();
  readonly marks = new DirtyMarks();
  readonly cell: Cell;
  readonly #stop = new AbortController();
  #run: Promise<void> = Promise.resolve();

  /**
   * @param upkeep settings that differ from the defaults
   * @param watch  what the reconciler declares of what it wants to see
   */
  constructor(upkeep: Partial<UpkeepSettings> = {}, watch: WatchRules | undefined = undefined) {
    this.cluster = new FakeCluster({ now: () => this.clock.now() });
    this.cluster.serve(tenants, COLUMNS);
    const observed = { type: tenants, revision: 1, watch, marks: this.marks, clock: this.clock };
    this.cell = createCell({
      client: this.cluster.client,
      type: tenants,
      role: 'primary',
      observer: new Observer({ ...observed, settings: { ...UPKEEP, ...upkeep } }),
      settings: { watchTimeoutSeconds: 300, watchGraceSeconds: 15, probeSeconds: 300 },
      clock: this.clock,
      log: this.log,
    });
  }

  /** Runs the cell and lets it come as far as it comes without time passing. */
  async start(): Promise<void> {
    this.#run = this.cell.run(this.#stop.signal);
    await this.clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }

  /** Creates a Tenant; `observed` is its status.observedGeneration. */
  create(name: string, observed?: number): string {
    const status = observed === undefined ? {} : { status: { observedGeneration: observed } };
    return this.cluster.create(tenants, { name }, { spec: { size: 1 }, ...status }).metadata.uid;
  }

  /** Changes the spec, and with it the generation. */
  change(name: string): void {
    this.cluster.edit(tenants, { name }, (draft) => {
      const { size } = draft['spec'] as { size: number };
      draft['spec'] = { size: size + 1 };
    });
  }

  /** What was marked since the last call, as `reason name`; counted as sent. */
  sent(): string[] {
    return this.takeMarks()
      .map((mark) => `${mark.reason} ${mark.name}`)
      .sort();
  }

  takeMarks(): Mark[] {
    const marks = this.marks.take(10_000, Infinity);
    for (const mark of marks) this.marks.accepted(mark);
    return marks;
  }

  count(verb: 'list' | 'watch'): number {
    return this.cluster.requestsOf(verb).length;
  }

  get openWatch() {
    const [watch, ...others] = this.cluster.openWatches();
    if (watch === undefined || others.length > 0) throw new Error(`${others.length + Number(watch !== undefined)} open watches`);
    return watch;
  }
}
