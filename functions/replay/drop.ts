/**
 * Deletes letters of a plan without sending anything. Each is whole on disk before it is deleted, so that none is ever gone for good; whoever
 * is stopped in the middle, at any step, goes on by doing the same again.
 */
import type { Clock } from '../adapters/clock.ts';
import type { LetterQueue, ReceivedLetter } from '../adapters/letter-queue-port.ts';
import { DogwatchError, TransientError } from '../core/errors.ts';
import type { DropFile, DropLine } from './dropped-file.ts';
import { copyOf } from './letter-copy.ts';
import { VISIBILITY_SECONDS } from './look-through.ts';
import type { PlanItem } from './plan.ts';
import { insist, receivePatiently } from './tries.ts';
import type { ReplayClass } from './verdict.ts';

export interface DropOptions {
  readonly items: readonly PlanItem[];
  readonly classes: ReadonlySet<ReplayClass>;
  /** Message ids of letters that are not missed when they do not come: what was done with them is on record. */
  readonly accounted: ReadonlySet<string>;
  readonly queue: LetterQueue;
  readonly file: DropFile;
  readonly clock: Clock;
  /** Ends it early: letters that are being dropped are dropped, and others given back. */
  readonly stop: AbortSignal;
  /** For the file: who, by which command, by which plan. */
  readonly by: string;
  readonly command: string;
  readonly sha256: string;
  readonly tell: (progress: { readonly received: number; readonly dropped: number; readonly wanted: number }) => void;
}

/** `limit`: SQS hides no more letters at once. */
type DropEnd = 'done' | 'signal' | 'limit' | 'failed';

/**
 * An account of every letter received, by message id. Sums that hold always:
 * - `received` = `dropped` + `notDeleted` + `leftOfPlan` + `notReached` + `notOfPlan`
 * - letters of the plan that are wanted = `dropped` + `notDeleted` + `notReached` + `goneBefore` + `notSeen`
 */
export interface DropSummary {
  readonly end: DropEnd;
  readonly failure?: { readonly code: string; readonly says: string };
  readonly letters: {
    readonly received: number;
    /** On disk, and deleted. */
    readonly dropped: number;
    /** On disk, and in the queue still. */
    readonly notDeleted: number;
    /** Of the plan, and of another class. */
    readonly leftOfPlan: number;
    /** Received, and given back since it ended before. */
    readonly notReached: number;
    readonly notOfPlan: number;
    /** Not received, and on disk by an earlier drop. */
    readonly goneBefore: number;
    /** Not received, and not on disk either. */
    readonly notSeen: number;
    /** Letters among `notSeen` of which nothing is on record: somebody else has them, or they are gone. */
    readonly missed: number;
    /** Letters that come back only when their visibility ends. */
    readonly notReleased: number;
  };
}

const RECEIVERS = 8;
const WAIT_SECONDS = 1;
/** Answers in a row with nothing new, after which a receiver has seen the queue through. */
const EMPTY_MAX = 2;

/** @throws ConfigError where the file cannot be written at all, before anything is received; and what is no error of ours */
export async function dropLetters(options: DropOptions): Promise<DropSummary> {
  const { file, clock, by, command, sha256, classes } = options;
  await file.append([{ kind: 'begin', at: clock.now().toISOString(), version: 1, by, command, plan: sha256, classes: [...classes] }]);
  const run = new DropRun(options);
  const summary = await run.toEnd();
  try {
    await file.append([...run.takeDeleted(), { kind: 'end', at: clock.now().toISOString(), summary }]);
  } catch (error) {
    if (summary.end !== 'done' || !(error instanceof DogwatchError)) return summary;
    return { ...summary, end: 'failed', failure: { code: error.code, says: error.message } };
  }
  return summary;
}

class DropRun {
  readonly #options: DropOptions;
  readonly #wanted = new Map<string, PlanItem>();
  readonly #ofPlan = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #onDisk: Set<string>;
  readonly #deleted = new Set<string>();
  /** Those that are given back, by their newest handle. */
  readonly #held = new Map<string, string>();
  #deletedLines: DropLine[] = [];
  #end: DropEnd | undefined;
  #failure: unknown;

  constructor(options: DropOptions) {
    this.#options = options;
    this.#onDisk = new Set(options.file.past);
    for (const item of options.items) {
      for (const { messageId } of item.letters) {
        this.#ofPlan.add(messageId);
        if (options.classes.has(item.class)) this.#wanted.set(messageId, item);
      }
    }
  }

