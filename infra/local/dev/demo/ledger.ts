/** Counts what the function did, from its own log lines: figures that nobody can make look better than they are. */
import type { DevEvent, OutcomeLine } from '../dev-state.ts';

export interface Figures {
  /** Records that the queues handed out, each delivered message once. */
  readonly messages: number;
  /** Lines `record processed`: several messages of one object may be one run. */
  readonly runs: number;
  /** Requests that the runs sent to the API servers, reads and writes. */
  readonly requests: number;
  /** Reads that conflicts have cost. */
  readonly rereads: number;
  /** Runs that failed or were overtaken, so that a message was sent again. */
  readonly sentAgain: number;
  readonly letters: number;
}

/** A place in the ledger. */
export type LedgerMark = number;

/** Before the first line. */
export const START: LedgerMark = 0;

export interface Ledger {
  see(event: DevEvent): void;
  /** Where it ends now. */
  mark(): LedgerMark;
  /** The lines after that place, oldest first; with `object`, those of this one: `east/platform.example/Tenant//acme`. */
  linesSince(mark: LedgerMark, object?: string): readonly OutcomeLine[];
}

export function createLedger(): Ledger {
  const lines: OutcomeLine[] = [];
  return {
    see(event) {
      if (event.kind === 'outcome') lines.push(event.line);
    },
    mark: () => lines.length,
    linesSince: (mark, object) => lines.slice(mark).filter(({ key }) => object === undefined || key === object),
  };
}

/** The sums of these lines. A field that an author's own line has with another type counts for nothing. */
export function figuresOf(lines: readonly OutcomeLine[]): Figures {
  const sum = (field: 'apiRequestCount' | 'rereadCount'): number => lines.reduce((total, line) => total + numberOf(line[field]), 0);
  const count = (isCounted: (line: OutcomeLine) => boolean): number => lines.filter(isCounted).length;
  return {
    messages: new Set(lines.flatMap(({ messageIds }) => (Array.isArray(messageIds) ? messageIds : []))).size,
    runs: lines.length,
    requests: sum('apiRequestCount'),
    rereads: sum('rereadCount'),
    sentAgain: count(({ disposition, branch }) => disposition === 'requeue' && branch !== 'requeue-after' && branch !== 'not-due'),
    letters: count(({ disposition }) => disposition === 'dead-letter'),
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
