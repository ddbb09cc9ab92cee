/**
 * What a cell needs of whoever makes something of the rows. Two do: `observer.ts` for kinds with a reconciler, and
 * `child-observer.ts` for the kinds that reconcilers own.
 */
import type { Unsettled } from '../../events/known-objects.ts';
import type { KubernetesClient, ListForm, ListPage, WatchFrame } from '../adapters/kubernetes/port.ts';

/** A frame of a watch that is no error. */
export type DataFrame = Exclude<WatchFrame, { readonly type: 'ERROR' }>;

/** Something about a kind that goes on all the same, for the log. */
export interface ObserverWarning {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface CellObserver {
  /** How lists and watches ask for the kind, as {@link describe} decided. */
  readonly form: ListForm;
  /** Left out: all objects of the kind. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly ownFields?: boolean | undefined;
  /** True once one list of this process was complete. */
  readonly hasListed: boolean;
  /** Objects remembered. */
  readonly size: number;
  /** Told once a cell, after a list. */
  readonly warning: ObserverWarning | undefined;
  /** Work beside the stream that comes due by time; rejects for a fault of ours only, resolves when the signal aborts. */
  readonly upkeep?: { run(signal: AbortSignal, isStreaming: () => boolean): Promise<void> } | undefined;
  unsettled(): Unsettled;
  /** Asks the cluster how it serves the kind. The errors of the client pass through. */
  describe(client: KubernetesClient, signal: AbortSignal): Promise<void>;
  beginList(): void;
  page(page: ListPage): void;
  /** The list was complete. */
  commitList(resourceVersion: string): void;
  /** The list did not come to its end: nothing is inferred from it. */
  abandonList(): void;
  /** The cluster went back in time: versions remembered so far compare with nothing any more. */
  forgetPositions(): void;
  /** Something was not handled to its end; the next list judges all anew. */
  distrust(): void;
  /**
   * Takes in an event or a bookmark.
   *
   * @throws TransientError `columns-changed` where the stream has other columns than the list before it
   */
  frame(frame: DataFrame): void;
}
