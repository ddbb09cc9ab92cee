/**
 * Pending work of one kind in one cluster: at most one mark an object waits, and at most one is being sent. So memory is
 * bounded by the number of objects however long the queue is down, and reading a watch never has to stop.
 *
 *     mark ──────────> ready ──take──> in flight ──accepted, refused──> gone
 *       │               ^  ^               │
 *       └──held──┐    time └── behind      │  behind: marked while its uid is in flight;
 *                v      │                  │  pending once the result is known
 *                 deferred <──returned─────┘
 *
 * Promises: the last state of every uid is handed out in the end; a deletion is never overwritten and never held; mustRun is
 * never lost; of one uid, a later mark is never sent before the result of an earlier one is known. Per lane, the longest waiting
 * goes first; but a resync goes after all other repairs, since a large cluster has some of them waiting at any time.
 */
import type { Lane, Reason } from './envelope.ts';
import { type Hold, isDeletion } from './hold.ts';
import { compareResourceVersions } from './resource-version.ts';
import { TimeHeap } from './time-heap.ts';

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
  /** When the oldest change that this mark stands for was seen, in milliseconds of the steady clock. */
  readonly firstSeenAtMs: number;
  /** How long the queue is to keep its message back, in whole seconds from 0 to 900. */
  readonly delaySeconds?: number;
}

/** Where a mark waits; of the bulk lane, what shows that work is not done waits apart from the resync. */
type Shelf = 'live' | 'repair' | 'resync';

/** The shelves of each lane, in the order in which they are emptied. */
const SHELVES = { live: ['live'], bulk: ['repair', 'resync'] } as const satisfies Record<Lane, readonly Shelf[]>;
const ALL_SHELVES = [...SHELVES.live, ...SHELVES.bulk];

/** Pending, but not now. The mark may be folded in place; another time or shelf makes another one of it. */
interface Deferred {
  mark: Mark;
  readonly shelf: Shelf;
  readonly notBeforeMs: number;
  /** By the queue, not by a hold: what comes later does not make it due. */
  readonly isReturned: boolean;
}

interface Behind {
  readonly mark: Mark;
  readonly notBeforeMs: number;
}

/**
 * Two marks of one uid as one. The newest resourceVersion counts, with its generation, and the later mark where versions
 * cannot be compared; a deletion leads over all reasons, the start of one over the rest, then one that must run, then the
 * live lane, then the later; the delay is that of the leading reason; mustRun by OR, live over bulk, the earliest time.
 */
export function foldMarks(earlier: Mark, later: Mark): Mark {
  const order = compareResourceVersions(earlier.resourceVersion, later.resourceVersion);
  const { delaySeconds: _, ...newest } = order === 1 ? earlier : later;
  const { reason, delaySeconds } = rankOf(earlier) > rankOf(later) ? earlier : later;
  return {
    ...newest,
    reason,
    mustRun: earlier.mustRun || later.mustRun,
    lane: earlier.lane === 'live' ? 'live' : later.lane,
    firstSeenAtMs: Math.min(earlier.firstSeenAtMs, later.firstSeenAtMs),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
  };
}

function rankOf(mark: Mark): number {
  if (mark.reason === 'deleted') return 4;
  if (mark.reason === 'deleting') return 3;
  // A run for a new generation may apply its children without looking; one that was woken by a child may not.
  if (mark.mustRun) return 2;
  return mark.lane === 'live' ? 1 : 0;
}

/** What marks ask and tell whoever holds objects back. */
type Holding = Pick<Hold, 'untilMs' | 'handedOut'>;

/** Spare entries that a heap may keep before it is built anew. */
const HEAP_SLACK = 64;

export class DirtyMarks {
  readonly #onDirty: () => void;
  #hold: Holding | undefined;
  /** Maps keep the order of insertion, and setting a key again keeps its place: a busy object does not lose its turn. */
  readonly #ready: Record<Shelf, Map<string, Mark>> = { live: new Map(), repair: new Map(), resync: new Map() };
  readonly #deferred = new Map<string, Deferred>();
  /** What is deferred, by time; one that is no longer in the map above is passed over. */
  readonly #heap: Record<Shelf, TimeHeap<Deferred>> = { live: new TimeHeap(), repair: new TimeHeap(), resync: new TimeHeap() };
  readonly #inFlight = new Map<string, Mark>();
  readonly #behind = new Map<string, Behind>();

