/**
 * What the watcher remembers of the objects of one kind in one cluster: one small record a uid. It answers whether a sight
 * of an object is news, what a list no longer shows, and how much is unsettled.
 *
 * Keyed by uid and never by name: an object re-created under a name is another object, and what was remembered of its
 * predecessor must neither hide it nor be lost with it.
 */
import type { Reason } from './envelope.ts';
import { type HealingCase, type HealingSettings, healingIntervalSeconds } from './healing.ts';
import { KnownObject, type SightContext } from './known-object.ts';
import type { ObservedObject } from './observed-object.ts';
import { judge, type KindPolicy, type Phase, type Remembered, settlednessOf, type Verdict } from './predicate.ts';
import { compareResourceVersions } from './resource-version.ts';
import { isResyncDue, type TimeSpan } from './resync.ts';

/** An object that is gone: where it was, and the newest resourceVersion known of it or of its deletion. */
export interface Removed {
  readonly uid: string;
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
}

/** Where an object is and how it was when last seen. */
export interface Sight {
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly isDeleting: boolean;
  readonly isPaused: boolean;
  readonly isFiltered: boolean;
}

/** What is still to be done; see {@link KnownObjects.unsettled}. */
export interface Unsettled {
  readonly count: number;
  /** 0 where nothing is unsettled. */
  readonly oldestSeconds: number;
}

/** What time has made due; see {@link KnownObjects.takeDue}. */
export interface Due extends Removed {
  readonly reason: Extract<Reason, 'sweep' | 'resync'>;
  readonly mustRun: boolean;
}

export interface UpkeepPlan {
  /** The seconds since the last call, by the steady clock. */
  readonly span: TimeSpan;
  /** Now, by the wall clock, which `status.nextReconcileTime` is held against; as `span` has it where left out. */
  readonly wallSeconds?: number;
  readonly healing: HealingSettings;
  /** The time in which every object comes round once. */
  readonly resyncSeconds: number;
  /** False where what is known may be old, as without a stream: no time that it tells of counts as past. True where left out. */
  readonly isFresh?: boolean;
  /** True where a message of the object waits to be sent anyway. */
  readonly isWaiting: (uid: string) => boolean;
}

/** Namespaces shared at a time. Few would do for a list, which goes from one to the next; a watch must not gather those that are gone. */
const SHARED_NAMESPACES_MAX = 1_000;

export class KnownObjects {
  readonly #policy: KindPolicy;
  readonly #objects = new Map<string, KnownObject>();
  /** uid -> since when it is unsettled, oldest first: time only moves forward, and a Map keeps the order of insertion. */
  readonly #unsettledSince = new Map<string, number>();
  /** uid -> what its labels and annotations were when last seen; empty where no filter names any. */
  readonly #digests = new Map<string, number>();
  /** One string for all objects of a namespace, where each row brings its own. Emptied after every list, and where it grows. */
  readonly #namespaces = new Map<string, string>();
  #listNumber = 0;
  #isListing = false;
  #hasListed = false;
  /** Records last seen in an older list than this come from a history that is gone. */
  #staleBelow = 0;

  constructor(policy: KindPolicy) {
    this.#policy = policy;
  }

  /** Objects remembered. */
  get size(): number {
    return this.#objects.size;
  }

  /** True once a list was complete: what is not known is not there. */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  /** What is remembered of an object; undefined where it is not known, or gone. */
  get(uid: string): Sight | undefined {
    const known = this.#objects.get(uid);
    if (known === undefined) return undefined;
    const { namespace, name, resourceVersion, generation, isDeleting, isPaused, isFiltered } = known;
    const state = { resourceVersion, generation, isDeleting, isPaused, isFiltered };
    return namespace === undefined ? { name, ...state } : { namespace, name, ...state };
  }

