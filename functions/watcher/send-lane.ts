/** One lane of the outbox: whose marks leave next, and when a call may start. */
import type { Mark } from '../../events/dirty-marks.ts';
import type { Lane } from '../../events/envelope.ts';
import { BATCH_MAX_COUNT } from '../adapters/sqs-batches.ts';
import type { OutboxSource } from './outbox.ts';
import { SendGate } from './send-gate.ts';

/** A mark in flight, and where it came from. */
export interface Taken {
  readonly source: OutboxSource;
  readonly mark: Mark;
}

/** What slows a lane down beyond what its queue takes. */
export interface Pace {
  /** How many marks of the source may be taken now, `wanted` at most. */
  allow(source: OutboxSource, wanted: number, nowMs: number): number;
  /** So many were taken. */
  took(source: OutboxSource, count: number, nowMs: number): void;
  /** When marks of the source may be taken; undefined where no time but a wake-up decides that. */
  nextAtMs(source: OutboxSource, nowMs: number): number | undefined;
}

/** Calls under way at once. */
const CALLS_MAX = 4;

export class SendLane {
  readonly name: Lane;
  readonly gate = new SendGate();
  /** Calls under way. */
  callCount = 0;
  readonly #sources: readonly OutboxSource[];
  readonly #pace: Pace | undefined;
  /** Index of the source whose turn it is. */
  #turn = 0;

  /** @param sources those of the outbox, which may change */
  constructor(name: Lane, sources: readonly OutboxSource[], pace?: Pace) {
    this.name = name;
    this.#sources = sources;
    this.#pace = pace;
  }

  /** Whether a call may start now. While the queue takes nothing, one call at a time. */
  isOpen(nowMs: number): boolean {
    return this.#hasFreeCall && this.gate.notBeforeMs <= nowMs;
  }

  /** True where nothing of this lane waits; what is in flight is not counted. */
  get isEmpty(): boolean {
    return this.#sources.every(({ marks }) => marks.nextAtMs(this.name) === undefined);
  }

  /**
   * A batch: begins with the source whose turn it is, and is filled up from those after it. The turn is then with the one
   * after the first that gave something, so that each source with marks begins a batch before any of them begins another.
   *
   * @param dueMs marks that wait for a later time stay; Infinity takes them too
   */
  take(nowMs: number, dueMs: number): Taken[] {
    const batch: Taken[] = [];
    const count = this.#sources.length;
    const start = this.#turn;
    let hasGiven = false;
    for (let step = 0; step < count && batch.length < BATCH_MAX_COUNT; step += 1) {
      const at = (start + step) % count;
      const source = this.#sources[at] as OutboxSource;
      const wanted = BATCH_MAX_COUNT - batch.length;
      const marks = source.marks.take(this.#pace?.allow(source, wanted, nowMs) ?? wanted, dueMs, this.name);
      if (marks.length === 0) continue;
      this.#pace?.took(source, marks.length, nowMs);
      for (const mark of marks) batch.push({ source, mark });
      if (!hasGiven) this.#turn = at + 1;
      hasGiven = true;
    }
    return batch;
  }

  /** When a call may start that may not start now; undefined where only a wake-up changes anything. */
  nextStartMs(nowMs: number, isDraining: boolean): number | undefined {
    if (!this.#hasFreeCall) return undefined;
    let next: number | undefined;
    for (const source of this.#sources) {
      const takableMs = source.marks.nextAtMs(this.name);
      const pacedMs = this.#pace === undefined ? 0 : this.#pace.nextAtMs(source, nowMs);
      if (takableMs === undefined || pacedMs === undefined) continue;
      const startMs = Math.max(isDraining ? 0 : takableMs, pacedMs, this.gate.notBeforeMs);
      if (next === undefined || startMs < next) next = startMs;
    }
    return next;
  }

  get #hasFreeCall(): boolean {
    return this.callCount < (this.gate.isProbing ? 1 : CALLS_MAX);
  }
}
