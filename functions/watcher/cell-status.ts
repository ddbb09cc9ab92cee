/** How a cell is: what /readyz shows and the metrics count. */
import type { ClusterName } from '../../events/resource.ts';
import type { WatchPhase } from '../../events/watch-phase.ts';
import type { Trouble } from './trouble-log.ts';

/** A cell at one moment. Times in milliseconds since the epoch. */
export interface CellStatus {
  readonly cluster: ClusterName;
  /** `Tenant.platform.example` */
  readonly kind: string;
  /** `primary`: a kind with a reconciler. `child`: a kind that reconcilers own. One kind may have a cell of each. */
  readonly role: 'primary' | 'child';
  readonly phase: WatchPhase;
  /** Since when it is in that phase. */
  readonly sinceMs: number;
  /** When the cluster last sent a page, an event or a bookmark. */
  readonly lastEventMs: number | undefined;
  readonly objectCount: number;
  readonly unsettledCount: number;
  readonly oldestUnsettledSeconds: number;
  /** Lists begun after the first complete one. */
  readonly relistCount: number;
  /** Watches asked for without a list before them. */
  readonly reconnectCount: number;
  /** What is wrong, while something is. */
  readonly error?: Trouble;
}
