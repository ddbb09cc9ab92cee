/**
 * How full a queue is, asked now and then: repairs wait while those before them have not been worked on.
 *
 * SQS counts approximately and lags behind by up to a minute, so what was sent since its last answer counts as well. Until the
 * first question has come to an end there is no room: a start would else add to a queue that is full. A queue that does not
 * answer is taken for empty: its depth is a courtesy, and the messages are owed.
 */
import type { Log } from '../adapters/telemetry.ts';

/** Messages above which a lane pauses. */
const LEVEL_MAX = 1000;
/** The shortest time between two questions, in milliseconds. */
const ASK_MS = 3000;

export interface QueueLevelOptions {
  /** Messages in the queue that a worker could have now; undefined where it does not say. Comes to an end by itself, and at once when the signal aborts. */
  readonly ask: (signal: AbortSignal) => Promise<number | undefined>;
  readonly log: Log;
  /** Called when an answer came. */
  readonly onAnswer: () => void;
}

export class QueueLevel {
  readonly #options: QueueLevelOptions;
  /** Undefined until the first question has come to an end. */
  #count: number | undefined;
  #sentCount = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isSilent = false;
  #isPaused = false;

  constructor(options: QueueLevelOptions) {
    this.#options = options;
  }

  /** How many messages may be sent before the queue is full; 0 while that is not known. */
  get room(): number {
    if (this.#count === undefined) return 0;
    return Math.max(0, LEVEL_MAX - this.#count - this.#sentCount);
  }

  /** When the next question may be asked, in milliseconds of the steady clock; undefined while one is. */
  get nextAskMs(): number | undefined {
    return this.#isAsking ? undefined : this.#askedAtMs + ASK_MS;
  }

  /** Asks if it is time to. To be called only while something waits to be sent. A question that the signal ends changes nothing. */
  refresh(nowMs: number, signal: AbortSignal): void {
    if (this.#isAsking || nowMs < this.#askedAtMs + ASK_MS) return;
    this.#isAsking = true;
    this.#askedAtMs = nowMs;
    const sentBefore = this.#sentCount;
    void this.#ask(signal).then((count) => {
      this.#isAsking = false;
      if (signal.aborted) return;
      this.#count = count ?? 0;
      this.#sentCount -= sentBefore;
      this.#tell(count);
      this.#options.onAnswer();
    });
  }

  /** So many messages were put into the queue, or are about to be. */
  sent(count: number): void {
    this.#sentCount += count;
  }

  async #ask(signal: AbortSignal): Promise<number | undefined> {
    try {
      return await this.#options.ask(signal);
    } catch (error) {
      if (!signal.aborted) this.#options.log.error('asking for the depth of the bulk queue threw', { error });
      return undefined;
    }
  }

  #tell(count: number | undefined): void {
    const { log } = this.#options;
    const isSilent = count === undefined;
    if (isSilent !== this.#isSilent) {
      this.#isSilent = isSilent;
      if (isSilent) log.warn('the bulk queue does not say how full it is; repairs are sent all the same');
      else log.info('the bulk queue says how full it is again', { count });
    }
    const isPaused = this.room === 0;
    if (isPaused !== this.#isPaused) {
      this.#isPaused = isPaused;
      if (isPaused) log.info('the bulk queue is full; repairs wait', { count });
      else log.info('the bulk queue has room again; repairs go on', { count });
    }
  }
}
