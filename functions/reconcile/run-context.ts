/** What every step of one object's run is given. */
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import type { ObjectRun } from './fold.ts';
import type { RunDependencies } from './process.ts';
import type { RunClient } from './run-client.ts';
import type { Progress } from './run-report.ts';

export interface RunContext extends Omit<RunDependencies, 'clusters' | 'reconcilers'> {
  readonly run: ObjectRun;
  readonly client: RunClient;
  readonly reconciler: Reconciler;
  /** Aborted when the record's deadline passes. */
  readonly signal: AbortSignal;
  /** The time of this run. */
  readonly now: Date;
  readonly progress: Progress;
}

/** The context once the object was read: uid, generation and resourceVersion that the run acts on are those of `object`. */
export interface ObjectContext extends RunContext {
  readonly object: KubernetesObject;
}
