/**
 * What the watcher remembers of the objects of one kind in one cluster: one small record a uid. It answers whether a sight
 * of an object is news, what a list no longer shows, and how much is unsettled.
 *
 * Keyed by uid and never by name: an object re-created under a name is another object, and what was remembered of its
 * predecessor must neither hide it nor be lost with it.
 */
import type { ObservedObject } from './observed-object.ts';
import {
  isStalled,
  judge,
  type KindPolicy,
  type Phase,
  type Remembered,
  type Settledness,
  settlednessOf,
  type Verdict,
} from './predicate.ts';
import { compareResourceVersions } from './resource-version.ts';

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
  readonly deleting: boolean;
  readonly paused: boolean;
}

/** What is still to be done; see {@link KnownObjects.unsettled}. */
export interface Unsettled {
  readonly count: number;
  /** 0 where nothing is unsettled. */
  readonly oldestSeconds: number;
}

const DELETING = 1;
const PAUSED = 2;
const SETTLED = 4;
const UNSETTLED = 8;

/** All fields are set in one place and in one order, so that every record has the same hidden class. */
class KnownObject {
  namespace: string | undefined;
  name: string;
  resourceVersion: string;
  generation: number | undefined;
  flags: number;
  /** Number of the newest list that contained it, or during which a frame showed it. */
  seenInList: number;

  constructor(object: ObservedObject, flags: number, seenInList: number) {
    this.namespace = object.namespace;
    this.name = object.name;
    this.resourceVersion = object.resourceVersion;
    this.generation = object.generation;
    this.flags = flags;
    this.seenInList = seenInList;
  }
}

export class KnownObjects {
  readonly #policy: KindPolicy;
  readonly #objects = new Map<string, KnownObject>();
  /** uid -> since when it is unsettled, oldest first: time only moves forward, and a Map keeps the order of insertion. */
  readonly #unsettledSince = new Map<string, number>();
  #listNumber = 0;
  #isListing = false;
  /** Records last seen in an older list than this come from a history that is gone. */
  #staleBelow = 0;

  constructor(policy: KindPolicy) {
    this.#policy = policy;
  }

  /** Objects remembered. */
  get size(): number {
    return this.#objects.size;
  }

  /** What is remembered of an object; undefined where it is not known, or gone. */
  get(uid: string): Sight | undefined {
    const known = this.#objects.get(uid);
    if (known === undefined) return undefined;
    const { namespace, name, resourceVersion, generation, flags } = known;
    const state = { resourceVersion, generation, deleting: (flags & DELETING) !== 0, paused: (flags & PAUSED) !== 0 };
    return namespace === undefined ? { name, ...state } : { namespace, name, ...state };
  }

  /** Remembers a sight of an object and says whether it is news. A replayed frame, older than what is known, changes nothing. */
  observe(object: ObservedObject, phase: Phase, nowMs: number): Verdict {
    const known = this.#objects.get(object.uid);
    const verdict = judge(known && this.#remember(known), object, phase, this.#policy);
    if (verdict.kind === 'skip' && verdict.reason === 'older') {
      if (known !== undefined && this.#isListing) known.seenInList = this.#listNumber;
      return verdict;
    }
    const settledness = settlednessOf(object, this.#policy);
    const flags = flagsOf(object, settledness);
    if (known === undefined) {
      this.#objects.set(object.uid, new KnownObject(object, flags, this.#listNumber));
    } else {
      known.resourceVersion = object.resourceVersion;
      known.generation = object.generation;
      known.flags = flags;
      known.seenInList = this.#listNumber;
    }
    this.#noteUnsettled(object, settledness, nowMs);
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

  #remember(known: KnownObject): Remembered {
    return {
      resourceVersion: known.resourceVersion,
      generation: known.generation,
      deleting: (known.flags & DELETING) !== 0,
      paused: (known.flags & PAUSED) !== 0,
      settledness: (known.flags & SETTLED) !== 0 ? 'settled' : (known.flags & UNSETTLED) !== 0 ? 'unsettled' : 'unknown',
      stale: this.#isStale(known),
    };
  }

  #isStale(known: KnownObject): boolean {
    return known.seenInList < this.#staleBelow;
  }

  #noteUnsettled(object: ObservedObject, settledness: Settledness, nowMs: number): void {
    if (settledness !== 'unsettled' || object.paused || isStalled(object)) this.#unsettledSince.delete(object.uid);
    else if (!this.#unsettledSince.has(object.uid)) this.#unsettledSince.set(object.uid, nowMs);
  }

  #forget(uid: string, known: KnownObject, resourceVersion: string): Removed {
    this.#objects.delete(uid);
    this.#unsettledSince.delete(uid);
    const { namespace, name, generation } = known;
    return { uid, ...(namespace === undefined ? {} : { namespace }), name, resourceVersion, generation };
  }
}

function flagsOf(object: ObservedObject, settledness: Settledness): number {
  const settled = settledness === 'settled' ? SETTLED : settledness === 'unsettled' ? UNSETTLED : 0;
  return (object.deleting ? DELETING : 0) | (object.paused ? PAUSED : 0) | settled;
}
