/**
 * What Prometheus reads of the watcher. Numbers are taken when they are asked for, so that nothing here can lag behind what
 * /readyz says, and the series of a cluster that is watched no more are gone. `workqueue_*` have the meaning that client-go gives
 * them, for dashboards that exist already.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { DirtyMarks, type Mark } from '../../events/dirty-marks.ts';
import type { Lane } from '../../events/envelope.ts';
import { groupKind } from '../../events/resource.ts';
import type { SendResult } from '../adapters/queue-port.ts';
import type { CellStatus } from './cell-status.ts';
import type { OutboxSource } from './outbox.ts';

/** Marks that count their adds as client-go's queue does: one that folds into a waiting one is none. */
export class CountedMarks extends DirtyMarks {
  readonly #onAdd: () => void;

  constructor(callbacks: { readonly onDirty: () => void; readonly onAdd: () => void }) {
    super(callbacks.onDirty);
    this.#onAdd = callbacks.onAdd;
  }

  override mark(mark: Mark, notBeforeMs?: number): void {
    const before = this.size;
    super.mark(mark, notBeforeMs);
    if (this.size > before) this.#onAdd();
  }
}

export interface MetricsSources {
  readonly statuses: () => readonly CellStatus[];
  /** Those of the outbox. */
  readonly sources: () => readonly OutboxSource[];
  readonly nowMs: () => number;
}

export interface Metrics {
  readonly contentType: string;
  /** The metrics as Prometheus reads them. */
  text(): Promise<string>;
  /** An object began to wait to be sent. */
  countAdd(): void;
  countSend(source: OutboxSource, lane: Lane, result: SendResult['kind']): void;
}

const CELL = ['cluster', 'kind', 'role'] as const;
const SOURCE = ['cluster', 'kind'] as const;
const RESULTS = ['sent', 'retry', 'refused'] as const satisfies readonly SendResult['kind'][];
const LANES = ['live', 'bulk'] as const satisfies readonly Lane[];
const QUEUE = { name: 'outbox' } as const;

type SendCounts = Record<Lane, Record<SendResult['kind'], number>>;

/** Metrics of one watcher, in a registry of their own. */
export function createMetrics({ statuses, sources, nowMs }: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const sends = new WeakMap<OutboxSource, SendCounts>();

  /** A gauge with a value a cell; cells without one are left out. */
  function cellGauge(name: string, help: string, value: (status: CellStatus) => number | undefined): void {
    new Gauge({
      name,
      help,
      labelNames: CELL,
      registers,
      collect() {
        this.reset();
        for (const status of statuses()) {
          const current = value(status);
          if (current !== undefined) this.set(labelsOf(status), current);
        }
      },
    });
  }

  function cellCounter(name: string, help: string, value: (status: CellStatus) => number): void {
    new Counter({
      name,
      help,
      labelNames: CELL,
      registers,
      collect() {
        this.reset();
        for (const status of statuses()) this.inc(labelsOf(status), value(status));
      },
    });
  }

  function countsOf(source: OutboxSource): SendCounts {
    let counts = sends.get(source);
    if (counts === undefined) {
      const none = { sent: 0, retry: 0, refused: 0 };
      counts = { live: { ...none }, bulk: { ...none } };
      sends.set(source, counts);
    }
    return counts;
  }

  cellGauge('dogwatch_cell_streaming', '1 while the watch of the kind is open, else 0', ({ phase }) => (phase === 'streaming' ? 1 : 0));
  cellGauge('dogwatch_known_objects', 'Objects that the watcher remembers', ({ objectCount }) => objectCount);
  cellGauge('dogwatch_unsettled_objects', 'Objects whose status is behind their generation', ({ unsettledCount }) => unsettledCount);
  cellGauge(
    'dogwatch_oldest_unsettled_seconds',
    'How long the longest unsettled object has been so, as far as this process has seen it; 0 where there is none',
    ({ oldestUnsettledSeconds }) => oldestUnsettledSeconds,
  );
  cellGauge('dogwatch_last_event_age_seconds', 'Since the cluster last sent a page, an event or a bookmark', ({ lastEventMs }) =>
    lastEventMs === undefined ? undefined : Math.max(0, nowMs() - lastEventMs) / 1000,
  );
  cellCounter('dogwatch_relists_total', 'Lists begun after the first complete one', ({ relistCount }) => relistCount);
  cellCounter('dogwatch_reconnects_total', 'Watches asked for without a list before them', ({ reconnectCount }) => reconnectCount);

  new Gauge({
    name: 'dogwatch_outbox_depth',
    help: 'Objects whose message is not known to be in the queue',
    labelNames: SOURCE,
    registers,
    collect() {
      this.reset();
      for (const { cluster, type, marks } of sources()) this.set({ cluster, kind: groupKind(type) }, marks.size + marks.inFlightCount);
    },
  });
  new Counter({
    name: 'dogwatch_sends_total',
    help: 'Messages by what SQS said: sent, retry (not taken now), refused (never taken)',
    labelNames: [...SOURCE, 'lane', 'result'],
    registers,
    collect() {
      this.reset();
      for (const source of sources()) {
        const labels = { cluster: source.cluster, kind: groupKind(source.type) };
        // A series that exists from the start lets an alert see its first step.
        for (const lane of LANES) for (const result of RESULTS) this.inc({ ...labels, lane, result }, countsOf(source)[lane][result]);
      }
    },
  });
  new Gauge({
    name: 'workqueue_depth',
    help: 'Objects that wait to be sent, those being sent not counted',
    labelNames: ['name'],
    registers,
    collect() {
      const depth = sources().reduce((sum, { marks }) => sum + marks.size, 0);
      this.set(QUEUE, depth);
    },
  });
  const adds = new Counter({
    name: 'workqueue_adds_total',
    help: 'Objects that began to wait to be sent',
    labelNames: ['name'],
    registers,
  });
  const retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Messages that SQS did not take and that wait again',
    labelNames: ['name'],
    registers,
  });
  for (const counter of [adds, retries]) counter.inc(QUEUE, 0);

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    countAdd: () => adds.inc(QUEUE),
    countSend(source, lane, result) {
      countsOf(source)[lane][result] += 1;
      if (result === 'retry') retries.inc(QUEUE);
    },
  };
}

function labelsOf({ cluster, kind, role }: CellStatus) {
  return { cluster, kind, role };
}
