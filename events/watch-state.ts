/**
 * The watch of one kind in one cluster as a state machine: (state, input) -> (state, effects). It never waits, reads a
 * clock or draws a random number; those come in with each input. Whoever runs it (functions/watcher/cell.ts) performs the
 * effects in order and feeds back what became of them.
 *
 * A state holds exactly what is true in it. "Position" is the resourceVersion up to which every change was handled.
 *
 *     describing  we ask how the kind is served, so that the list may be asked for as a Table
 *     listing     pages are being read; `resourceVersion` is the first page's, unknown before it. Nothing is inferred from
 *                 a half-read list: it ends in `commit-list` or in `abandon-list`
 *     opening     a watch from `position` was asked for, its headers have not come
 *     streaming   the watch is open. A timer runs for the quiet probe; `isProbing` while that probe is under way
 *     waiting     nothing is under way but a timer; `next` says what it starts
 *     probing     a consistent LIST of one object is under way to see whether the history still contains `position`
 *     stopped     nothing is under way and nothing will be
 *
 *     start ──> describing ──described──> listing ──last page──> opening ──opened──> streaming
 *                   ^                        │                      │                    │
 *                   │        failed, expired │                      │             ended: opening again,
 *                   │                        v                      v             same position, no list
 *                   └────timer, list──── waiting <───────failed─────┴────failed──────────┘
 *                                         │    ^
 *                                   timer │    │ failed
 *                                         v    │
 *                                        probing ──position reached──> opening
 *                                           └──another history, or unsure: describing
 *
 * What moves it:
 * - The end of a stream is normal: reconnect at once from the same position, without a list. A stream that lived under a
 *   second waits before the next, unless it is the first such in a row and brought something; five in a row that ended
 *   empty and at once are taken as a sign that the position is bad: back off and list.
 * - 410, by status or in an ERROR frame, is a transition and no error: list at once, with a backoff of its own if it comes
 *   again before all was well for 5 s. Every restart of an API server and every change of a CRD leads here.
 * - A failure waits (decorrelated jitter), then probes, then resumes. Where the position can no longer be trusted (the kind
 *   is not served, a frame was unreadable or could not be handled, the server refuses the request as such) it lists instead.
 * - A watch from a position that the server has not reached is silent for ever. After an etcd restore every position is
 *   such at first, so that a probe whose list is lower than the position forgets the position and lists. So does one that finds
 *   another history above it (see witness.ts); one that is unsure lists without forgetting. On an open stream the probe
 *   is sent once nothing was heard for `probeSeconds`, counted across reconnects. A failed one counts as a failure of the
 *   stream, except when the server is only busy.
 * - The backoff grows with every wait and is forgotten only when streams have followed one another for 30 s without trouble:
 *   one that dies early says nothing about recovery.
 *
 * An input that a state does not wait for changes nothing: it is the late echo of something already given up.
 */
import { compareResourceVersions, newestResourceVersion } from './resource-version.ts';
import { afterLife, BACKOFF_CAP_MS, nextBackoffMs } from './watch-backoff.ts';
import type {
  AfterWait,
  WatchContext,
  WatchEffect,
  WatchFailure,
  WatchInput,
  WatchMemory,
  WatchState,
  WatchStep,
} from './watch-protocol.ts';

/** A stream that lived less ended early. */
const SHORT_LIFE_MS = 1_000;
/** So many streams in a row that ended early and empty make us doubt the position. */
const EMPTY_ENDS_MAX = 5;

/** Failures after which a resumed watch may have lost something, or would fail in the same way. */
const VOIDS_POSITION: ReadonlySet<string> = new Set([
  'not-served',
  'bad-frame',
  'unhandled',
  'columns-changed',
  'bad-request',
  'invalid',
  'final-server-error',
]);
/** Failures of a probe that say nothing about the open stream beside it. */
const BUSY: ReadonlySet<string> = new Set(['throttled', 'server-error']);

/** A watch that begins. */
export function startWatch(nowMs: number): WatchStep {
  const memory: WatchMemory = {
    reached: undefined,
    wellSinceMs: undefined,
    backoffMs: 0,
    failureCount: 0,
    expiredCount: 0,
    expiredBackoffMs: 0,
    shortCount: 0,
    emptyCount: 0,
    quietSinceMs: nowMs,
    trouble: undefined,
  };
  return { state: { kind: 'describing', memory }, effects: [{ kind: 'describe' }] };
}

