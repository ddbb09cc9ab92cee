/**
 * Pending work of one kind in one cluster: at most one mark an object waits, and at most one is being sent. So memory is
 * bounded by the number of objects however long the queue is down, and reading a watch never has to stop.
 *
 *     mark ──> ready ──take──> in flight ──accepted, refused──> gone
 *               ^   ^              │
 *               │   └──time──── deferred <──returned
 *               └── behind: marked while its uid is in flight; ready once the result is known
 *
 * Promises: the last state of every uid is handed out in the end; a deletion is never overwritten; mustRun is never lost; of
 * one uid, a later mark is never sent before the result of an earlier one is known. Per lane, the longest waiting goes first.
 */
import type { Lane, Reason } from './envelope.ts';
import { compareResourceVersions } from './resource-version.ts';

/** One object that something is to be sent for. */
export interface Mark {
  readonly uid: string;
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly reason: Reason;
  readonly mustRun: boolean;
  readonly lane: Lane;
  /** When the oldest change that this mark stands for was seen, in Unix milliseconds. */
  readonly firstSeenAtMs: number;
}

interface Deferred {
  readonly mark: Mark;
  readonly notBeforeMs: number;
}

/**
 * Two marks of one uid as one. The newest resourceVersion counts, with its generation, and the later mark where versions
 * cannot be compared; a deletion leads over all reasons, the start of one over the rest, then one that must run, then the
 * live lane, then the later; mustRun by OR, live over bulk, the earliest time.
 */
export function foldMarks(earlier: Mark, later: Mark): Mark {
  const order = compareResourceVersions(earlier.resourceVersion, later.resourceVersion);
  const newest = order === 1 ? earlier : later;
  return {
    ...newest,
    reason: rankOf(earlier) > rankOf(later) ? earlier.reason : later.reason,
    mustRun: earlier.mustRun || later.mustRun,
    lane: earlier.lane === 'live' ? 'live' : later.lane,
    firstSeenAtMs: Math.min(earlier.firstSeenAtMs, later.firstSeenAtMs),
  };
}

function rankOf(mark: Mark): number {
  if (mark.reason === 'deleted') return 4;
  if (mark.reason === 'deleting') return 3;
  // A run for a new generation may apply its children without looking; one that was woken by a child may not.
  if (mark.mustRun) return 2;
  return mark.lane === 'live' ? 1 : 0;
}

export class DirtyMarks {
  readonly #onDirty: () => void;
  /** Maps keep the order of insertion, and setting a key again keeps its place: a busy object does not lose its turn. */
  readonly #ready: Record<Lane, Map<string, Mark>> = { live: new Map(), bulk: new Map() };
  readonly #deferred = new Map<string, Deferred>();
  readonly #inFlight = new Map<string, Mark>();
  readonly #behind = new Map<string, Mark>();

  /** @param onDirty called, synchronously, whenever something became takable */
  constructor(onDirty: () => void = () => {}) {
    this.#onDirty = onDirty;
  }

  /** Objects with something to send, those in flight not counted. */
  get size(): number {
    return this.#ready.live.size + this.#ready.bulk.size + this.#deferred.size + this.#behind.size;
  }

  /** Objects taken whose result is not known yet. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Something is to be sent for this object; folds with what is pending for its uid. */
  mark(mark: Mark): void {
    const { uid } = mark;
    const deferred = this.#deferred.get(uid);
    if (this.#inFlight.has(uid)) {
      this.#behind.set(uid, foldOver(this.#behind.get(uid), mark));
    } else if (deferred !== undefined) {
      this.#deferred.set(uid, { ...deferred, mark: foldMarks(deferred.mark, mark) });
    } else {
      this.#makeReady(mark);
    }
  }

  /**
   * Up to `max` marks, the longest waiting first, which are in flight from now on. Each must be answered by exactly one of
   * {@link accepted}, {@link refused} and {@link returned}; until then its uid is not handed out again.
   *
   * @param nowMs Infinity hands out deferred marks as well
   * @param lane  only marks of this lane; left out: live ones first
   */
  take(max: number, nowMs: number, lane?: Lane): Mark[] {
    const taken: Mark[] = [];
    for (const one of lane === undefined ? (['live', 'bulk'] as const) : [lane]) {
      for (const [uid, { mark, notBeforeMs }] of this.#deferred) {
        if (taken.length >= max) break;
        if (mark.lane !== one || notBeforeMs > nowMs) continue;
        this.#deferred.delete(uid);
        taken.push(mark);
      }
      for (const [uid, mark] of this.#ready[one]) {
        if (taken.length >= max) break;
        this.#ready[one].delete(uid);
        taken.push(mark);
      }
    }
    for (const mark of taken) this.#inFlight.set(mark.uid, mark);
    return taken;
  }

  /** The queue has it. What was marked meanwhile is ready. */
  accepted(mark: Mark): void {
    if (this.#land(mark)) this.#releaseBehind(mark.uid);
  }

  /** The queue will never take it: dropped. The object stays unsettled; what was marked meanwhile is ready. */
  refused(mark: Mark): void {
    this.accepted(mark);
  }

  /** The queue did not take it now: pending again, folded with what came meanwhile, not to be taken before `notBeforeMs`. */
  returned(mark: Mark, notBeforeMs: number): void {
    if (!this.#land(mark)) return;
    const later = this.#behind.get(mark.uid);
    this.#behind.delete(mark.uid);
    this.#deferred.set(mark.uid, { mark: later === undefined ? mark : foldMarks(mark, later), notBeforeMs });
  }

  /** When something can be taken next, in Unix milliseconds: 0 for now, undefined for never unless something is marked. */
  nextAtMs(lane?: Lane): number | undefined {
    if (lane === undefined ? this.#ready.live.size + this.#ready.bulk.size > 0 : this.#ready[lane].size > 0) return 0;
    let next: number | undefined;
    for (const { mark, notBeforeMs } of this.#deferred.values()) {
      if (lane !== undefined && mark.lane !== lane) continue;
      if (next === undefined || notBeforeMs < next) next = notBeforeMs;
    }
    return next;
  }

  #makeReady(mark: Mark): void {
    const { uid } = mark;
    const folded = foldOver(this.#ready.live.get(uid) ?? this.#ready.bulk.get(uid), mark);
    if (folded.lane === 'live') this.#ready.bulk.delete(uid);
    this.#ready[folded.lane].set(uid, folded);
    this.#onDirty();
  }

  /** True where the result is for the mark in flight: a result that is told twice must not undo a later send. */
  #land(mark: Mark): boolean {
    if (this.#inFlight.get(mark.uid) !== mark) return false;
    return this.#inFlight.delete(mark.uid);
  }

  #releaseBehind(uid: string): void {
    const later = this.#behind.get(uid);
    if (later === undefined) return;
    this.#behind.delete(uid);
    this.#makeReady(later);
  }
}

function foldOver(earlier: Mark | undefined, later: Mark): Mark {
  return earlier === undefined ? later : foldMarks(earlier, later);
}
