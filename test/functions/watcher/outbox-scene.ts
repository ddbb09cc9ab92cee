import { DirtyMarks, type Mark } from '../../../events/dirty-marks.ts';
import type { Lane } from '../../../events/envelope.ts';
import { clusterName, type ResourceType } from '../../../events/resource.ts';
import type { SendResult } from '../../../functions/adapters/queue-port.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { createOutbox, type Outbox, type OutboxSource } from '../../../functions/watcher/outbox.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeQueue } from '../../fakes/queue.ts';

export const LIVE = 'https://sqs.test/live';
export const BULK = 'https://sqs.test/bulk';
export const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An outbox over fakes, in virtual time. */
export class Scene {
  readonly clock = new FakeClock();
  readonly queue = new FakeQueue();
  readonly lines: Line[] = [];
  readonly results: { readonly cluster: string; readonly result: SendResult; readonly lane: Lane }[] = [];
  readonly outbox: Outbox;
  readonly stop = new AbortController();
  running: Promise<void> = Promise.resolve();

  constructor() {
    const write =
      (level: string) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
        this.lines.push({ level, message, fields });
      };
    const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    this.outbox = createOutbox({
      queue: this.queue,
      queueUrls: { live: LIVE, bulk: BULK },
      clock: this.clock,
      log,
      onResult: (source, result, lane) => this.results.push({ cluster: source.cluster, result, lane }),
    });
  }

  /** A source, added to the outbox. Its cell has not listed, and has no objects to resync, unless it says so. */
  source(cluster = 'east', hasListed: () => boolean = () => false, resyncsPerSecond: () => number = () => 0): OutboxSource {
    const marks = new DirtyMarks(() => this.outbox.wake());
    const source = { cluster: clusterName(cluster), type: tenants, marks, hasListed, resyncsPerSecond };
    this.outbox.add(source);
    return source;
  }

  mark(source: OutboxSource, uid: string, overrides: Partial<Mark> = {}): void {
    source.marks.mark({
      uid,
      name: `name-${uid}`,
      resourceVersion: '7',
      generation: 1,
      reason: 'created',
      mustRun: false,
      lane: 'live',
      firstSeenAtMs: this.clock.now().getTime(),
      ...overrides,
    });
  }

  /** Marks `count` objects for the bulk lane, named after `name` and a number. */
  sweep(source: OutboxSource, name: string, count: number): void {
    for (const index of range(count)) this.mark(source, `${name}-${index}`, { reason: 'sweep', lane: 'bulk' });
  }

  start(): void {
    this.running = this.outbox.run(this.stop.signal);
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  uids(queueUrl?: string): (string | undefined)[] {
    return this.queue.envelopes(queueUrl).map((envelope) => envelope.data.uid);
  }
}

/** 0 to count - 1. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
