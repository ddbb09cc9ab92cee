/**
 * How fast repairs leave for the bulk queue: by tokens for each cluster, and only while the queue has room.
 *
 * What a start finds unsettled may go quickly, for nobody works on it yet; what is healed or resynced later goes slowly, but always
 * faster than resyncs come due: one that cannot keep its pace would never end. A cell is at its start until it has listed its
 * kind once and nothing of it waits on the bulk lane.
 */
import type { ClusterName } from '../../events/resource.ts';
import { BATCH_MAX_COUNT } from '../adapters/sqs-batches.ts';
import type { OutboxSource } from './outbox.ts';
import type { QueueLevel } from './queue-level.ts';
import type { Pace } from './send-lane.ts';
import { type BucketRate, TokenBucket } from './token-bucket.ts';

/** Messages a second for each cluster, where its resync needs no more. */
const PER_SECOND = { start: 200, healing: 2 } as const;
/** What the pace is above what the resync of a cluster needs, so that there is room for healing and for making up. */
const RESYNC_MARGIN = 1.2;

/** Tokens that are waited for: repairs are in no hurry, and SQS charges by the call. */
const TOKENS_MIN = BATCH_MAX_COUNT;

type Buckets = Record<keyof typeof PER_SECOND, TokenBucket>;

export class BulkPace implements Pace {
  readonly #level: QueueLevel;
  readonly #buckets = new Map<ClusterName, Buckets>();
  readonly #pastStart = new WeakSet<OutboxSource>();

  constructor(level: QueueLevel) {
    this.#level = level;
  }

  /**
   * Notices where a start has ended and how fast each cluster has to go, and asks how full the queue is while something waits for
   * it. To be called at each turn.
   */
  look(sources: readonly OutboxSource[], nowMs: number, signal: AbortSignal): void {
    let isWaiting = false;
    const resyncsPerSecond = new Map<ClusterName, number>();
    for (const source of sources) {
      const { cluster } = source;
      resyncsPerSecond.set(cluster, (resyncsPerSecond.get(cluster) ?? 0) + source.resyncsPerSecond());
      const takableMs = source.marks.nextAtMs('bulk');
      if (takableMs !== undefined) isWaiting ||= takableMs <= nowMs;
      else if (source.hasListed()) this.#pastStart.add(source);
    }
    for (const [cluster, perSecond] of resyncsPerSecond) {
      const { start, healing } = this.#bucketsOf(cluster, nowMs);
      start.setRate(rateOf('start', perSecond), nowMs);
      healing.setRate(rateOf('healing', perSecond), nowMs);
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

  nextAtMs(source: OutboxSource, nowMs: number): number | undefined {
    const tokensMs = this.#bucketOf(source, nowMs).whenMs(TOKENS_MIN, nowMs);
    if (this.#level.room > 0) return tokensMs;
    const askMs = this.#level.nextAskMs;
    return askMs === undefined ? undefined : Math.max(tokensMs, askMs);
  }

  /** Forgets a cluster that has no cell any more. */
  forget(cluster: ClusterName): void {
    this.#buckets.delete(cluster);
  }

  #bucketOf(source: OutboxSource, nowMs: number): TokenBucket {
    const { start, healing } = this.#bucketsOf(source.cluster, nowMs);
    return this.#pastStart.has(source) ? healing : start;
  }

  #bucketsOf(cluster: ClusterName, nowMs: number): Buckets {
    let buckets = this.#buckets.get(cluster);
    if (buckets === undefined) {
      buckets = { start: new TokenBucket(rateOf('start', 0), nowMs), healing: new TokenBucket(rateOf('healing', 0), nowMs) };
      this.#buckets.set(cluster, buckets);
    }
    return buckets;
  }
}

/** Holds what comes in a second, so that nothing is lost to a turn that is late. */
function rateOf(kind: keyof Buckets, resyncsPerSecond: number): BucketRate {
  const perSecond = Math.max(PER_SECOND[kind], Math.ceil(RESYNC_MARGIN * resyncsPerSecond));
  return { perSecond, capacity: Math.max(BATCH_MAX_COUNT, perSecond) };
}
