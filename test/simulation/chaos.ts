/** Faults at random, until they stop. */
import { TransientError } from '../../functions/core/errors.ts';
import type { ApiBehaviour } from './api-server.ts';
import type { CallFate, Fates, PortCall } from './process.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import type { SqsBehaviour } from './sqs.ts';

/** Of calls that hang until their caller gives up, where any do. */
const HANG_RATE = 0.01;
const HANG_MS = 45_000;
/** How long after the death of its caller a call may take effect. Short of the margin that a `deleted` message leaves. */
const LATE_MAX_MS = 4_000;
const AUTHOR_ERRORS_MAX = 2;

export class Chaos implements Fates {
  /** From now on nothing fails, and nothing lags by more than a moment. */
  isOver = false;
  readonly api: ApiBehaviour;
  readonly sqs: SqsBehaviour;
  readonly #profile: Profile;
  readonly #random: Random;
  readonly #now: () => number;
  #crashCount = 0;
  #authorErrorCount = 0;
  #duplicateCount = 0;

  /** @param now milliseconds since the start */
  constructor(profile: Profile, random: Random, now: () => number) {
    this.#now = now;
    this.#profile = profile;
    this.#random = random;
    this.api = {
      // A `deleted` message is read when every cache knows of the deletion: so much is taken for granted of a kind with a finalizer.
      cacheLagMaxMs: profile.kind === 'B' ? 10_000 : 3_600_000,
      watchLagMs: () => this.#delayMs(),
      collectMs: () => (this.isOver ? 100 : random.int(50, 4_000)),
      cachePosition: (oldest, newest) => (!this.isOver && random.chance(profile.staleRate) ? random.int(oldest, newest) : newest),
      watchEnd: () => {
        if (this.isOver || !random.chance(profile.errorRate * 2)) return undefined;
        return { afterMs: random.int(0, 20_000), how: random.pick(['end', 'break', 'expire'] as const) };
      },
    };
    this.sqs = {
      duplicateAfterMs: () => {
        if (this.isOver || this.#duplicateCount >= profile.duplicateMax || !random.chance(0.3)) return undefined;
        this.#duplicateCount += 1;
        return random.int(0, 2_000);
      },
      forgetsCount: () => !this.isOver && random.chance(0.3),
    };
  }

  of(call: PortCall): CallFate {
    const random = this.#random;
    const times = { beforeMs: this.#delayMs(), afterMs: random.int(0, 10) };
    if (this.isOver) return times;
    if (this.#dies(call)) {
      const dies = random.pick(['before', 'after', 'late'] as const);
      return { ...times, dies, ...(dies === 'late' ? { afterMs: random.int(1, LATE_MAX_MS) } : {}) };
    }
    if (this.#isOut(call)) return { ...times, error: new TransientError('unreachable', 'a fault of the simulation: an outage') };
    if (this.#profile.hasHangs && call.port === 'api' && random.chance(HANG_RATE)) {
      return { beforeMs: HANG_MS, afterMs: 0, isCancelled: random.chance(0.5) };
    }
    const rate = call.port === 'queue' ? this.#profile.sendErrorRate : this.#profile.errorRate;
    if (!random.chance(rate)) return times;
    if (call.port === 'world') return this.#authorError(times);
    const code = random.pick(['throttled', 'server-error', 'unreachable', 'timeout', 'unauthorized']);
    const error = new TransientError(code, `a fault of the simulation: ${code}`, code === 'throttled' ? { retryAfterSeconds: 2 } : {});
    return { ...times, error, takesEffect: (code === 'unreachable' || code === 'timeout') && random.chance(0.5) };
  }

  /** The API server is away: for so long that circuits open. */
  #isOut({ port }: PortCall): boolean {
    const { startMs, endMs } = this.#profile.outage;
    return port === 'api' && this.#now() >= startMs && this.#now() < endMs;
  }

  #authorError(times: CallFate): CallFate {
    if (this.#authorErrorCount >= AUTHOR_ERRORS_MAX) return times;
    this.#authorErrorCount += 1;
    return { ...times, error: new Error('a fault of the author'), takesEffect: this.#random.chance(0.5) };
  }

  #dies({ process }: PortCall): boolean {
    if (process.name === 'watcher' || this.#crashCount >= this.#profile.crashMax || !this.#random.chance(this.#profile.crashRate))
      return false;
    this.#crashCount += 1;
    return true;
  }

  /** Most of it is short, and now and then it is long. */
  #delayMs(): number {
    const random = this.#random;
    if (this.isOver) return random.int(1, 5);
    const { slowMaxMs } = this.#profile;
    const draw = random.next();
    if (draw < 0.6) return random.int(1, 20);
    return draw < 0.85 ? random.int(1, Math.min(300, slowMaxMs)) : random.int(1, slowMaxMs);
  }
}
