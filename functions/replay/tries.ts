/** Calls of a dead-letter queue that are made again: SQS may take a part, or nothing for a while. */
import type { Clock } from '../adapters/clock.ts';
import type { LetterQueue, ReceivedLetter } from '../adapters/letter-queue-port.ts';
import { TransientError } from '../core/errors.ts';

/** How often a call is made; the wait before the next doubles from a second. */
export const TRIES = 4;

/** Milliseconds to wait after so many tries, from 1: a random part, half or more, of a second doubled with each. */
export function waitAfter(tries: number, clock: Pick<Clock, 'random'>): number {
  return 1000 * 2 ** (tries - 1) * (0.5 + clock.random() / 2);
}

/** The places of those that a call of the port could not do however often it was tried. Never throws. */
export async function insist(
  handles: readonly string[],
  call: (handles: readonly string[]) => Promise<number[]>,
  clock: Pick<Clock, 'sleep' | 'random'>,
): Promise<number[]> {
  let places = handles.map((_, place) => place);
  for (let tries = 1; places.length > 0 && tries <= TRIES; tries += 1) {
    if (tries > 1) await clock.sleep(waitAfter(tries - 1, clock));
    const left = await call(places.map((place) => handles[place] as string));
    places = left.map((at) => places[at] as number);
  }
  return places;
}

/** What the port's receive answers, asked again while SQS throttles us. @throws what the port throws otherwise, or at last */
export async function receivePatiently(
  queue: Pick<LetterQueue, 'receive'>,
  options: Parameters<LetterQueue['receive']>[0],
  { clock, stop }: { readonly clock: Pick<Clock, 'sleep' | 'random'>; readonly stop: AbortSignal },
): Promise<ReceivedLetter[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await queue.receive(options);
    } catch (error) {
      if (!(error instanceof TransientError && error.code === 'throttled') || tries === TRIES || stop.aborted) throw error;
      await clock.sleep(waitAfter(tries, clock), stop);
    }
  }
}
