/**
 * How fast repairs leave for the bulk queue: by tokens for each cluster, and only while the queue has room.
 *
 * What a start finds unsettled may go quickly, for nobody works on it yet; what is healed or resynced later goes slowly. A cell
 * is at its start until it has listed its kind once and nothing of it waits on the bulk lane.
 */
import type { ClusterName } from '../../events/resource.ts';
import { BATCH_MAX_COUNT } from '../adapters/sqs-batches.ts';
import type { OutboxSource } from './outbox.ts';
import type { QueueLevel } from './queue-level.ts';
import type { Pace } from './send-lane.ts';
import { type BucketRate, TokenBucket } from './token-bucket.ts';

/** Messages a second for each cluster. */
const RATES = {
  start: { perSecond: 200, capacity: 200 },
  healing: { perSecond: 2, capacity: BATCH_MAX_COUNT },
} as const satisfies Record<string, BucketRate>;

/** Tokens that are waited for: repairs are in no hurry, and SQS charges by the call. */
const TOKENS_MIN = BATCH_MAX_COUNT;

type Buckets = Record<keyof typeof RATES, TokenBucket>;

export class BulkPace implements Pace {
  readonly #level: QueueLevel;
  readonly #buckets = new Map<ClusterName, Buckets>();
  readonly #pastStart = new WeakSet<OutboxSource>();

  constructor(level: QueueLevel) {
    this.#level = level;
  }

  /** Notices where a start has ended, and asks how full the queue is while something waits for it. To be called at each turn. */
  look(sources: readonly OutboxSource[], nowMs: number, signal: AbortSignal): void {
    let isWaiting = false;
    for (const source of sources) {
      const takableMs = source.marks.nextAtMs('bulk');
      if (takableMs !== undefined) isWaiting ||= takableMs <= nowMs;
      else if (source.hasListed()) this.#pastStart.add(source);
    }
    if (isWaiting) this.#level.refresh(nowMs, signal);
  }

  allow(source: OutboxSource, wanted: number, nowMs: number): number {
    const tokenCount = this.#bucketOf(source, nowMs).available(nowMs);
    return tokenCount < TOKENS_MIN ? 0 : Math.min(wanted, tokenCount, this.#level.room);
  }

  took(source: OutboxSource, count: number, nowMs: number): void {
    this.#bucketOf(source, nowMs).take(count, nowMs);
    this.#level.sent(count);
  }

  nextAtMs(source: OutboxSource, nowMs: number, isDraining: boolean): number | undefined {
    const tokensMs = this.#bucketOf(source, nowMs).whenMs(TOKENS_MIN, nowMs);
    if (this.#level.room > 0) return tokensMs;
    if (isDraining) return undefined; // it asks nothing: the time of the next question would be over, again and again
    const askMs = this.#level.nextAskMs;
    return askMs === undefined ? undefined : Math.max(tokensMs, askMs);
  }

  /** Forgets a cluster that has no cell any more. */
  forget(cluster: ClusterName): void {
    this.#buckets.delete(cluster);
  }

  #bucketOf(source: OutboxSource, nowMs: number): TokenBucket {
    let buckets = this.#buckets.get(source.cluster);
    if (buckets === undefined) {
      buckets = { start: new TokenBucket(RATES.start, nowMs), healing: new TokenBucket(RATES.healing, nowMs) };
      this.#buckets.set(source.cluster, buckets);
    }
    return this.#pastStart.has(source) ? buckets.healing : buckets.start;
  }
}
