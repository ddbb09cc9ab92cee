/**
 * The record of one object. There are as many as objects, so all that is small is one integer, and every field is set in one
 * place and in one order: V8 then gives all records one shape of nine words. With its strings and its place in the map an object
 * takes about 250 bytes (measured with 100,000 objects, Node 24).
 */
import { type HealingCase, OVERDUE_SECONDS } from './healing.ts';
import type { ObservedObject } from './observed-object.ts';
import { isStalled, type Settledness } from './predicate.ts';
import { hashOf } from './resync.ts';

const DELETING = 1;
const PAUSED = 2;
const SETTLED = 4;
const UNSETTLED = 8;
const STALLED = 16;
const ATTEMPTED = 32;
const FILTERED = 64;
const ALL_FLAGS = 127;
const HEAL_COUNT_ONE = 128;
/** More would change nothing: the first interval of 1 s, doubled so often, is over the longest. */
const HEAL_COUNT_MAX = 20;

/** The largest number that V8 keeps in a field without an allocation; as a time it is in 2038. */
const SMALL_MAX = 2 ** 31 - 1;

/** When a sight came, and what it led to. */
export interface SightContext {
  readonly settledness: Settledness;
  readonly isSent: boolean;
  readonly nowSeconds: number;
  readonly listNumber: number;
}

export class KnownObject {
  readonly namespace: string | undefined;
  readonly name: string;
  resourceVersion: string;
  generation: number | undefined;
  /** Number of the newest list that contained it, or during which a frame showed it. */
  seenInList: number;
  readonly hash: number;
  /** Seconds of the steady clock; 0 where nothing was ever sent. */
  #waitsSinceSeconds: number;
  /** When it wants to run again, in seconds since 1970 as the object says it; 0 for never. */
  #nextSeconds: number;
  /** Flags, and above them how often it was healed. */
  #bits: number;

  constructor(object: ObservedObject, namespace: string | undefined, context: SightContext) {
    this.namespace = namespace;
    this.name = object.name;
    this.resourceVersion = object.resourceVersion;
    this.generation = object.generation;
    this.seenInList = context.listNumber;
    this.hash = hashOf(object.uid);
    this.#waitsSinceSeconds = context.isSent ? context.nowSeconds : 0;
    this.#nextSeconds = nextSecondsOf(object);
    this.#bits = flagsOf(object, context.settledness);
  }

  /** Remembers a newer sight of the same object. */
  see(object: ObservedObject, { settledness, isSent, nowSeconds, listNumber }: SightContext): void {
    const flags = flagsOf(object, settledness);
    const nextSeconds = nextSecondsOf(object);
    const isAsBefore =
      flags === (this.#bits & ALL_FLAGS) && nextSeconds === this.#nextSeconds && object.generation === this.generation && !isSent;
    if (isSent || (this.settledness === 'settled' && settledness !== 'settled')) this.#waitsSinceSeconds = nowSeconds;
    this.#bits = isAsBefore ? this.#bits : flags;
    this.#nextSeconds = nextSeconds;
    this.resourceVersion = object.resourceVersion;
    this.generation = object.generation;
    this.seenInList = listNumber;
  }

  get isDeleting(): boolean {
    return (this.#bits & DELETING) !== 0;
  }

  get isPaused(): boolean {
    return (this.#bits & PAUSED) !== 0;
  }

  get isFiltered(): boolean {
    return (this.#bits & FILTERED) !== 0;
  }

  get settledness(): Settledness {
    if ((this.#bits & SETTLED) !== 0) return 'settled';
    return (this.#bits & UNSETTLED) !== 0 ? 'unsettled' : 'unknown';
  }

  /** True where there may ever be something to do: not while it is paused or filtered, nor once its deletion is no more of ours. */
  get isOurs(): boolean {
    return (this.#bits & (PAUSED | FILTERED)) === 0 && (this.#bits & (DELETING | SETTLED)) !== (DELETING | SETTLED);
  }

  /** Why it is to be sent again one day, by the wall clock; undefined where it is done, paused, or given up for its generation. */
  healingCase(wallSeconds: number): HealingCase | undefined {
    if ((this.#bits & STALLED) !== 0 || !this.isOurs) return undefined;
    if ((this.#bits & SETTLED) !== 0) {
      return this.#nextSeconds > 0 && wallSeconds >= this.#nextSeconds + OVERDUE_SECONDS ? 'overdue' : undefined;
    }
    if ((this.#bits & UNSETTLED) === 0) return 'unknown';
    return (this.#bits & ATTEMPTED) !== 0 ? 'attempted' : 'never-attempted';
  }

  get healCount(): number {
    return Math.floor(this.#bits / HEAL_COUNT_ONE);
  }

  get waitsSinceSeconds(): number {
    return this.#waitsSinceSeconds;
  }

  /** Its message waits to be sent: the time until the next one is counted from now. */
  waits(nowSeconds: number): void {
    this.#waitsSinceSeconds = nowSeconds;
  }

  /** A message was sent for it because it stays unsettled. */
  healed(nowSeconds: number): void {
    this.#waitsSinceSeconds = nowSeconds;
    if (this.healCount < HEAL_COUNT_MAX) this.#bits += HEAL_COUNT_ONE;
  }

  /** A message was sent for it for another reason. */
  sent(nowSeconds: number): void {
    this.#waitsSinceSeconds = nowSeconds;
    this.#bits &= ALL_FLAGS;
  }
}

function flagsOf(object: ObservedObject, settledness: Settledness): number {
  const settled = settledness === 'settled' ? SETTLED : settledness === 'unsettled' ? UNSETTLED : 0;
  const attempted = object.status?.attemptedGeneration;
  const isAttempted = attempted !== undefined && attempted === object.generation;
  return (
    (object.isDeleting ? DELETING : 0) |
    (object.isPaused ? PAUSED : 0) |
    (object.isFiltered && !object.isDeleting ? FILTERED : 0) |
    settled |
    (isStalled(object) ? STALLED : 0) |
    (isAttempted ? ATTEMPTED : 0)
  );
}

function nextSecondsOf({ status }: ObservedObject): number {
  const ms = status?.nextReconcileTime === undefined ? Number.NaN : Date.parse(status.nextReconcileTime);
  return ms > 0 ? Math.min(Math.floor(ms / 1000), SMALL_MAX) : 0;
}
