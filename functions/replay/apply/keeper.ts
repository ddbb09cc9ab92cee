/** Keeps letters hidden for as long as they are worked on, deletes those that are done with, and gives the others back. */
import type { Clock } from '../../adapters/clock.ts';
import type { LetterQueue } from '../../adapters/letter-queue-port.ts';
import { mapBounded } from '../../core/bounded.ts';
import { insist } from '../tries.ts';
import { Holdings } from './holdings.ts';

/** Of the visibility: how often it is looked which letters would come back soon, and how soon is soon. A call that fails has several more turns. */
const LOOK_PART = 1 / 15;
const SOON_PART = 1 / 2;
/** A letter that is acted on stays ours for at least so long; in parts of the visibility, and in milliseconds. */
const ACT_PART = 2 / 3;
const ACT_MAX_MS = 60_000;
/** Letters in one call of the port, and calls at once. */
const CALL_COUNT = 100;
const CALLS_AT_ONCE = 4;

export interface KeeperOptions {
  readonly queue: LetterQueue;
  readonly clock: Clock;
  readonly visibilitySeconds: number;
  readonly ended: AbortSignal;
  /** Letters are not ours any more, and come again after `untilMs` of the steady clock. */
  readonly onLost: (untilMs: number) => void;
}

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #held = new Holdings();
  /** Message ids that are deleted, as far as SQS says. */
  readonly removed = new Set<string>();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Whether it was held already. */
  hold(messageId: string, handle: string, untilMs: number): boolean {
    const wasHeld = this.isHeld(messageId);
    this.#held.hold(messageId, handle, untilMs);
    return wasHeld;
  }

  isHeld(messageId: string): boolean {
    return this.#held.handleOf(messageId) !== undefined;
  }

  /** Extends what would come back, until the end. */
  async keep(): Promise<void> {
    const { clock, visibilitySeconds, ended, onLost } = this.#options;
    const visibilityMs = visibilitySeconds * 1000;
    for (;;) {
      await clock.sleep(visibilityMs * LOOK_PART, ended);
      if (ended.aborted) return;
      if (this.#held.dropEnded(clock.steadyMs()).length > 0) onLost(clock.steadyMs());
      await this.#extend(this.#held.endingBefore(clock.steadyMs() + visibilityMs * SOON_PART));
    }
  }

  /** Those of the letters that nobody else can have while they are acted on. */
  async heldOf(messageIds: readonly string[]): Promise<string[]> {
    const { clock, visibilitySeconds } = this.#options;
    const untilMs = clock.steadyMs() + Math.min(ACT_MAX_MS, visibilitySeconds * 1000 * ACT_PART);
    const short = messageIds.filter((id) => this.isHeld(id) && !this.#held.isHeldUntil(id, untilMs));
    await this.#extend(short);
    for (const id of short.filter((one) => !this.#held.isHeldUntil(one, untilMs))) {
      this.#held.drop(id);
      this.#options.onLost(untilMs);
    }
    return messageIds.filter((id) => this.#held.isHeldUntil(id, untilMs));
  }

  /** Deletes those that are held. @returns those that could not be, and stay held */
  async remove(messageIds: readonly string[]): Promise<string[]> {
    const { queue, clock } = this.#options;
    const held = messageIds.filter((id) => this.isHeld(id));
    const handles = held.map((id) => this.#held.handleOf(id) as string);
    const left = new Set(await insist(handles, (some) => queue.remove(some), clock));
    for (const [place, id] of held.entries()) {
      if (left.has(place)) continue;
      this.removed.add(id);
      this.#held.drop(id);
    }
    return held.filter((_, place) => left.has(place));
  }

  /**
   * Gives all back, until SQS has taken nothing of a whole call, however often it was asked: it will not take the others either.
   *
   * @returns how many could not be: they come back when their visibility ends
   */
  async releaseAll(): Promise<number> {
    const { queue, clock } = this.#options;
    let isRefused = false;
    const counts = await mapBounded(chunks(this.#held.takeAll()), CALLS_AT_ONCE, async (some) => {
      if (isRefused) return some.length;
      const left = await insist(some, (handles) => queue.release(handles), clock);
      isRefused ||= left.length === some.length;
      return left.length;
    });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #extend(messageIds: readonly string[]): Promise<void> {
    const { queue, clock, visibilitySeconds, ended } = this.#options;
    await mapBounded(chunks(messageIds), CALLS_AT_ONCE, async (ids) => {
      if (ended.aborted) return;
      const untilMs = clock.steadyMs() + visibilitySeconds * 1000;
      const held = ids.flatMap((id) => {
        const handle = this.#held.handleOf(id);
        return handle === undefined ? [] : [{ id, handle }];
      });
      const handles = held.map(({ handle }) => handle);
      const left = new Set(await queue.extend(handles, visibilitySeconds));
      for (const [place, { id, handle }] of held.entries()) if (!left.has(place)) this.#held.extend(id, handle, untilMs);
    });
  }
}

function chunks<One>(all: readonly One[]): One[][] {
  return Array.from({ length: Math.ceil(all.length / CALL_COUNT) }, (_, at) => all.slice(at * CALL_COUNT, (at + 1) * CALL_COUNT));
}
