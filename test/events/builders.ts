/** Builders with overrides for what the watcher sees. */
import type { Mark } from '../../events/dirty-marks.ts';
import type { ObservedObject, ObservedStatus } from '../../events/observed-object.ts';

/** Cells of a settled object of generation 1. */
export function status(overrides: Partial<ObservedStatus> = {}): ObservedStatus {
  return {
    observedGeneration: 1,
    attemptedGeneration: 1,
    observedRevision: 1,
    stalledGeneration: undefined,
    nextReconcileTime: undefined,
    ready: 'True',
    ...overrides,
  };
}

/** Cells of an object that nobody has worked on. */
export const UNTOUCHED: ObservedStatus = status({ observedGeneration: undefined, attemptedGeneration: undefined, ready: undefined });

/** Object `a`, uid1, generation 1 at version 10, settled. */
export function object(overrides: Partial<ObservedObject> = {}): ObservedObject {
  return {
    name: 'a',
    uid: 'uid1',
    resourceVersion: '10',
    generation: 1,
    isDeleting: false,
    finalizers: [],
    isPaused: false,
    status: status(),
    ...overrides,
  };
}

/** A live mark of uid1 at version 10. */
export function mark(overrides: Partial<Mark> = {}): Mark {
  return {
    uid: 'uid1',
    name: 'a',
    resourceVersion: '10',
    generation: 1,
    reason: 'generation-changed',
    mustRun: false,
    lane: 'live',
    firstSeenAtMs: 1000,
    ...overrides,
  };
}
