/** The clusters of a plan: reads their objects, so many at once of each, and knows which answer and how fast each may be sent to. */
import type { Clock } from '../../adapters/clock.ts';
import type { Target } from '../letter-record.ts';
import { NO_ANSWER, type ObjectSource, readTarget } from '../read-objects.ts';
import { ClusterHealth } from './cluster-health.ts';
import type { Look } from './follow.ts';
import { type Bucket, fillBucket, waitForToken } from './pace.ts';

const CALLS_AT_ONCE = 8;

export interface ClustersOptions {
  readonly source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>;
  readonly clock: Clock;
  /** Objects of one cluster that may be sent in a second. */
  readonly ratePerSecond: number;
  /** A cluster is given up: it did not answer several times. */
  readonly onDown: (cluster: string, code: string, says: string) => void;
}

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #health = new ClusterHealth();
  readonly #slots = new Map<string, Slots>();
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: ClustersOptions) {
    this.#options = options;
  }

  /** The object as it is now. @throws the signal's reason, and what is no error of a cluster */
  async look(target: Target, signal: AbortSignal): Promise<Look> {
    const { source, clock, onDown } = this.#options;
    const { cluster } = target;
    const client = source.clientOf(cluster);
    if (typeof client === 'string') return { kind: 'failed', code: client };
    const slots = this.#slots.get(cluster) ?? new Slots(CALLS_AT_ONCE);
    this.#slots.set(cluster, slots);
    const answer = await slots.use(() => {
      signal.throwIfAborted();
      return readTarget(client, target, { reconcilers: source.reconcilers, clock, signal });
    });
    if (answer.kind === 'failed' && NO_ANSWER.has(answer.code)) {
      if (this.#health.failed(cluster, clock.steadyMs())) onDown(cluster, answer.code, answer.says);
      return { kind: 'no-answer', code: answer.code };
    }
    this.#health.answered(cluster);
    if (answer.kind === 'failed') return { kind: 'failed', code: answer.code };
    if (answer.reading.kind === 'untold') return { kind: 'failed', code: answer.reading.code };
    return { kind: 'read', reading: answer.reading, object: answer.object };
  }

  isDown(cluster: string): boolean {
    return this.#health.isDown(cluster);
  }

  /** Letters that are about no object ask no cluster. */
  mayAsk(cluster: string | undefined): boolean {
    return cluster === undefined || this.#health.notBeforeMs(cluster) <= this.#options.clock.steadyMs();
  }

  /** Whether one more may be sent now; one that is counts, until it is {@link refund}ed. */
  mayTake(cluster: string): boolean {
    const bucket = this.#bucketOf(cluster);
    const may = this.mayAsk(cluster) && bucket.tokens >= 1;
    this.#buckets.set(cluster, may ? { ...bucket, tokens: bucket.tokens - 1 } : bucket);
    return may;
  }

  /** One that was taken is not sent after all. */
  refund(cluster: string): void {
    const bucket = this.#bucketOf(cluster);
    this.#buckets.set(cluster, { ...bucket, tokens: bucket.tokens + 1 });
  }

  /** Milliseconds until something may be asked of it, or sent to it. */
  waitMs(cluster: string, isSend: boolean): number {
    const healthMs = this.#health.notBeforeMs(cluster) - this.#options.clock.steadyMs();
    return Math.max(0, healthMs, isSend ? waitForToken(this.#bucketOf(cluster), this.#options.ratePerSecond) : 0);
  }

  #bucketOf(cluster: string): Bucket {
    return fillBucket(this.#buckets.get(cluster), this.#options.ratePerSecond, this.#options.clock.steadyMs());
  }
}

/** So many at once; the others wait in the order in which they came. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
