/** What every step of one object's run is given. */
import type { Clock } from '../adapters/clock.ts';
import type { Log } from '../adapters/telemetry.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import type { ObjectRun } from './fold.ts';
import type { RunClient } from './run-client.ts';

export interface RunContext {
  readonly run: ObjectRun;
  readonly client: RunClient;
  readonly reconciler: Reconciler;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the record's deadline passes. */
  readonly signal: AbortSignal;
  /** The time of this run. */
  readonly now: Date;
}

/** The context once the object was read: uid, generation and resourceVersion that the run acts on are those of `object`. */
export interface ObjectContext extends RunContext {
  readonly object: KubernetesObject;
}
