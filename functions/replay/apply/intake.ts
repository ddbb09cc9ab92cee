/** Receives the queue: first side by side until it is seen through, then by one receiver, which sees what is late and what comes back. */
import type { Clock } from '../../adapters/clock.ts';
import type { LetterQueue, ReceivedLetter } from '../../adapters/letter-queue-port.ts';
import { TransientError } from '../../core/errors.ts';
import { TRIES, waitAfter } from '../tries.ts';

const RECEIVERS_MAX = 8;
/** Letters for which one more receiver is worth it. */
const LETTERS_A_RECEIVER = 50;
/** Answers in a row without news after which a receiver has seen the queue through: see `look-through.ts`. */
const EMPTY_MAX = 2;
const WAIT_SECONDS = 1;
/** Afterwards; no end has to wait for longer. */
const WATCH_WAIT_SECONDS = 2;
/** While SQS hides no more: deletions make room. */
const LIMIT_WAIT_MS = 10_000;

export interface IntakeOptions {
  readonly queue: LetterQueue;
  readonly clock: Clock;
  /** About how many letters there are. */
  readonly depth: number;
  readonly visibilitySeconds: number;
  /** No receive begins any more. */
  readonly ended: AbortSignal;
  /** A letter that is hidden until `untilMs` of the steady clock, at least. True for one that is news. */
  readonly onLetter: (letter: ReceivedLetter, untilMs: number) => boolean;
}

export class Intake {
  readonly #options: IntakeOptions;
  #quietAnswers = 0;
  #noisyUntilMs = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** True while the last answers brought nothing new, nor was anything lost in between. */
  get isQuiet(): boolean {
    return this.#quietAnswers >= EMPTY_MAX;
  }

  /** What was held is not ours any more, and comes again after `untilMs` of the steady clock. */
  disturb(untilMs: number): void {
    this.#quietAnswers = 0;
    this.#noisyUntilMs = Math.max(this.#noisyUntilMs, untilMs);
  }

  /** Resolves when all that can be received was. @throws what the port throws */
  async seeThrough(): Promise<void> {
    const { depth } = this.#options;
    const count = Math.min(RECEIVERS_MAX, 1 + Math.floor(depth / LETTERS_A_RECEIVER));
    const ends = await Promise.allSettled(Array.from({ length: count }, () => this.#seeThrough()));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    this.#quietAnswers = EMPTY_MAX;
  }

  /** Goes on until the end. @throws what the port throws */
  async keepOn(): Promise<void> {
    const { clock, ended } = this.#options;
    while (!ended.aborted) {
      const news = await this.#receive(WATCH_WAIT_SECONDS);
      if (news === 'limit') await clock.sleep(LIMIT_WAIT_MS, ended);
      const isQuiet = (news === 0 || news === 'limit') && clock.steadyMs() > this.#noisyUntilMs;
      this.#quietAnswers = isQuiet ? this.#quietAnswers + 1 : 0;
    }
  }

  async #seeThrough(): Promise<void> {
    for (let empty = 0; empty < EMPTY_MAX && !this.#options.ended.aborted; ) {
      const news = await this.#receive(WAIT_SECONDS);
      if (news === 'limit') return;
      empty = news === 0 ? empty + 1 : 0;
    }
  }

  async #receive(waitSeconds: number): Promise<number | 'limit'> {
    const { queue, clock, visibilitySeconds, ended, onLetter } = this.#options;
    for (let tries = 1; ; tries += 1) {
      // Hidden from when SQS answers, which is not before we ask.
      const untilMs = clock.steadyMs() + visibilitySeconds * 1000;
      try {
        const letters = await queue.receive({ visibilitySeconds, waitSeconds });
        return letters.filter((letter) => onLetter(letter, untilMs)).length;
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        if (error.code === 'in-flight-limit') return 'limit';
        if (tries === TRIES || ended.aborted) throw error;
        await clock.sleep(waitAfter(tries, clock), ended);
      }
    }
  }
}