/** The state after an input, and what is to be done. Pure; an input that does not belong to the state changes nothing. */
export function stepWatch(state: WatchState, input: WatchInput, context: WatchContext): WatchStep {
  const same: WatchStep = { state, effects: [] };
  if (input.kind === 'stop') return stop(state);
  switch (state.kind) {
    case 'describing':
      if (input.kind === 'described') {
        const effects: WatchEffect[] = [{ kind: 'begin-list' }, { kind: 'list', continue: undefined }];
        return { state: { kind: 'listing', memory: state.memory, resourceVersion: undefined }, effects };
      }
      return input.kind === 'failed' ? recover(state.memory, input.failure, undefined, context, []) : same;
    case 'listing':
      return stepListing(state, input, context) ?? same;
    case 'opening':
      if (input.kind === 'opened') return opened(state, context);
      return input.kind === 'failed' ? recover(state.memory, input.failure, state.position, context, []) : same;
    case 'streaming':
      return stepStreaming(state, input, context) ?? same;
    case 'waiting':
      return input.kind === 'timer' ? afterWait(state, context) : same;
    case 'probing':
      if (input.kind === 'probed') {
        const anew = unlessSameHistory(input, state.memory, []);
        if (anew !== undefined) return anew;
        return open({ ...state.memory, quietSinceMs: context.nowMs }, state.position, true, context, []);
      }
      return input.kind === 'probe-failed' ? recover(state.memory, input.failure, state.position, context, []) : same;
    case 'stopped':
      return same;
  }
}

type State<Kind extends WatchState['kind']> = Extract<WatchState, { readonly kind: Kind }>;

function stepListing(state: State<'listing'>, input: WatchInput, context: WatchContext): WatchStep | undefined {
  const { memory } = state;
  if (input.kind === 'failed') return recover(memory, input.failure, undefined, context, [{ kind: 'abandon-list' }]);
  if (input.kind === 'page-came') {
    // Later pages show the state of the first one, whose version is the position that the watch goes on from.
    if (state.resourceVersion !== undefined) return { state, effects: [] };
    const next = { ...state, resourceVersion: input.resourceVersion };
    if (memory.reached === undefined || !wentBack(input.resourceVersion, memory.reached)) return { state: next, effects: [] };
    return { state: { ...next, memory: { ...memory, reached: undefined } }, effects: [{ kind: 'forget-positions' }] };
  }
  if (input.kind !== 'page-handled' || state.resourceVersion === undefined) return undefined;
  if (input.continue !== undefined) return { state, effects: [{ kind: 'list', continue: input.continue }] };
  const listed = { ...memory, reached: newestResourceVersion(memory.reached, state.resourceVersion), quietSinceMs: context.nowMs };
  const commit: WatchEffect = { kind: 'commit-list', resourceVersion: state.resourceVersion };
  return open(listed, state.resourceVersion, false, context, [commit]);
}

function stepStreaming(state: State<'streaming'>, input: WatchInput, context: WatchContext): WatchStep | undefined {
  const { memory, position } = state;
  switch (input.kind) {
    case 'frame': {
      const moved = newestResourceVersion(position, input.resourceVersion) ?? position;
      const heard = { ...memory, reached: newestResourceVersion(memory.reached, moved), quietSinceMs: context.nowMs, emptyCount: 0 };
      return { state: { ...state, memory: heard, position: moved, hasDelivered: true }, effects: [] };
    }
    case 'ended':
      return ended(state, context);
    case 'failed':
      return recover(afterLife(memory, context.nowMs), input.failure, position, context, [{ kind: 'cancel' }]);
    case 'timer': {
      const leftMs = memory.quietSinceMs + context.probeSeconds * 1000 - context.nowMs;
      if (leftMs > 0) return { state, effects: [{ kind: 'timer', ms: leftMs }] };
      return { state: { ...state, isProbing: true }, effects: [{ kind: 'probe', position }] };
    }
    case 'probed': {
      if (!state.isProbing) return undefined;
      const anew = unlessSameHistory(input, memory, [{ kind: 'cancel' }]);
      if (anew !== undefined) return anew;
      const heard = { ...state, isProbing: false, memory: { ...memory, quietSinceMs: context.nowMs, trouble: undefined } };
      return { state: heard, effects: [{ kind: 'timer', ms: context.probeSeconds * 1000 }] };
    }
    case 'probe-failed': {
      if (!state.isProbing) return undefined;
      if (!BUSY.has(input.failure.code)) {
        return recover(afterLife(memory, context.nowMs), input.failure, position, context, [{ kind: 'cancel' }]);
      }
      const ms = nextBackoffMs(memory.backoffMs, input.failure, context.random);
      const slower = { ...memory, backoffMs: Math.min(ms, BACKOFF_CAP_MS), trouble: input.failure };
      return { state: { ...state, isProbing: false, memory: slower }, effects: [{ kind: 'timer', ms }] };
    }
    default:
      return undefined;
  }
}

function opened(state: State<'opening'>, context: WatchContext): WatchStep {
  const { position } = state;
  const memory = { ...state.memory, trouble: undefined, wellSinceMs: state.memory.wellSinceMs ?? context.nowMs };
  const ms = Math.max(0, memory.quietSinceMs + context.probeSeconds * 1000 - context.nowMs);
  const streaming: WatchState = {
    kind: 'streaming',
    memory,
    position,
    openedAtMs: context.nowMs,
    hasDelivered: false,
    isProbing: false,
  };
  return { state: streaming, effects: [{ kind: 'timer', ms }] };
}