  async toEnd(): Promise<DropSummary> {
    const { stop } = this.#options;
    await Promise.all(Array.from({ length: RECEIVERS }, () => this.#receiver().catch((error: unknown) => this.#fail(error))));
    const notReleased = await this.#giveBack();
    if (this.#failure !== undefined && !(this.#failure instanceof DogwatchError)) throw this.#failure;
    return this.#summary(this.#end ?? (stop.aborted && !this.#isThrough ? 'signal' : 'done'), notReleased);
  }

  /** What was deleted, and is not written yet: it is, with what is written next. */
  takeDeleted(): DropLine[] {
    const lines = this.#deletedLines;
    this.#deletedLines = [];
    return lines;
  }

  get #isThrough(): boolean {
    return this.#deleted.size === this.#wanted.size;
  }

  get #isOver(): boolean {
    return this.#end !== undefined || this.#options.stop.aborted;
  }

  #fail(error: unknown): void {
    if (error instanceof TransientError && error.code === 'in-flight-limit') this.#end ??= 'limit';
    else {
      this.#end = 'failed';
      this.#failure ??= error;
    }
  }

  async #receiver(): Promise<void> {
    let empty = 0;
    while (!this.#isOver && !this.#isThrough && empty < EMPTY_MAX) {
      const asked = { visibilitySeconds: VISIBILITY_SECONDS, waitSeconds: WAIT_SECONDS };
      const letters = await receivePatiently(this.#options.queue, asked, this.#options);
      const seenBefore = this.#seen.size;
      const mine: ReceivedLetter[] = [];
      for (const letter of letters) {
        this.#seen.add(letter.messageId);
        if (this.#wanted.has(letter.messageId) && !this.#isOver) mine.push(letter);
        else this.#held.set(letter.messageId, letter.receiptHandle);
      }
      empty = this.#seen.size === seenBefore ? empty + 1 : 0;
      await this.#drop(mine);
      const { size: dropped } = this.#deleted;
      this.#options.tell({ received: this.#seen.size, dropped, wanted: this.#wanted.size });
    }
  }

  async #drop(letters: readonly ReceivedLetter[]): Promise<void> {
    if (letters.length === 0) return;
    const { file, queue, clock } = this.#options;
    const at = clock.now().toISOString();
    const fresh = letters.filter(({ messageId }) => !this.#onDisk.has(messageId));
    try {
      if (fresh.length > 0) await file.append([...this.takeDeleted(), ...fresh.map((letter) => this.#lineOf(letter, at))]);
    } catch (error) {
      for (const { messageId, receiptHandle } of letters) this.#held.set(messageId, receiptHandle);
      throw error;
    }
    for (const { messageId } of fresh) this.#onDisk.add(messageId);
    const handles = letters.map(({ receiptHandle }) => receiptHandle);
    const places = await insist(handles, (some) => queue.remove(some), clock);
    const left = places.map((place) => letters[place] as ReceivedLetter);
    const notDeleted = new Set(left.map(({ messageId }) => messageId));
    // They are given back, so that somebody can try again before their visibility ends.
    for (const { messageId, receiptHandle } of left) this.#held.set(messageId, receiptHandle);
    const done = letters.map(({ messageId }) => messageId).filter((messageId) => !notDeleted.has(messageId));
    for (const messageId of done) {
      this.#deleted.add(messageId);
      this.#held.delete(messageId);
    }
    if (done.length > 0) this.#deletedLines.push({ kind: 'deleted', at: clock.now().toISOString(), letters: done });
  }

  #lineOf(letter: ReceivedLetter, at: string): DropLine {
    const { class: name, reason, object } = this.#wanted.get(letter.messageId) as PlanItem;
    return { kind: 'letter', at, ...copyOf(letter), class: name, reason, ...(object === undefined ? {} : { object }) };
  }

  /** How many could not be given back. */
  async #giveBack(): Promise<number> {
    const { queue, clock } = this.#options;
    const left = await insist([...this.#held.values()], (some) => queue.release(some), clock);
    return left.length;
  }

  #summary(end: DropEnd, notReleased: number): DropSummary {
    const counts = { dropped: 0, notDeleted: 0, notReached: 0, goneBefore: 0, notSeen: 0, missed: 0 };
    for (const messageId of this.#wanted.keys()) {
      const isOnDisk = this.#onDisk.has(messageId);
      if (this.#deleted.has(messageId)) counts.dropped += 1;
      else if (!this.#seen.has(messageId)) counts[isOnDisk ? 'goneBefore' : 'notSeen'] += 1;
      else counts[isOnDisk ? 'notDeleted' : 'notReached'] += 1;
      if (!isOnDisk && !this.#seen.has(messageId) && !this.#options.accounted.has(messageId)) counts.missed += 1;
    }
    const { dropped, notDeleted, notReached, goneBefore, notSeen, missed } = counts;
    const ofPlan = [...this.#seen].filter((messageId) => this.#ofPlan.has(messageId)).length;
    const received = this.#seen.size;
    return {
      end,
      ...(this.#failure instanceof DogwatchError ? { failure: { code: this.#failure.code, says: this.#failure.message } } : {}),
      letters: {
        ...{ received, dropped, notDeleted, leftOfPlan: ofPlan - dropped - notDeleted - notReached, notReached },
        ...{ notOfPlan: received - ofPlan, goneBefore, notSeen, missed, notReleased },
      },
    };
  }
}