  /**
   * Remembers a sight of an object and says whether it is news. A replayed frame, older than what is known, changes nothing.
   *
   * @param nowMs  by the steady clock, which intervals are counted by
   * @param wallMs by the wall clock, which `status.nextReconcileTime` is held against
   */
  observe(object: ObservedObject, phase: Phase, nowMs: number, wallMs = nowMs): Verdict {
    const known = this.#objects.get(object.uid);
    const verdict = judge(known && this.#remember(object.uid, known), object, phase, this.#policy);
    if (verdict.kind === 'skip' && verdict.reason === 'older') {
      if (known !== undefined && this.#isListing) known.seenInList = this.#listNumber;
      return verdict;
    }
    const context: SightContext = {
      settledness: settlednessOf(object, this.#policy),
      isSent: verdict.kind === 'pass',
      nowSeconds: secondsOf(nowMs),
      listNumber: this.#listNumber,
    };
    const current = known ?? new KnownObject(object, this.#sharedNamespace(object), context);
    if (known === undefined) this.#objects.set(object.uid, current);
    else known.see(object, context);
    if (object.watchedDigest !== undefined) this.#digests.set(object.uid, object.watchedDigest);
    this.#noteUnsettled(object.uid, current.healingCase(secondsOf(wallMs)), nowMs);
    return verdict;
  }

  /** Forgets an object after its DELETED frame. Undefined where it was not known, or where the frame is older than the object. */
  remove(uid: string, resourceVersion: string): Removed | undefined {
    const known = this.#objects.get(uid);
    if (known === undefined) return undefined;
    const isOlder = compareResourceVersions(resourceVersion, known.resourceVersion) === -1;
    if (isOlder && !this.#isStale(known)) return undefined;
    return this.#forget(uid, known, resourceVersion);
  }

  /** A list begins; one that had begun before is given up. */
  beginList(): void {
    this.#listNumber += 1;
    this.#isListing = true;
  }

  /**
   * The list is complete: forgets and returns what it did not show. Empty where no list had begun.
   *
   * @param resourceVersion of the list: a reader who wants to see the deletions must not read anything older. Left out, each
   *                        removed object carries the last version known of it
   */
  endList(resourceVersion?: string): Removed[] {
    if (!this.#isListing) return [];
    this.#isListing = false;
    this.#hasListed = true;
    this.#namespaces.clear();
    const removed: Removed[] = [];
    for (const [uid, known] of this.#objects) {
      if (known.seenInList !== this.#listNumber) removed.push(this.#forget(uid, known, resourceVersion ?? known.resourceVersion));
    }
    return removed;
  }

  /** The list did not come to its end: what it did not show may well exist, so nothing is inferred. */
  abandonList(): void {
    this.#isListing = false;
  }

  /**
   * The cluster went back in time (etcd was restored): versions remembered so far compare with nothing any more, and messages
   * sent so far count as lost. May be called before a list or within one, before its first row. The objects stay known, so
   * that the next list still tells what is gone; what it shows unsettled passes as `sweep`.
   */
  forgetPositions(): void {
    this.#staleBelow = this.#isListing ? this.#listNumber : this.#listNumber + 1;
  }

  /**
   * How many objects are known not to be settled, and the age of the oldest such finding. Left out are paused objects, those
   * given up for their generation (a dead letter tells of them) and those whose settledness nothing shows.
   */
  unsettled(nowMs: number): Unsettled {
    const oldest = this.#unsettledSince.values().next();
    const ageMs = oldest.done ? 0 : nowMs - oldest.value;
    return { count: this.#unsettledSince.size, oldestSeconds: Math.max(0, ageMs) / 1000 };
  }

  /**
   * What time alone has made due: healing of what stays unsettled, which counts as sent, and the resync, which does not: it may
   * wait for long, see {@link resynced}. An object may come due for both. One whose message waits to be sent is not healed
   * meanwhile. One pass over all objects, which costs no allocation for those that are not due.
   */
  takeDue(plan: UpkeepPlan): Due[] {
    const { span, wallSeconds = span.toSeconds, healing, resyncSeconds, isFresh = true, isWaiting } = plan;
    const nowSeconds = span.toSeconds;
    const due: Due[] = [];
    for (const [uid, known] of this.#objects) {
      if (known.isOurs && isResyncDue(known.hash, span, resyncSeconds)) {
        due.push({ ...addressOf(uid, known), reason: 'resync', mustRun: true });
      }
      // Nothing ever shows that the work of a kind that is not ours was done, save for our finalizer on what is being deleted.
      const kind = this.#policy.isDescribed && !known.isDeleting ? undefined : known.healingCase(wallSeconds);
      if (kind === undefined || (kind === 'overdue' && !isFresh)) continue;
      if (kind === 'overdue') this.#noteUnsettled(uid, kind, nowSeconds * 1000);
      if (nowSeconds < known.waitsSinceSeconds + healingIntervalSeconds(kind, known.healCount, healing)) continue;
      if (isWaiting(uid)) {
        known.waits(nowSeconds);
      } else {
        known.healed(nowSeconds);
        due.push({ ...addressOf(uid, known), reason: 'sweep', mustRun: kind === 'overdue' });
      }
    }
    return due;
  }

  /** The message of an object's resync leaves: the time until it is healed is counted anew. Nothing where the object is gone. */
  resynced(uid: string, nowMs: number): void {
    this.#objects.get(uid)?.sent(secondsOf(nowMs));
  }

  #remember(uid: string, known: KnownObject): Remembered {
    const { resourceVersion, generation, isDeleting, isPaused, isFiltered, settledness } = known;
    const watchedDigest = this.#digests.get(uid);
    const isStale = this.#isStale(known);
    return { resourceVersion, generation, isDeleting, isPaused, isFiltered, watchedDigest, settledness, isStale };
  }

  #sharedNamespace({ namespace }: ObservedObject): string | undefined {
    if (namespace === undefined) return undefined;
    const shared = this.#namespaces.get(namespace);
    if (shared !== undefined) return shared;
    if (this.#namespaces.size >= SHARED_NAMESPACES_MAX) this.#namespaces.clear();
    this.#namespaces.set(namespace, namespace);
    return namespace;
  }

  #isStale(known: KnownObject): boolean {
    return known.seenInList < this.#staleBelow;
  }

  #noteUnsettled(uid: string, kind: HealingCase | undefined, nowMs: number): void {
    if (kind === undefined || kind === 'unknown') this.#unsettledSince.delete(uid);
    else if (!this.#unsettledSince.has(uid)) this.#unsettledSince.set(uid, nowMs);
  }

  #forget(uid: string, known: KnownObject, resourceVersion: string): Removed {
    this.#objects.delete(uid);
    this.#digests.delete(uid);
    this.#unsettledSince.delete(uid);
    return { ...addressOf(uid, known), resourceVersion };
  }
}

function addressOf(uid: string, { namespace, name, resourceVersion, generation }: KnownObject): Removed {
  return { uid, ...(namespace === undefined ? {} : { namespace }), name, resourceVersion, generation };
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