/** A clean end. The watch goes on from its position; how soon depends on what the stream was good for. */
function ended(state: State<'streaming'>, context: WatchContext): WatchStep {
  const { position, hasDelivered } = state;
  const cancel: WatchEffect = { kind: 'cancel' };
  const memory = afterLife(state.memory, context.nowMs);
  if (context.nowMs - state.openedAtMs >= SHORT_LIFE_MS) {
    return open({ ...memory, shortCount: 0, emptyCount: 0 }, position, true, context, [cancel]);
  }
  const short = { ...memory, shortCount: memory.shortCount + 1, emptyCount: hasDelivered ? 0 : memory.emptyCount + 1 };
  // One event a connection is progress, but at full speed it is thousands of connections a second (client-node 2.0.1 did that).
  if (hasDelivered && short.shortCount === 1) return open(short, position, true, context, [cancel]);
  if (short.emptyCount >= EMPTY_ENDS_MAX) {
    return wait({ ...short, emptyCount: 0 }, undefined, { kind: 'list' }, context, [cancel]);
  }
  return wait(short, undefined, { kind: 'resume', position }, context, [cancel]);
}

/** The way back after a failure. `position` is where we may resume, undefined where there is nothing to resume. */
function recover(
  memory: WatchMemory,
  failure: WatchFailure,
  position: string | undefined,
  context: WatchContext,
  effects: readonly WatchEffect[],
): WatchStep {
  if (failure.code === 'expired') {
    const expired = { ...memory, wellSinceMs: undefined, expiredCount: memory.expiredCount + 1 };
    if (expired.expiredCount === 1) return relist(expired, effects);
    // A wait of its own: those for an outage that has just ended say nothing about how often a list is too old at once.
    const ms = nextBackoffMs(memory.expiredBackoffMs, failure, context.random);
    const slower = { ...expired, expiredBackoffMs: Math.min(ms, BACKOFF_CAP_MS) };
    return { state: { kind: 'waiting', memory: slower, next: { kind: 'list' } }, effects: [...effects, { kind: 'timer', ms }] };
  }
  const failed = { ...memory, failureCount: memory.failureCount + 1, trouble: failure };
  const mustList = position === undefined || VOIDS_POSITION.has(failure.code);
  return wait(failed, failure, mustList ? { kind: 'list' } : { kind: 'probe', position }, context, effects);
}

function afterWait({ memory, next }: State<'waiting'>, context: WatchContext): WatchStep {
  switch (next.kind) {
    case 'list':
      return relist(memory, []);
    case 'probe':
      return { state: { kind: 'probing', memory, position: next.position }, effects: [{ kind: 'probe', position: next.position }] };
    case 'resume':
      return open(memory, next.position, true, context, []);
  }
}

function stop(state: WatchState): WatchStep {
  if (state.kind === 'stopped') return { state, effects: [] };
  const effects: WatchEffect[] = state.kind === 'listing' ? [{ kind: 'cancel' }, { kind: 'abandon-list' }] : [{ kind: 'cancel' }];
  return { state: { kind: 'stopped', memory: state.memory }, effects };
}

function relist(memory: WatchMemory, effects: readonly WatchEffect[]): WatchStep {
  return { state: { kind: 'describing', memory }, effects: [...effects, { kind: 'describe' }] };
}

/** The list that a probe makes necessary; undefined where the watch may go on from its position. */
function unlessSameHistory(
  { resourceVersion, position, history }: Extract<WatchInput, { readonly kind: 'probed' }>,
  memory: WatchMemory,
  effects: readonly WatchEffect[],
): WatchStep | undefined {
  if (history === 'other' || wentBack(resourceVersion, position)) {
    // What we remember of versions compares with nothing any more.
    return relist({ ...memory, reached: undefined }, [...effects, { kind: 'forget-positions' }]);
  }
  return history === 'unsure' ? relist(memory, effects) : undefined;
}

function open(memory: WatchMemory, position: string, isResume: boolean, context: WatchContext, effects: readonly WatchEffect[]): WatchStep {
  // A random length spreads the reconnects of watches that began together.
  const timeoutSeconds = Math.max(1, Math.ceil((context.watchTimeoutSeconds * (1 + context.random)) / 2));
  const effect: WatchEffect = { kind: 'open-watch', position, timeoutSeconds, isResume };
  return { state: { kind: 'opening', memory, position, isResume }, effects: [...effects, effect] };
}

function wait(
  memory: WatchMemory,
  failure: WatchFailure | undefined,
  next: AfterWait,
  context: WatchContext,
  effects: readonly WatchEffect[],
): WatchStep {
  const ms = nextBackoffMs(memory.backoffMs, failure, context.random);
  const slower = { ...memory, wellSinceMs: undefined, backoffMs: Math.min(ms, BACKOFF_CAP_MS) };
  return { state: { kind: 'waiting', memory: slower, next }, effects: [...effects, { kind: 'timer', ms }] };
}

/** True where a list at `listed` cannot contain what was seen at `position`: the cluster went back in time. */
function wentBack(listed: string, position: string): boolean {
  return compareResourceVersions(listed, position) === -1;
}
