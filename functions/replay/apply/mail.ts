/** What came out of the queue: letters of the plan go to their items, others are kept apart, and those that are done with are to be deleted. */
import type { ReceivedLetter } from '../../adapters/letter-queue-port.ts';
import { readLetter } from '../../core/letter.ts';
import { LetterReader } from '../letter-record.ts';
import { judgeLetters } from '../verdict.ts';
import type { Agenda } from './agenda.ts';
import { decide, decideUnread } from './decide.ts';
import type { Follower } from './follow.ts';
import type { Item, ItemState } from './items.ts';
import type { Keeper } from './keeper.ts';

export interface MailOptions {
  readonly byLetter: ReadonlyMap<string, Item>;
  readonly keeper: Keeper;
  readonly follower: Follower;
  readonly agenda: Agenda;
  readonly settle: (item: Item, state: ItemState) => void;
  /** A letter of the plan came. */
  readonly onLetter: () => void;
}

export class Mail {
  readonly #options: MailOptions;
  readonly #reader = new LetterReader();
  readonly #notOfPlan = new Set<string>();
  /** Letters of objects that are done with. */
  readonly #done = new Set<string>();
  #isOpen = false;
  #ofPlan = 0;
  #cameBack = 0;

  constructor(options: MailOptions) {
    this.#options = options;
  }

  get counts(): { readonly received: number; readonly ofPlan: number; readonly notOfPlan: number; readonly cameBack: number } {
    const notOfPlan = this.#notOfPlan.size;
    return { received: this.#ofPlan + notOfPlan, ofPlan: this.#ofPlan, notOfPlan, cameBack: this.#cameBack };
  }

  /** The queue is seen through: from now on items have their turns. */
  open(items: Iterable<Item>): void {
    this.#isOpen = true;
    for (const item of items) {
      if (item.received.size === 0) continue;
      this.#offer(item);
      for (const messageId of item.received.keys()) this.#route(item, messageId);
    }
  }

  /** A letter that is hidden for us until `untilMs` of the steady clock. True for news. */
  take(received: ReceivedLetter, untilMs: number): boolean {
    const { keeper, byLetter, onLetter } = this.#options;
    const { messageId } = received;
    const wasHeld = keeper.hold(messageId, received.receiptHandle, untilMs);
    const item = byLetter.get(messageId);
    if (item === undefined) return this.#takeOther(received);
    // SQS may bring again what is deleted, or what somebody else had received before it was.
    const wasRemoved = keeper.removed.delete(messageId);
    const isKnown = item.received.has(messageId);
    if (isKnown && wasHeld && !wasRemoved) return false;
    if (!isKnown) {
      const letter = readLetter(received);
      item.take(this.#reader.recordOf(received, letter), letter);
      this.#ofPlan += 1;
    }
    if (this.#isOpen) {
      this.#offer(item);
      this.#route(item, messageId);
    }
    onLetter();
    return true;
  }

  /** Letters that are held and to be deleted, up to `max`. */
  toDelete(max: number): string[] {
    const messageIds: string[] = [];
    for (const messageId of this.#done) {
      if (messageIds.length === max) break;
      if (this.#options.keeper.isHeld(messageId)) messageIds.push(messageId);
    }
    return messageIds;
  }

  /** All letters of the item that came are to be deleted. */
  doneWith(item: Item): void {
    for (const messageId of item.usable) this.#done.add(messageId);
  }

  /** It was tried, whatever came of it: once more only when the letter comes again. */
  deleted(messageIds: readonly string[]): void {
    for (const messageId of messageIds) this.#done.delete(messageId);
  }

  #takeOther(received: ReceivedLetter): boolean {
    if (this.#notOfPlan.has(received.messageId)) return false;
    this.#notOfPlan.add(received.messageId);
    const letter = readLetter(received);
    const replay = 'envelope' in letter ? letter.envelope.data.replay : undefined;
    if (this.#options.follower.cameBack(this.#reader.recordOf(received, letter), replay)) this.#cameBack += 1;
    return true;
  }

  #offer(item: Item): void {
    if (item.state.kind !== 'waiting') return;
    const unread = decideUnread(item.planned);
    if (unread !== undefined) this.#options.settle(item, { kind: 'left', reason: unread.reason });
    else if (item.usable.length > 0) this.#options.agenda.add(item);
  }

  /** Gives a letter the fate of its object, where that is done with. */
  #route(item: Item, messageId: string): void {
    const { state } = item;
    const came = item.received.get(messageId);
    if (came === undefined || came.leftFor !== undefined) return;
    if (state.kind === 'sent') this.#done.add(messageId);
    if (state.kind !== 'acknowledged') return;
    // What the object showed holds for this letter too, or it is left: it was never asked for.
    const fresh = item.target === undefined ? undefined : judgeLetters([came.record], state.reading, state.kindFacts);
    const isDone = fresh === undefined || decide(item.planned, fresh, { replays: 0, again: false }).kind === 'acknowledge';
    if (isDone) this.#done.add(messageId);
    else item.leave(messageId, 'changed-since-plan');
  }
}