  /** @param onDirty called, synchronously, whenever something became takable, now or earlier than anything else of its lane */
  constructor(onDirty: () => void = () => {}) {
    this.#onDirty = onDirty;
  }

  /** From now on objects that change all the time are held back, whoever marks them. */
  holdWith(hold: Holding): void {
    this.#hold = hold;
  }

  /** Objects with something to send, those in flight not counted. */
  get size(): number {
    return ALL_SHELVES.reduce((sum, shelf) => sum + this.#ready[shelf].size, this.#deferred.size + this.#behind.size);
  }

  /** Objects taken whose result is not known yet. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /**
   * True while something of this object is being sent or is to be sent, so that healing it would tell nothing new. A resync that
   * waits does not count: it may wait for hours, and a repair that folds into it takes it along.
   */
  has(uid: string): boolean {
    if (this.#inFlight.has(uid)) return true;
    return this.#pending(uid) !== undefined && this.#deferred.get(uid)?.shelf !== 'resync' && !this.#ready.resync.has(uid);
  }

  /**
   * Something is to be sent for this object; folds with what is pending for its uid.
   *
   * @param notBeforeMs milliseconds of the steady clock before which it is not handed out, so that more can fold into it. Of two such times
   *                    the earlier counts. A deletion does not wait
   */
  mark(mark: Mark, notBeforeMs = 0): void {
    const { uid } = mark;
    const dueMs = isDeletion(mark.reason) ? 0 : Math.max(notBeforeMs, this.#hold?.untilMs(mark) ?? 0);
    if (this.#inFlight.has(uid)) {
      const behind = this.#behind.get(uid);
      this.#behind.set(uid, behind === undefined ? { mark, notBeforeMs: dueMs } : foldBehind(behind, mark, dueMs));
    } else {
      this.#pend(mark, dueMs);
    }
  }

  /**
   * Up to `max` marks, the longest waiting first and each resync last, which are in flight from now on. Each must be answered by exactly one of
   * {@link accepted}, {@link refused} and {@link returned}; until then its uid is not handed out again.
   *
   * @param nowMs Infinity hands out deferred marks as well
   * @param lane  only marks of this lane; left out: live ones first
   */
  take(max: number, nowMs: number, lane?: Lane): Mark[] {
    const taken: Mark[] = [];
    for (const one of lane === undefined ? ALL_SHELVES : SHELVES[lane]) {
      while (taken.length < max) {
        const deferred = this.#firstDeferred(one);
        if (deferred === undefined || deferred.notBeforeMs > nowMs) break;
        this.#heap[one].removeFirst();
        this.#deferred.delete(deferred.mark.uid);
        taken.push(deferred.mark);
      }
      for (const [uid, mark] of this.#ready[one]) {
        if (taken.length >= max) break;
        this.#ready[one].delete(uid);
        taken.push(mark);
      }
    }
    for (const mark of taken) {
      this.#inFlight.set(mark.uid, mark);
      this.#hold?.handedOut(mark);
    }
    return taken;
  }

  /** The queue has it. What was marked meanwhile is pending. */
  accepted(mark: Mark): void {
    if (!this.#land(mark)) return;
    const behind = this.#behind.get(mark.uid);
    if (behind === undefined) return;
    this.#behind.delete(mark.uid);
    this.#pend(behind.mark, behind.notBeforeMs);
  }

  /** The queue will never take it: dropped. The object stays unsettled; what was marked meanwhile is pending. */
  refused(mark: Mark): void {
    this.accepted(mark);
  }

  /** The queue did not take it now: pending again, folded with what came meanwhile, not to be taken before `notBeforeMs`. */
  returned(mark: Mark, notBeforeMs: number): void {
    if (!this.#land(mark)) return;
    const behind = this.#behind.get(mark.uid);
    this.#behind.delete(mark.uid);
    this.#defer({ mark, shelf: shelfOf(mark), notBeforeMs, isReturned: true });
    if (behind !== undefined) this.#pend(behind.mark, behind.notBeforeMs);
  }

  /** When something can be taken next, in milliseconds of the steady clock: 0 for now, undefined for never unless something is marked. */
  nextAtMs(lane?: Lane): number | undefined {
    let next: number | undefined;
    for (const shelf of lane === undefined ? ALL_SHELVES : SHELVES[lane]) {
      if (this.#ready[shelf].size > 0) return 0;
      next = earlierOf(next, this.#firstDeferred(shelf)?.notBeforeMs);
    }
    return next;
  }

  #pending(uid: string): Mark | undefined {
    for (const shelf of ALL_SHELVES) {
      const mark = this.#ready[shelf].get(uid);
      if (mark !== undefined) return mark;
    }
    return this.#deferred.get(uid)?.mark;
  }

  /** Where the mark is to wait that is made of one more and of what is pending for its uid: it keeps the turn of the more urgent. */
  #shelfOf(folded: Mark, mark: Mark): Shelf {
    const isRepair = shelfOf(mark) === 'repair' || this.#ready.repair.has(mark.uid) || this.#deferred.get(mark.uid)?.shelf === 'repair';
    return folded.lane === 'bulk' && isRepair ? 'repair' : shelfOf(folded);
  }

  /** Folds a mark, due at `dueMs`, with what is pending. */
  #pend(mark: Mark, dueMs: number): void {
    const { uid } = mark;
    const before = this.#pending(uid);
    const deferred = this.#deferred.get(uid);
    const folded = before === undefined ? mark : foldMarks(before, mark);
    const shelf = this.#shelfOf(folded, mark);
    // What made a repair wait, the bulk queue for one, says nothing of a change; and nothing makes a deletion wait.
    const startsAnew = before === undefined || before.lane !== folded.lane || isDeletion(mark.reason);
    const isWaiting = deferred !== undefined && !startsAnew;
    if (isWaiting && (deferred.isReturned || deferred.notBeforeMs <= dueMs || mark.lane !== folded.lane)) {
      // A repair does not hasten the change that it folds into.
      if (deferred.shelf === shelf) deferred.mark = folded;
      else this.#defer({ ...deferred, mark: folded, shelf });
    } else if (dueMs === 0 || (deferred === undefined && !startsAnew)) {
      this.#makeReady(folded, shelf);
    } else {
      this.#defer({ mark: folded, shelf, notBeforeMs: dueMs, isReturned: false });
    }
  }

  #makeReady(mark: Mark, shelf: Shelf): void {
    const { uid } = mark;
    this.#deferred.delete(uid);
    for (const other of ALL_SHELVES) if (other !== shelf) this.#ready[other].delete(uid);
    this.#ready[shelf].set(uid, mark);
    this.#onDirty();
  }

  #defer(deferred: Deferred): void {
    const { shelf, mark } = deferred;
    const { uid } = mark;
    const heap = this.#heap[shelf];
    for (const other of SHELVES.bulk) this.#ready[other].delete(uid);
    this.#deferred.set(uid, deferred);
    heap.add(deferred);
    if (heap.size > 2 * this.#deferred.size + HEAP_SLACK) heap.retain((one) => this.#isPending(one));
    if (this.#firstDeferred(shelf) === deferred) this.#onDirty();
  }

  #firstDeferred(shelf: Shelf): Deferred | undefined {
    const heap = this.#heap[shelf];
    for (let first = heap.first; first !== undefined; first = heap.first) {
      if (this.#isPending(first)) return first;
      heap.removeFirst();
    }
    return undefined;
  }

  #isPending(deferred: Deferred): boolean {
    return this.#deferred.get(deferred.mark.uid) === deferred;
  }

  /** True where the result is for the mark in flight: a result that is told twice must not undo a later send. */
  #land(mark: Mark): boolean {
    if (this.#inFlight.get(mark.uid) !== mark) return false;
    return this.#inFlight.delete(mark.uid);
  }
}

function shelfOf({ lane, reason }: Mark): Shelf {
  if (lane === 'live') return 'live';
  return reason === 'resync' ? 'resync' : 'repair';
}

function foldBehind(behind: Behind, mark: Mark, dueMs: number): Behind {
  const folded = foldMarks(behind.mark, mark);
  const startsAnew = behind.mark.lane !== folded.lane || isDeletion(mark.reason);
  if (startsAnew) return { mark: folded, notBeforeMs: dueMs };
  return { mark: folded, notBeforeMs: mark.lane === folded.lane ? Math.min(behind.notBeforeMs, dueMs) : behind.notBeforeMs };
}

function earlierOf(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
