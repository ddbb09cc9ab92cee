/** How long a watch waits before it tries again, and when it forgets that it had to. */
import type { WatchFailure, WatchMemory } from './watch-protocol.ts';

/** The shortest wait. (client-go's reflector begins with 800 ms; we add jitter from below.) */
const BACKOFF_BASE_MS = 250;
/** The longest wait that nobody asked for: the bound of client-go's reflector. */
export const BACKOFF_CAP_MS = 30_000;
/** A Retry-After above this is cut to it: a faulty proxy must not switch a cell off. */
const RETRY_AFTER_CAP_MS = 300_000;
/** The shortest wait where somebody has to install or allow something first. */
const BLOCKED_FLOOR_MS = 1_000;
/** Streams without trouble for so long prove that the trouble is over. */
const CALM_AFTER_MS = 30_000;
/** An expired position after so long is no consequence of the list before it, and may be listed for at once. */
const EXPIRED_APART_MS = 5_000;

/** Failures that only a person ends: the kind is not installed, or we may not read it. */
export const BLOCKED: ReadonlySet<string> = new Set(['not-served', 'unauthorized', 'forbidden']);

/**
 * Milliseconds to wait after a failure, by decorrelated jitter: from the base to three times the last wait, at most the cap;
 * never before the server's Retry-After, and spread beyond it, because all cells of a cluster are told the same.
 *
 * @param lastMs   the wait before, 0 when calm
 * @param failure  undefined where nothing failed but we go slow
 * @param random   in [0, 1)
 * @see "Exponential Backoff and Jitter", AWS Architecture Blog
 */
export function nextBackoffMs(lastMs: number, failure: WatchFailure | undefined, random: number): number {
  const spread = Math.max(lastMs, BACKOFF_BASE_MS) * 3 - BACKOFF_BASE_MS;
  const jitterMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS + random * spread);
  const toldMs = Math.min((failure?.retryAfterSeconds ?? 0) * 1000, RETRY_AFTER_CAP_MS);
  const blockedMs = failure !== undefined && BLOCKED.has(failure.code) ? BLOCKED_FLOOR_MS : 0;
  const floorMs = Math.max(toldMs, blockedMs);
  return Math.round(jitterMs >= floorMs ? jitterMs : floorMs + random * BACKOFF_BASE_MS);
}

/** The memory after a stream. When all was well for long, all trouble is forgotten. */
export function afterLife(memory: WatchMemory, nowMs: number): WatchMemory {
  const wellMs = nowMs - (memory.wellSinceMs ?? nowMs);
  if (wellMs < EXPIRED_APART_MS) return memory;
  const apart = { ...memory, expiredCount: 0, expiredBackoffMs: 0 };
  return wellMs < CALM_AFTER_MS ? apart : { ...apart, backoffMs: 0, failureCount: 0, shortCount: 0, emptyCount: 0 };
}
