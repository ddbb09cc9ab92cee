/**
 * Sees a queue through without harm. Letters are received side by side and stay hidden until all were seen, so that none comes twice;
 * then, or when anything ends the look before, all are given back. A look that is killed gives them back when their visibility ends.
 *
 * The queue is seen through when every receiver has had {@link EMPTY_MAX} answers in a row with nothing new in them: a long poll asks all
 * of the servers that SQS spreads a queue over, where a short one may miss some.
 */
import type { Clock } from '../adapters/clock.ts';
import type { LetterQueue, QueueDescription, ReceivedLetter } from '../adapters/letter-queue-port.ts';
import { mapBounded } from '../core/bounded.ts';
import { TransientError } from '../core/errors.ts';
import { HeldLetters } from './held-letters.ts';
import { insist, receivePatiently } from './tries.ts';

/** Seconds that letters stay hidden at most: far longer than a look of a hundred thousand letters takes. */
export const VISIBILITY_SECONDS = 300;
const RECEIVERS = 8;
const WAIT_SECONDS = 1;
const EMPTY_MAX = 2;
/** Letters that are given back in one call of the port, and calls at once. */
const RELEASE_COUNT = 100;
const RELEASES_AT_ONCE = 4;

export interface LookOptions {
  readonly queue: LetterQueue;
  readonly description: QueueDescription;
  readonly clock: Pick<Clock, 'sleep' | 'random'>;
  /** Ends the look early; receives under way are awaited, and their letters given back as well. */
  readonly stop: AbortSignal;
  /** Called once for each letter. Whether more are wanted. */
  readonly onLetter: (letter: ReceivedLetter) => boolean;
}

export interface LookReport {
  readonly seenCount: number;
  /** `through`: all that could be received was; `enough`: the caller had what it wanted; `stopped`: by the signal; `limit`: SQS hides no more. */
  readonly end: 'through' | 'enough' | 'stopped' | 'limit';
  /** Resolves when letters are given back, to how many could not be: those come back within {@link VISIBILITY_SECONDS}. Never rejects. */
  readonly givenBack: Promise<number>;
  /** Letters that somebody else received while we held them. */
  readonly elsewhereCount: number;
}

/**
 * What was seen, as soon as it was: letters are being given back then, and who asked waits for that before the process ends.
 *
 * @throws what the port throws, once every letter was given back that can be
 */
export async function lookThrough(options: LookOptions): Promise<LookReport> {
  const { queue, clock, stop, onLetter } = options;
  const held = new HeldLetters();
  let seenCount = 0;
  let elsewhereCount = 0;
  let end: LookReport['end'] | 'failed' | undefined;
  let failure: unknown;

  async function receiver(): Promise<void> {
    let empty = 0;
    while (end === undefined && empty < EMPTY_MAX) {
      if (stop.aborted) return;
      const letters = await receivePatiently(queue, { visibilitySeconds: VISIBILITY_SECONDS, waitSeconds: WAIT_SECONDS }, { clock, stop });
      let news = 0;
      // All are held before any is looked at: what is hidden must be known, whatever happens then.
      const fresh = letters.filter(({ messageId, receiptHandle, receiveCount }) => {
        const result = held.hold(messageId, receiptHandle, receiveCount);
        if (result === 'elsewhere') elsewhereCount += 1;
        return result === 'new';
      });
      for (const letter of fresh) {
        news += 1;
        seenCount += 1;
        if (!onLetter(letter)) end ??= 'enough';
      }
      empty = news === 0 ? empty + 1 : 0;
    }
  }

  await Promise.all(
    Array.from({ length: RECEIVERS }, () =>
      receiver().catch((error: unknown) => {
        if (error instanceof TransientError && error.code === 'in-flight-limit') end ??= 'limit';
        else {
          end = 'failed';
          failure ??= error;
        }
      }),
    ),
  );
  const givenBack = giveBack(queue, held, clock);
  if (end === 'failed') {
    await givenBack;
    throw failure;
  }
  return { seenCount, end: end ?? (stop.aborted ? 'stopped' : 'through'), givenBack, elsewhereCount };
}

/** How many could not be given back. */
async function giveBack(queue: LetterQueue, held: HeldLetters, clock: LookOptions['clock']): Promise<number> {
  let leftCount = 0;
  const waiting = held.take(RELEASE_COUNT);
  const worker = async (): Promise<void> => {
    for (const handles of waiting) {
      const left = await insist(handles, (some) => queue.release(some), clock);
      leftCount += left.length;
    }
  };
  await mapBounded(Array.from({ length: RELEASES_AT_ONCE }), RELEASES_AT_ONCE, worker);
  return leftCount + held.lostCount;
}

/** What a reader must know of a look that did not see all, or may not have. */
export function warningsOf(report: LookReport, { depth }: QueueDescription): string[] {
  const { seenCount, end, elsewhereCount } = report;
  const warnings: string[] = [];
  const letters = (count: number): string => `${count} letter${count === 1 ? '' : 's'}`;
  if (depth.hidden > 0)
    warnings.push(`${letters(depth.hidden)} hidden before we began: somebody else receives from this queue, or a look was killed`);
  if (end === 'limit') warnings.push(`SQS hides no more than it did: only ${letters(seenCount)} could be seen`);
  else if (end === 'through' && seenCount < depth.visible)
    warnings.push(
      `SQS counted about ${letters(depth.visible)}, but ${seenCount} came: somebody else receives from this queue, or it counts late`,
    );
  if (elsewhereCount > 0) warnings.push(`${letters(elsewhereCount)} came to somebody else while we looked`);
  if (depth.delayed > 0) warnings.push(`${letters(depth.delayed)} could not be seen yet, since the queue delays them`);
  return warnings;
}

/** What a reader must know where not all letters could be given back. */
export function heldBackWarning(count: number): string | undefined {
  if (count === 0) return undefined;
  return `${count} letter${count === 1 ? '' : 's'} could not be given back now, and will be by SQS within ${VISIBILITY_SECONDS} s`;
}
