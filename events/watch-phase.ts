/** How a watch is, in the words of the health page. */
import { BLOCKED } from './watch-backoff.ts';
import type { WatchState } from './watch-protocol.ts';

/** How a cell is, for people. */
export const WATCH_PHASES = ['listing', 'streaming', 'recovering', 'failing', 'stopped'] as const;
export type WatchPhase = (typeof WATCH_PHASES)[number];

/** The state in the words of the health page. `failing` from the second failure in a row, or where somebody has to act. */
export function phaseOf(state: WatchState): WatchPhase {
  if (state.kind === 'stopped' || state.kind === 'streaming') return state.kind;
  const { trouble, failureCount, reached } = state.memory;
  const isReading = state.kind === 'listing' && state.resourceVersion !== undefined;
  if (trouble !== undefined && !isReading) {
    return BLOCKED.has(trouble.code) || failureCount > 1 || reached === undefined ? 'failing' : 'recovering';
  }
  if (state.kind === 'describing' || state.kind === 'listing') return 'listing';
  if (state.kind !== 'opening') return 'recovering';
  // A watch after a list or after another watch is how things go, and no state of its own.
  if (!state.isResume) return 'listing';
  return state.memory.wellSinceMs === undefined ? 'recovering' : 'streaming';
}
