/** What the watch state machine of watch-state.ts takes and gives: its states, inputs and effects. Data only. */
import type { History } from './witness.ts';

/** Why something failed: the code of the adapter's error, or one of our own. */
export interface WatchFailure {
  readonly code: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** What outlives the states. */
export interface WatchMemory {
  /** The highest position ever reached, for telling a list that went back in time. */
  readonly reached: string | undefined;
  /** Since when streams have followed one another without trouble; undefined while there is some. */
  readonly wellSinceMs: number | undefined;
  /** The last wait; 0 when calm. */
  readonly backoffMs: number;
  /** Failures since all was last well for long. */
  readonly failureCount: number;
  /** Expired positions since all was last well for a while, and the last wait for one. */
  readonly expiredCount: number;
  readonly expiredBackoffMs: number;
  /** Streams in a row that lived under a second. */
  readonly shortCount: number;
  /** Those of them, in a row, that brought nothing. */
  readonly emptyCount: number;
  /** Since when nothing was heard: no frame, no probe. */
  readonly quietSinceMs: number;
  /** The failure that has not been followed by an open stream yet. */
  readonly trouble: WatchFailure | undefined;
}

export type AfterWait =
  | { readonly kind: 'list' }
  | { readonly kind: 'probe'; readonly position: string }
  | { readonly kind: 'resume'; readonly position: string };

export type WatchState = { readonly memory: WatchMemory } & (
  | { readonly kind: 'describing' }
  | { readonly kind: 'listing'; readonly resourceVersion: string | undefined }
  | { readonly kind: 'opening'; readonly position: string; readonly isResume: boolean }
  | {
      readonly kind: 'streaming';
      readonly position: string;
      readonly openedAtMs: number;
      readonly hasDelivered: boolean;
      readonly isProbing: boolean;
    }
  | { readonly kind: 'waiting'; readonly next: AfterWait }
  | { readonly kind: 'probing'; readonly position: string }
  | { readonly kind: 'stopped' }
);

/**
 * What happened.
 * - `described`: the form of the list is decided
 * - `page-came`: before its rows are handled; `page-handled`: after
 * - `frame`: an event or bookmark was handled; its resourceVersion
 * - `ended`: the stream ended cleanly
 * - `failed`: whatever was under way, save for a probe; code `expired` is a 410
 * - `probed`: the probe sent for `position` found the kind at `resourceVersion`, and what it saw of the history that we know
 */
export type WatchInput =
  | { readonly kind: 'described' }
  | { readonly kind: 'page-came'; readonly resourceVersion: string }
  | { readonly kind: 'page-handled'; readonly continue: string | undefined }
  | { readonly kind: 'opened' }
  | { readonly kind: 'frame'; readonly resourceVersion: string }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly failure: WatchFailure }
  | { readonly kind: 'probed'; readonly position: string; readonly resourceVersion: string; readonly history: History }
  | { readonly kind: 'probe-failed'; readonly failure: WatchFailure }
  | { readonly kind: 'timer' }
  | { readonly kind: 'stop' };

/**
 * What is to be done, in this order.
 * - `cancel`: end whatever is under way (call, stream, probe, timer); nothing of it may be fed back any more
 * - `timer`: the one timer there is; a new one replaces it
 * - `open-watch`: `isResume` where no list came directly before
 */
export type WatchEffect =
  | { readonly kind: 'cancel' }
  | { readonly kind: 'describe' }
  | { readonly kind: 'begin-list' }
  | { readonly kind: 'list'; readonly continue: string | undefined }
  | { readonly kind: 'forget-positions' }
  | { readonly kind: 'commit-list'; readonly resourceVersion: string }
  | { readonly kind: 'abandon-list' }
  | { readonly kind: 'open-watch'; readonly position: string; readonly timeoutSeconds: number; readonly isResume: boolean }
  | { readonly kind: 'probe'; readonly position: string }
  | { readonly kind: 'timer'; readonly ms: number };

/** What is true outside at the moment of an input. */
export interface WatchContext {
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** The longest time that a watch asks for; it asks for a random half to all of it. */
  readonly watchTimeoutSeconds: number;
  readonly probeSeconds: number;
}

export interface WatchStep {
  readonly state: WatchState;
  readonly effects: readonly WatchEffect[];
}
