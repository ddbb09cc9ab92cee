/**
 * What Prometheus reads of the watcher. Numbers are taken when they are asked for, so that nothing here can lag behind what
 * /readyz says. `workqueue_*` have the meaning that client-go gives them, for dashboards that exist already.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { DirtyMarks, type Mark } from '../../events/dirty-marks.ts';
import type { SendResult } from '../adapters/queue-port.ts';
import type { CellStatus } from './cell-status.ts';

/** Marks that count their adds as client-go's queue does: one that folds into a waiting one is none. */
export class CountedMarks extends DirtyMarks {
  addCount = 0;

  override mark(mark: Mark, notBeforeMs?: number): void {
    const before = this.size;
    super.mark(mark, notBeforeMs);
    if (this.size > before) this.addCount += 1;
  }
}

export interface MetricsSources {
  readonly statuses: () => readonly CellStatus[];
  readonly marks: readonly CountedMarks[];
  /** Objects not known to be in the queue. */
  readonly outboxDepth: () => number;
  readonly nowMs: () => number;
}

export interface Metrics {
  readonly contentType: string;
  /** The metrics as Prometheus reads them. */
  text(): Promise<string>;
  countSend(result: SendResult['kind']): void;
}

const CELL = ['cluster', 'kind', 'role'] as const;
const QUEUE_NAME = 'outbox';

function labelsOf({ cluster, kind, role }: CellStatus) {
  return { cluster, kind, role };
}

/** Metrics of one watcher, in a registry of their own. */
export function createMetrics({ statuses, marks, outboxDepth, nowMs }: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

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
    registers,
    collect() {
      this.set(outboxDepth());
    },
  });
  new Gauge({
    name: 'workqueue_depth',
    help: 'Objects that wait to be sent, those being sent not counted',
    labelNames: ['name'],
    registers,
    collect() {
      this.set(
        { name: QUEUE_NAME },
        marks.reduce((sum, { size }) => sum + size, 0),
      );
    },
  });
  new Counter({
    name: 'workqueue_adds_total',
    help: 'Objects that began to wait to be sent',
    labelNames: ['name'],
    registers,
    collect() {
      this.reset();
      this.inc(
        { name: QUEUE_NAME },
        marks.reduce((sum, { addCount }) => sum + addCount, 0),
      );
    },
  });
  const sends = new Counter({
    name: 'dogwatch_sends_total',
    help: 'Messages by what SQS said: sent, retry (not taken now), refused (never taken)',
    labelNames: ['result'],
    registers,
  });
  // A series that exists from the start lets an alert see its first step.
  for (const result of ['sent', 'retry', 'refused'] as const) sends.inc({ result }, 0);

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    countSend: (result) => sends.inc({ result }),
  };
}
