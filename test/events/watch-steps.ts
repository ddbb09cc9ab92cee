/** Builders for the tables of the watch state machine. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  WatchContext,
  WatchEffect,
  WatchFailure,
  WatchInput,
  WatchMemory,
  WatchState,
  WatchStep,
} from '../../events/watch-protocol.ts';
import { stepWatch } from '../../events/watch-state.ts';
import type { History } from '../../events/witness.ts';

export const NOW = 1_000_000;
export const calm: WatchMemory = {
  reached: '100',
  wellSinceMs: NOW,
  backoffMs: 0,
  failureCount: 0,
  expiredCount: 0,
  expiredBackoffMs: 0,
  shortCount: 0,
  emptyCount: 0,
  quietSinceMs: NOW,
  trouble: undefined,
};
export const failure = (code: string, retryAfterSeconds?: number): WatchFailure => ({ code, retryAfterSeconds });
export const failed = (code: string, retryAfterSeconds?: number): WatchInput => ({
  kind: 'failed',
  failure: failure(code, retryAfterSeconds),
});
export const probeFailed = (code: string, retryAfterSeconds?: number): WatchInput => ({
  kind: 'probe-failed',
  failure: failure(code, retryAfterSeconds),
});

type Memory = Partial<WatchMemory>;
export const describing = (memory: Memory = {}): WatchState => ({ kind: 'describing', memory: { ...calm, ...memory } });
export const listing = (resourceVersion: string | undefined, memory: Memory = {}): WatchState => ({
  kind: 'listing',
  resourceVersion,
  memory: { ...calm, ...memory },
});
export const opening = (memory: Memory = {}, isResume = true): WatchState => ({
  kind: 'opening',
  position: '100',
  isResume,
  memory: { ...calm, ...memory },
});
export const probing = (memory: Memory = {}): WatchState => ({ kind: 'probing', position: '100', memory: { ...calm, ...memory } });
export const waiting = (next: Extract<WatchState, { kind: 'waiting' }>['next'], memory: Memory = {}): WatchState => ({
  kind: 'waiting',
  next,
  memory: { ...calm, ...memory },
});
export function streaming(livedMs: number, hasDelivered: boolean, memory: Memory = {}, isProbing = false): WatchState {
  return {
    kind: 'streaming',
    position: '100',
    openedAtMs: NOW - livedMs,
    hasDelivered,
    isProbing,
    memory: { ...calm, wellSinceMs: NOW - livedMs, ...memory },
  };
}

/** An open stream beside which the probe is under way. */
export const probedBeside = (livedMs = 1_000, hasDelivered = false): WatchState => streaming(livedMs, hasDelivered, {}, true);

export function step(state: WatchState, input: WatchInput, context: Partial<WatchContext> = {}): WatchStep {
  return stepWatch(state, input, { nowMs: NOW, random: 0.5, watchTimeoutSeconds: 300, probeSeconds: 300, ...context });
}

/** Effects as short text, so that a row of a table stays a line. */
export function text(effect: WatchEffect): string {
  switch (effect.kind) {
    case 'list':
      return effect.continue === undefined ? 'list' : `list ${effect.continue}`;
    case 'commit-list':
      return `commit-list ${effect.resourceVersion}`;
    case 'open-watch':
      return `${effect.isResume ? 'resume' : 'watch'} ${effect.position} for ${effect.timeoutSeconds}`;
    case 'probe':
      return `probe ${effect.position}`;
    case 'timer':
      return `timer ${effect.ms}`;
    default:
      return effect.kind;
  }
}

interface Example {
  readonly it: string;
  readonly from: WatchState;
  readonly input: WatchInput;
  readonly context?: Partial<WatchContext>;
  readonly to: WatchState['kind'];
  readonly effects: readonly string[];
}

export function check(rows: readonly Example[]): void {
  for (const row of rows) {
    it(row.it, () => {
      const { state, effects } = step(row.from, row.input, row.context);
      assert.deepEqual({ to: state.kind, effects: effects.map(text) }, { to: row.to, effects: row.effects });
    });
  }
}

export const described: WatchInput = { kind: 'described' };
export const pageCame = (resourceVersion: string): WatchInput => ({ kind: 'page-came', resourceVersion });
export const opened: WatchInput = { kind: 'opened' };
export const frame = (resourceVersion: string): WatchInput => ({ kind: 'frame', resourceVersion });
export const timer: WatchInput = { kind: 'timer' };
export const stop: WatchInput = { kind: 'stop' };
export const ended: WatchInput = { kind: 'ended' };
export const probed = (resourceVersion: string, history: History = 'same'): WatchInput => ({
  kind: 'probed',
  position: '100',
  resourceVersion,
  history,
});
export const handled = (token?: string): WatchInput => ({ kind: 'page-handled', continue: token });
